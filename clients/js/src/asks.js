/**
 * The questions of one visit, in their order. Pure.
 *
 * A question may be known from `/state` before the events that lead to it: so each stays here under its id, and the
 * answers that events tell, without an id, go to the questions one after the other.
 *
 * @typedef {import('./index').Ask} Ask
 * @typedef {import('./index').Answer} Answer
 */

/**
 * @param {readonly Ask[]} asks
 * @param {any} question The `data` of a `clarify_request`, or an element of `pauses`.
 * @returns {readonly Ask[]}
 */
export function asked(asks, question) {
  if (asks.some((ask) => ask.clarifyId === question.clarifyId)) return asks
  const ask = {
    clarifyId: question.clarifyId,
    question: question.question,
    options: question.options || [],
    allowCustom: Boolean(question.allowCustom),
    placeholder: question.placeholder || '',
    multiple: Boolean(question.multiple),
    submittedAt: null,
    submittedValue: null,
    confirmed: false,
  }
  return [...asks, ask]
}

/**
 * An event tells an answer.
 * @param {readonly Ask[]} asks
 * @param {string} content
 * @param {number} at
 * @returns {readonly Ask[]}
 */
export function confirmed(asks, content, at) {
  const first = asks.find((ask) => !ask.confirmed)
  return asks.map((ask) => (ask === first ? { ...submission(ask, answerOf(ask, content), at), confirmed: true } : ask))
}

/**
 * The person has answered here.
 * @param {readonly Ask[]} asks
 * @param {string} clarifyId
 * @param {Answer} answer
 * @param {number} at
 * @returns {readonly Ask[]}
 */
export function submitted(asks, clarifyId, answer, at) {
  return asks.map((ask) => (ask.clarifyId === clarifyId ? submission(ask, answer, at) : ask))
}

/**
 * The answer did not reach the server: the question is open again.
 * @param {readonly Ask[]} asks
 * @param {string} clarifyId
 * @returns {readonly Ask[]}
 */
export function withdrawn(asks, clarifyId) {
  return asks.map((ask) =>
    ask.clarifyId === clarifyId && !ask.confirmed ? { ...ask, submittedAt: null, submittedValue: null } : ask,
  )
}

/**
 * A visit that has ended asks nothing any more.
 * @param {readonly Ask[]} asks
 * @returns {readonly Ask[]}
 */
export function closed(asks) {
  return asks.filter((ask) => ask.submittedAt !== null)
}

/**
 * @param {Ask} ask
 * @param {Answer} answer
 * @param {number} at
 * @returns {Ask}
 */
function submission(ask, answer, at) {
  return ask.submittedAt === null ? { ...ask, submittedAt: at, submittedValue: answer } : ask
}

/**
 * Several choices are told as JSON.
 * @param {Ask} ask
 * @param {string} content
 * @returns {Answer}
 */
function answerOf(ask, content) {
  if (!ask.multiple || !content.startsWith('["')) return content
  try {
    return JSON.parse(content)
  } catch (error) {
    return content
  }
}
