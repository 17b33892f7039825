import { EventStreamParser } from './event-stream-parser.js'

/** A request that failed. `message` is the server's sentence for people, in the language that was asked for. */
export class ApiError extends Error {
  /**
   * @param {string} code The API's code, or `NETWORK_ERROR` where no answer of the API came.
   * @param {string} message
   * @param {{status?: number, data?: any, requestId?: string | null, retryAfterMs?: number | null}} [about]
   */
  constructor(code, message, { status = 0, data = null, requestId = null, retryAfterMs = null } = {}) {
    super(message)
    this.name = 'ApiError'
    this.code = code
    this.status = status
    this.data = data
    this.requestId = requestId
    this.retryAfterMs = retryAfterMs
  }

  /** Whether the same request may go well later. */
  get retryable() {
    return this.status === 0 || this.status === 429 || this.status >= 500
  }
}

/**
 * What went wrong before there was an answer, or in the middle of it.
 * @param {unknown} error
 */
export function asApiError(error) {
  if (error instanceof ApiError) return error
  return new ApiError('NETWORK_ERROR', error instanceof Error ? error.message : String(error))
}

/**
 * The error that an answer tells: the JSON wrapper, or on a stream's path one `workflow_error` event.
 * @param {Response} response
 * @returns {Promise<ApiError>}
 */
export async function refusal(response) {
  const about = {
    status: response.status,
    requestId: response.headers.get('X-Request-Id'),
    retryAfterMs: seconds(response.headers.get('Retry-After')),
  }
  const told = read(await response.text())
  if (told === null) return new ApiError('NETWORK_ERROR', `HTTP ${response.status}`, about)
  return new ApiError(told.code, told.message || told.error || told.code, { ...about, data: told.data || null })
}

/** @param {string} text */
function read(text) {
  const [message] = new EventStreamParser().feed(new TextEncoder().encode(`${text}\n\n`))
  try {
    const told = JSON.parse(message ? message.data : text)
    return told && typeof told.code === 'string' ? told : null
  } catch (error) {
    return null
  }
}

/** @param {string | null} header */
function seconds(header) {
  return header !== null && /^\d+$/.test(header) ? Number(header) * 1000 : null
}
