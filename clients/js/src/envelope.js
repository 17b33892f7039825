const FAILED = 400

/**
 * Whether `value` is `{status, message, data}`: an object with both `status` and `data`.
 * @param {any} value
 * @returns {boolean}
 */
export function isEnvelope(value) {
  return Boolean(value) && typeof value === 'object' && !Array.isArray(value) && 'status' in value && 'data' in value
}

/**
 * What to show of an output: of a failure its message, else its data, or the message where there is no data.
 * @param {any} output
 * @returns {any}
 */
export function unwrapNodeOutput(output) {
  if (!output) return ''
  if (typeof output !== 'object') return String(output)
  if (!isEnvelope(output)) return output
  if (Number(output.status) === FAILED) return output.message || '执行失败'
  return output.data != null ? output.data : output.message || ''
}

/**
 * @param {any} output
 * @returns {'completed' | 'failed'}
 */
export function nodeOutputStatus(output) {
  return isEnvelope(output) && Number(output.status) === FAILED ? 'failed' : 'completed'
}

/**
 * The sentence of an output, whether it went well or not.
 * @param {any} output
 * @returns {string}
 */
export function nodeOutputMessage(output) {
  return isEnvelope(output) ? output.message || '' : ''
}
