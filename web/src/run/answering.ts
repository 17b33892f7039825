import type { Answer, Ask } from 'stepweave-client'

/** What a person has chosen and written so far. */
export interface Draft {
  readonly chosen: readonly string[]
  readonly text: string
}

export const EMPTY: Draft = { chosen: [], text: '' }

/** Whether a text of one's own may be given: where it is allowed, and where there is nothing to choose from. */
export function takesText(ask: Ask): boolean {
  return ask.allowCustom || ask.options.length === 0
}

/** The draft after an option was chosen, or given up. Of one choice, the last counts, and it replaces the text. */
export function toggled(ask: Ask, draft: Draft, value: string): Draft {
  if (draft.chosen.includes(value)) return { ...draft, chosen: draft.chosen.filter((each) => each !== value) }
  return ask.multiple ? { ...draft, chosen: [...draft.chosen, value] } : { chosen: [value], text: '' }
}

/** The draft with another text. Of one choice, a text takes the place of the option. */
export function written(ask: Ask, draft: Draft, text: string): Draft {
  return ask.multiple || text.trim() === '' ? { ...draft, text } : { chosen: [], text }
}

/** The answer to send; null while there is none. Of several choices the text, if any, is the last. */
export function answerOf(ask: Ask, { chosen, text }: Draft): Answer | null {
  const own = text.trim()
  if (!ask.multiple) return own || chosen[0] || null
  const all = ask.options.map(({ value }) => value).filter((value) => chosen.includes(value))
  if (own !== '') all.push(own)
  return all.length > 0 ? all : null
}
