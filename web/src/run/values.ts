/** A value as people read it: a text as it stands, everything else as JSON. */
export function shownValue(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value, null, 2) ?? 'null')
}

/** A result or argument that is JSON in a string is shown as JSON. */
export function shownJson(value: unknown): string {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return shownValue(value)
  try {
    return JSON.stringify(JSON.parse(value), null, 2)
  } catch {
    return value
  }
}

const SHORT = 120

/** Whether a value fits a line, as it stands. */
export function isShortValue(value: unknown): boolean {
  if (typeof value === 'string') return value.length <= SHORT && /^[^\n*_`#<>[\]$|~]*$/.test(value)
  return value === null || typeof value === 'number' || typeof value === 'boolean'
}

/** An output as markdown (seed §13.6): a text as it stands, everything else as code. */
export function asMarkdown(value: unknown): string {
  if (typeof value === 'string') return value
  const json = shownValue(value)
  return `${fenceFor(json)}json\n${json}\n${fenceFor(json)}`
}

/** Longer than any row of backticks inside. */
function fenceFor(text: string): string {
  const longest = Math.max(2, ...(text.match(/`+/g) ?? []).map(({ length }) => length))
  return '`'.repeat(longest + 1)
}
