import { describe, expect, it } from 'vitest'
import { type InputField, initialText, readField } from '../src/start/fields'

function field(type: InputField['type'], more: Partial<InputField> = {}): InputField {
  return { name: 'x', type, required: false, ...more }
}

describe('the start form', () => {
  it('begins with the defaults, as people write them', () => {
    expect(initialText(field('string', { default: 'tea' }))).toBe('tea')
    expect(initialText(field('number', { default: 3 }))).toBe('3')
    expect(initialText(field('array', { default: [1] }))).toBe('[1]')
    expect(initialText(field('boolean', { default: false }))).toBe('false')
    expect(initialText(field('string'))).toBe('')
  })

  it('reads each type', () => {
    expect(readField(field('number'), ' 2.5 ')).toEqual({ value: 2.5 })
    expect(readField(field('boolean'), 'false')).toEqual({ value: false })
    expect(readField(field('array'), '["a"]')).toEqual({ value: ['a'] })
    expect(readField(field('object'), '{"a": 1}')).toEqual({ value: { a: 1 } })
    expect(readField(field('string'), ' as it is ')).toEqual({ value: ' as it is ' })
  })

  it('names what does not fit', () => {
    expect(readField(field('number'), 'two')).toEqual({ fault: 'notNumber' })
    expect(readField(field('array'), '{}')).toEqual({ fault: 'notArray' })
    expect(readField(field('object'), '[]')).toEqual({ fault: 'notObject' })
    expect(readField(field('object'), 'null')).toEqual({ fault: 'notObject' })
  })

  it('sends nothing for what is left empty, unless it is required', () => {
    expect(readField(field('number'), '  ')).toEqual({})
    expect(readField(field('string', { required: true }), '')).toEqual({ fault: 'isRequired' })
  })
})
