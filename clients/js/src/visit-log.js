/** Kinds of `node_stream` that stand in the log of their visit, and their type there. @type {Record<string, string>} */
const TYPES = {
  thinking: 'THINKING',
  status: 'STATUS',
  step: 'STEP',
  todo_update: 'TODO_UPDATE',
  tool_call: 'TOOL_CALL',
  tool_result: 'TOOL_RESULT',
  clarify_request: 'CLARIFY',
}

/**
 * The log of a visit that runs, as the server will store it when the visit ends: an unbroken stretch of thinking is one
 * entry. Timed by when the events came; warnings and the words for a step are known to the server only.
 *
 * @param {readonly import('./index').LogEntry[]} logs
 * @param {any} event `node_stream`
 * @param {number} at
 * @returns {readonly import('./index').LogEntry[]}
 */
export function logged(logs, event, at) {
  const type = TYPES[event.kind]
  if (type === undefined) return logs
  const last = logs[logs.length - 1]
  if (type === 'THINKING' && last && last.type === type) {
    return [...logs.slice(0, -1), { ...last, message: last.message + event.content }]
  }
  return [...logs, { type, timestamp: new Date(at).toISOString(), ...words(event) }]
}

/**
 * @param {any} event
 * @returns {{message: string, detail: string | null}}
 */
function words(event) {
  const { kind, content, data, toolName } = event
  switch (kind) {
    case 'step':
      return { message: '', detail: content }
    case 'clarify_request':
      return { message: data.question, detail: null }
    case 'thinking':
    case 'status':
      return { message: content, detail: null }
    default:
      return { message: toolName, detail: content }
  }
}
