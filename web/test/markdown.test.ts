import { describe, expect, it } from 'vitest'
import { blocksOf } from '../src/markdown/blocks'

const html = (text: string) => blocksOf(text).map((block) => block.html().trim())

describe('markdown', () => {
  it('is cut into blocks whose sources are those of the text', () => {
    const blocks = blocksOf('# One\n\ntwo\nlines\n\n- a\n- b\n')
    expect(blocks.map(({ raw }) => raw.trim())).toEqual(['# One', 'two\nlines', '- a\n- b'])
  })

  it('keeps the blocks before the last while a text grows', () => {
    const [before, after] = [blocksOf('# One\n\ntw'), blocksOf('# One\n\ntwo')]
    expect(after[0]?.raw).toBe(before[0]?.raw)
    expect(after[1]?.raw).not.toBe(before[1]?.raw)
  })

  it('marks formulas, and leaves money alone', () => {
    expect(html('$$x^2$$')).toEqual(['<span class="math-block">x^2</span>'])
    expect(html('\\[\na < b\n\\]')).toEqual(['<span class="math-block">a &lt; b</span>'])
    expect(html('so $E=mc^2$ and \\(y\\)')[0]).toBe(
      '<p>so <span class="math-inline">E=mc^2</span> and <span class="math-inline">y</span></p>',
    )
    expect(html('from $5 to $10')[0]).toBe('<p>from $5 to $10</p>')
  })

  it('shows a picture elsewhere as a link, and a ticked task as a sign', () => {
    expect(html('![a cat](https://example.com/cat.png)')[0]).toBe(
      '<p><a href="https://example.com/cat.png">🖼 a cat</a></p>',
    )
    expect(html('- [x] done')[0]).toContain('☑ done')
  })
})
