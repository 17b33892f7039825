import type { RendererObject } from 'marked'
import { escaped } from './math-syntax'

const OWN_IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/

/** Where marked's own output is not what we show. Nothing here makes it safe: `sanitize.ts` does. */
export const renderer: RendererObject = {
  /** A picture elsewhere would tell a stranger who looks at what, and when: it is shown as the link that it is. */
  image({ href, text }) {
    const label = escaped(text || href)
    return OWN_IMAGE.test(href) ? `<img src="${href}" alt="${label}">` : `<a href="${escaped(href)}">🖼 ${label}</a>`
  },
  checkbox({ checked }) {
    return checked ? '☑ ' : '☐ '
  },
  table(token) {
    const row = (cells: typeof token.header) => `<tr>${cells.map((cell) => this.tablecell(cell)).join('')}</tr>`
    return `<div class="sw-table"><table><thead>${row(token.header)}</thead><tbody>${token.rows.map(row).join('')}</tbody></table></div>`
  },
}
