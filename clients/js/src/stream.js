import { ApiError, asApiError } from './api-error.js'
import { watch } from './clock.js'
import { EventStreamParser } from './event-stream-parser.js'

/** A gateway that buffers holds an answer back for up to 25 s. */
const OPENING_MS = 40000

/** A live stream sends at least a comment every 30 s. */
const SILENCE_MS = 75000

/** Where the server names no `retry:`, in milliseconds. */
const PAUSE_MS = 1000

/** @typedef {{id: number, data: any}} Event */

/**
 * Reads one connection of a run's stream to its end. Rejects when it is cut, stands still, or is refused.
 *
 * `hear` is called when the connection stands, and `take` with the events of each piece; when it gives true, no more
 * is read.
 *
 * @param {import('./index').Api} api
 * @param {string} runId
 * @param {number} after
 * @param {{signal: AbortSignal, hear: () => void, take: (events: Iterable<Event>) => boolean}} reader
 * @returns {Promise<{isOver: boolean, isEmpty: boolean, pauseMs: number}>} `isOver`: nothing follows; else the next
 *   connection is made after `pauseMs`. `isEmpty`: not even a comment has come.
 */
export async function readStream(api, runId, after, { signal, hear, take }) {
  const watched = watch(api.clock, signal)
  const parser = new EventStreamParser()
  let isEmpty = true
  watched.alive(OPENING_MS)
  try {
    const response = await api.stream(runId, after, watched.signal)
    hear()
    if (response === null) return { isOver: true, isEmpty, pauseMs: 0 }
    const body = /** @type {ReadableStream<Uint8Array>} */ (response.body).getReader()
    for (;;) {
      watched.alive(SILENCE_MS)
      const { done, value } = await piece(body)
      if (done) break
      isEmpty = false
      if (take(events(parser.feed(value)))) {
        watched.abort()
        return { isOver: true, isEmpty, pauseMs: 0 }
      }
    }
  } finally {
    watched.end()
  }
  return { isOver: false, isEmpty, pauseMs: parser.retryMs === null ? PAUSE_MS : parser.retryMs }
}

/** @param {ReadableStreamDefaultReader<Uint8Array>} body */
async function piece(body) {
  try {
    return await body.read()
  } catch (error) {
    throw asApiError(error)
  }
}

/**
 * One by one, so that those before a broken one are taken. A message without an id is not of the log.
 * @param {import('./index').Message[]} messages
 * @returns {Iterable<Event>}
 */
function* events(messages) {
  for (const { id, data } of messages) if (id !== null) yield { id: Number(id), data: parsed(data) }
}

/**
 * What cannot be read was broken on its way.
 * @param {string} data
 */
function parsed(data) {
  try {
    return JSON.parse(data)
  } catch (error) {
    throw new ApiError('NETWORK_ERROR', `an event is no JSON: ${data.slice(0, 100)}`)
  }
}
