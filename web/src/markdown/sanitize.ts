import createDOMPurify, { type Config } from 'dompurify'

/** Text and its structure; nothing that loads, submits, runs, floats over the page or has a name in the document. */
const ALLOWED: Config = {
  ALLOWED_TAGS: [
    ...['a', 'b', 'blockquote', 'br', 'code', 'del', 'details', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr'],
    ...['i', 'img', 'ins', 'kbd', 'li', 'mark', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'summary', 'sup'],
    ...['table', 'tbody', 'td', 'th', 'thead', 'tr', 'u', 'ul'],
  ],
  ALLOWED_ATTR: ['align', 'alt', 'class', 'colspan', 'href', 'rowspan', 'src', 'start'],
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
  RETURN_DOM_FRAGMENT: true,
}

const WEB = /^(?:https?:\/\/|mailto:)/i
const OWN_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,/
const OUR_CLASS = /^(?:math-(?:block|inline)|sw-table|hljs|hljs-[\w-]+|language-[\w+#-]+)$/

const purifier = createDOMPurify(window)

purifier.addHook('uponSanitizeAttribute', (node, attribute) => {
  const { attrName: name, attrValue: value } = attribute
  if (name === 'class') attribute.attrValue = ours(value)
  else if (name === 'href') attribute.keepAttr = node.nodeName === 'A' && WEB.test(value.trim())
  else if (name === 'src') attribute.keepAttr = node.nodeName === 'IMG' && OWN_IMAGE.test(value)
})

purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.nodeName === 'IMG' && !node.hasAttribute('src')) node.remove()
  const address = node.nodeName === 'A' ? node.getAttribute('href') : null
  if (address === null) return
  node.setAttribute('target', '_blank')
  node.setAttribute('rel', 'noopener noreferrer nofollow')
  node.setAttribute('title', address) // whatever the words of the link say
})

/** What may be shown of markup that nobody is trusted for. */
export function sanitized(html: string): DocumentFragment {
  return purifier.sanitize(html, ALLOWED) as unknown as DocumentFragment
}

function ours(classes: string): string {
  return classes
    .split(/\s+/)
    .filter((name) => OUR_CLASS.test(name))
    .join(' ')
}
