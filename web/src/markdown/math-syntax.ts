import type { TokenizerAndRendererExtension, Tokens } from 'marked'

const BLOCK = [/^\$\$([\s\S]+?)\$\$(?:\n|$)/, /^\\\[([\s\S]+?)\\\](?:\n|$)/]

/** A dollar that stands before a space or behind one is money; so is a closing one before a digit. */
const INLINE = [/^\$\$([^\n$]+?)\$\$/, /^\$(?=\S)((?:\\.|[^\\\n$])*?[^\s\\$])\$(?!\d)/, /^\\\(([^\n]+?)\\\)/]

/** Formulas between `$$ $$`, `\[ \]`, `$ $` and `\( \)`. What they become is their source, marked as one. */
export const math: TokenizerAndRendererExtension[] = [
  extension('mathBlock', 'block', BLOCK, 'math-block', /(?:^|\n)(?:\$\$|\\\[)/),
  extension('mathInline', 'inline', INLINE, 'math-inline', /\$|\\\(/),
]

function extension(
  name: string,
  level: 'block' | 'inline',
  rules: readonly RegExp[],
  className: string,
  opening: RegExp,
): TokenizerAndRendererExtension {
  return {
    name,
    level,
    start: (source: string) => source.match(opening)?.index,
    tokenizer(source: string): Tokens.Generic | undefined {
      for (const rule of rules) {
        const found = rule.exec(source)
        if (found) return { type: name, raw: found[0], text: (found[1] ?? '').trim() }
      }
      return undefined
    },
    renderer: (token: Tokens.Generic) => `<span class="${className}">${escaped(String(token['text']))}</span>`,
  }
}

export function escaped(text: string): string {
  return text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;').replace(/"/g, '&quot;')
}
