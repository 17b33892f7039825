import type { Decision, Visit } from 'stepweave-client'
import { describe, expect, it } from 'vitest'
import { decisionChain } from '../src/run/decisions'
import { spelledDuration } from '../src/run/durations'
import { Folding } from '../src/run/folding'
import { totalUsage } from '../src/run/usage'
import { asMarkdown, isShortValue, shownJson } from '../src/run/values'

const visit = (visitUuid: string, nodeId: string, more: Partial<Visit> = {}) =>
  ({ visitUuid, nodeId, nodeType: 'llm', offCanvas: false, ...more }) as Visit

describe('folding', () => {
  it('opens what runs and folds what has ended', () => {
    const folding = new Folding()
    expect(folding.isOpen('v', 'thinking', 'running')).toBe(true)
    expect(folding.isOpen('v', 'thinking', 'completed')).toBe(false)
    expect(folding.isOpen('v', 'tools', 'failed')).toBe(false)
    expect(folding.isOpen('v', 'variables', 'running')).toBe(false)
  })

  it('keeps the choice of a person beyond the end of the visit, for that panel alone', () => {
    const folding = new Folding()
    folding.choose('v', 'thinking', true)
    folding.choose('v', 'log', false)
    expect(folding.isOpen('v', 'thinking', 'completed')).toBe(true)
    expect(folding.isOpen('v', 'log', 'running')).toBe(false)
    expect(folding.isOpen('w', 'thinking', 'completed')).toBe(false)
  })
})

describe('the chain of decisions', () => {
  it('leads each decision to its visit, in order', () => {
    const decisions: Decision[] = [{ next: 'a' }, { next: 'b' }, { next: 'a' }, { next: null, instruction: 'note' }]
    const visits = [
      visit('in', 'in', { nodeType: 'userInput' }),
      visit('a1', 'a'),
      visit('b1', 'b'),
      visit('a2', 'a'),
      visit('o1', 'off-canvas', { offCanvas: true }),
    ]
    expect(decisionChain(decisions, visits).map((link) => link.visit?.visitUuid)).toEqual(['a1', 'b1', 'a2', 'o1'])
  })

  it('has decisions whose visit is not there yet', () => {
    expect(decisionChain([{ next: 'a' }, { next: null, isFinal: true }], []).map(({ visit }) => visit)).toEqual([null, null])
  })
})

describe('values', () => {
  it('show JSON in a string as JSON, and what only looks like it as it stands', () => {
    expect(shownJson('{"a":1}')).toBe('{\n  "a": 1\n}')
    expect(shownJson('{oops')).toBe('{oops')
    expect(shownJson('plain')).toBe('plain')
  })

  it('become code that no backticks inside can end', () => {
    expect(asMarkdown({ a: '```' })).toBe('````json\n{\n  "a": "```"\n}\n````')
    expect(asMarkdown('**text**')).toBe('**text**')
  })

  it('fit a line or do not', () => {
    expect([3, true, null, 'tea', 'two\nlines', '**bold**', {}].map(isShortValue)).toEqual([
      true,
      true,
      true,
      true,
      false,
      false,
      false,
    ])
  })
})

describe('figures', () => {
  it('spell durations', () => {
    expect([0, 999, 3_240, 65_000, 7_380_000].map(spelledDuration)).toEqual(['0 ms', '999 ms', '3.2 s', '1 min 05 s', '2 h 03 min'])
  })

  it('add up the tokens of all visits', () => {
    const output = { status: 200, message: '', data: {}, metadata: { usage: { inputTokens: 3, outputTokens: 4 } } }
    expect(totalUsage([visit('a', 'a', { output }), visit('b', 'b', { output: null })])).toEqual({ input: 3, output: 4 })
  })
})
