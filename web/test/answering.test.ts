import type { Ask } from 'stepweave-client'
import { describe, expect, it } from 'vitest'
import { answerOf, EMPTY, takesText, toggled, written } from '../src/run/answering'

function ask(more: Partial<Ask> = {}): Ask {
  return {
    clarifyId: 'clar-000000000001',
    question: 'Which?',
    options: [
      { label: 'A', value: 'a' },
      { label: 'B', value: 'b' },
    ],
    allowCustom: true,
    placeholder: '',
    multiple: false,
    submittedAt: null,
    submittedValue: null,
    confirmed: false,
    ...more,
  }
}

describe('answering a question', () => {
  it('sends one option, the last that was chosen', () => {
    const draft = toggled(ask(), toggled(ask(), EMPTY, 'a'), 'b')
    expect(answerOf(ask(), draft)).toBe('b')
  })

  it('takes a text in place of the option, and an option in place of the text', () => {
    const text = written(ask(), toggled(ask(), EMPTY, 'a'), ' mine ')
    expect(answerOf(ask(), text)).toBe('mine')
    expect(answerOf(ask(), toggled(ask(), text, 'a'))).toBe('a')
  })

  it('sends several choices in the order of the options, and the text last', () => {
    const many = ask({ multiple: true })
    const draft = written(many, toggled(many, toggled(many, EMPTY, 'b'), 'a'), 'c')
    expect(answerOf(many, draft)).toEqual(['a', 'b', 'c'])
    expect(answerOf(many, toggled(many, draft, 'a'))).toEqual(['b', 'c'])
  })

  it('has no answer before something is chosen or written', () => {
    expect(answerOf(ask(), EMPTY)).toBeNull()
    expect(answerOf(ask({ multiple: true }), EMPTY)).toBeNull()
    expect(answerOf(ask(), written(ask(), EMPTY, '   '))).toBeNull()
  })

  it('takes a text where it is allowed, or where there is nothing to choose', () => {
    expect(takesText(ask({ allowCustom: false }))).toBe(false)
    expect(takesText(ask({ allowCustom: false, options: [] }))).toBe(true)
  })
})
