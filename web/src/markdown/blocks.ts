import { Marked, type Token } from 'marked'
import { math } from './math-syntax'
import { renderer } from './renderer'

const marked = new Marked({ gfm: true, breaks: false, async: false }, { extensions: math, renderer })

/** A block of the top level of a text: a paragraph, a list, a table … `raw` is its source, `html` is not safe yet. */
export interface Block {
  readonly raw: string
  readonly html: () => string
}

/**
 * The blocks of a markdown text, in their order. Each is rendered by itself, so that of a text that grows only the last
 * ones change, and so that markup that is left open in one ends with it.
 */
export function blocksOf(text: string): Block[] {
  const tokens = marked.lexer(text)
  return tokens.filter(isShown).map((token) => ({ raw: token.raw, html: () => marked.parser([token]) }))
}

function isShown(token: Token): boolean {
  return token.type !== 'space' && token.type !== 'def'
}
