/**
 * The calls of tools of one visit. Events carry no id of their call, so they pair by order: what is told of a name
 * belongs to the earliest call of that name that is still open.
 *
 * @typedef {import('./index').ToolCall} ToolCall
 */

/**
 * @param {readonly ToolCall[]} calls
 * @param {string} toolName
 * @param {any} args
 * @param {number} at
 * @returns {ToolCall[]}
 */
export function called(calls, toolName, args, at) {
  return [...calls, { toolName, arguments: args, status: 'running', result: null, startedAt: at, endedAt: null }]
}

/**
 * `tool.failed` comes before the result, which itself does not tell.
 * @param {readonly ToolCall[]} calls
 * @param {{name?: string, event_type?: string}} progress
 * @returns {readonly ToolCall[]}
 */
export function progressed(calls, progress) {
  if (progress.event_type !== 'tool.failed') return calls
  return changed(calls, earliestOpen(calls, progress.name), { status: 'failed' })
}

/**
 * @param {readonly ToolCall[]} calls
 * @param {string} toolName
 * @param {any} result
 * @param {number} at
 * @returns {readonly ToolCall[]}
 */
export function returned(calls, toolName, result, at) {
  const index = earliestOpen(calls, toolName)
  if (index < 0) return calls
  const status = calls[index].status === 'failed' ? 'failed' : 'completed'
  return changed(calls, index, { status, result, endedAt: at })
}

/**
 * A visit that ends leaves no call open: what has no result was broken off.
 * @param {readonly ToolCall[]} calls
 * @param {number} at
 * @returns {readonly ToolCall[]}
 */
export function brokenOff(calls, at) {
  if (calls.every((call) => call.endedAt !== null)) return calls
  return calls.map((call) => (call.endedAt === null ? { ...call, status: 'failed', endedAt: at } : call))
}

/**
 * @param {readonly ToolCall[]} calls
 * @param {string | undefined} name
 */
function earliestOpen(calls, name) {
  return calls.findIndex((call) => call.toolName === name && call.endedAt === null)
}

/**
 * @param {readonly ToolCall[]} calls
 * @param {number} index
 * @param {Partial<ToolCall>} change
 */
function changed(calls, index, change) {
  return index < 0 ? calls : calls.map((call, place) => (place === index ? { ...call, ...change } : call))
}
