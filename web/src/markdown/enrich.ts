import { sanitized } from './sanitize'

const LONGEST_CODE = 50_000
const LONGEST_FORMULA = 2_000

/**
 * Colours code, sets formulas and lets keys scroll what is wide, inside an element; what that takes is loaded when there is such a thing. Where it
 * cannot be loaded (some grammars are beyond Safari 14), the source stays as it is.
 */
export function enrich(element: ParentNode): void {
  for (const wide of element.querySelectorAll<HTMLElement>('pre, .sw-table, .math-block')) wide.tabIndex = 0 // to be scrolled by keys
  const codes = [...element.querySelectorAll<HTMLElement>('pre code[class*="language-"]')]
  if (codes.length > 0) highlight(codes).catch(keepSource)
  const formulas = [...element.querySelectorAll<HTMLElement>('.math-block, .math-inline')]
  if (formulas.length > 0) setFormulas(formulas).catch(keepSource)
}

function keepSource(reason: unknown): void {
  console.warn('stepweave: shown as it was written:', reason)
}

async function highlight(codes: readonly HTMLElement[]): Promise<void> {
  const { default: highlighter } = await import('highlight.js/lib/common')
  for (const code of codes) {
    const language = [...code.classList].find((name) => name.startsWith('language-'))?.slice('language-'.length) ?? ''
    const text = code.textContent ?? ''
    if (!highlighter.getLanguage(language) || text.length > LONGEST_CODE) continue
    code.replaceChildren(sanitized(highlighter.highlight(text, { language, ignoreIllegals: true }).value))
  }
}

async function setFormulas(formulas: readonly HTMLElement[]): Promise<void> {
  const { default: katex } = await import('./katex')
  for (const formula of formulas) {
    const source = formula.textContent ?? ''
    if (source.length > LONGEST_FORMULA) continue
    katex.render(source, formula, {
      displayMode: formula.classList.contains('math-block'),
      throwOnError: false,
      trust: false, // no links, no pictures, no markup of the author's
      strict: 'ignore',
      maxSize: 10,
      maxExpand: 200,
    })
  }
}
