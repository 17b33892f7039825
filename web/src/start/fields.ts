/** An input of a workflow as `GET /workflows` tells it. */
export interface InputField {
  readonly name: string
  readonly type: 'string' | 'number' | 'boolean' | 'array' | 'object' | 'filePath'
  readonly required: boolean
  readonly default?: unknown
  readonly description?: string
}

export type FieldFault = 'isRequired' | 'notNumber' | 'notArray' | 'notObject'

/** What a field starts with: its default as people write it. */
export function initialText(field: InputField): string {
  if (field.default === undefined || field.default === null) return ''
  return typeof field.default === 'string' ? field.default : JSON.stringify(field.default)
}

/** The value that a field's text stands for: nothing where it is left empty, else of the field's type. */
export function readField(field: InputField, text: string): { value?: unknown; fault?: FieldFault } {
  const trimmed = text.trim()
  if (trimmed === '') return field.required ? { fault: 'isRequired' } : {}
  switch (field.type) {
    case 'number':
      return Number.isFinite(Number(trimmed)) ? { value: Number(trimmed) } : { fault: 'notNumber' }
    case 'boolean':
      return { value: trimmed === 'true' }
    case 'array': {
      const value = parsed(trimmed)
      return Array.isArray(value) ? { value } : { fault: 'notArray' }
    }
    case 'object': {
      const value = parsed(trimmed)
      const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
      return isObject ? { value } : { fault: 'notObject' }
    }
    case 'filePath':
      return { value: trimmed }
    case 'string':
      return { value: text }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
