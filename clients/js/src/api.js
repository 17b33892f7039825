import { ApiError, asApiError, refusal } from './api-error.js'
import { systemClock, watch } from './clock.js'

const ANSWER_MS = 30000

/** The calls of the external API that a run needs. Every call rejects with `ApiError`. */
export class Api {
  /** @param {import('./index').ApiOptions} [options] */
  constructor(options = {}) {
    const { baseUrl = '/api/v1', apiKey, viewToken, language = 'zh', fetch, clock = systemClock } = options
    this.language = language
    this.clock = clock
    this._baseUrl = baseUrl.replace(/\/+$/, '')
    this._apiKey = apiKey
    this._viewToken = viewToken
    this._fetch = fetch || ((/** @type {string} */ url, /** @type {RequestInit} */ init) => globalThis.fetch(url, init))
  }

  /**
   * @param {string} workflow
   * @param {import('./index').RunRequest} [request]
   * @param {{idempotencyKey?: string}} [options]
   */
  createRun(workflow, request = {}, { idempotencyKey } = {}) {
    /** @type {Record<string, string>} */
    const headers = idempotencyKey === undefined ? {} : { 'Idempotency-Key': idempotencyKey }
    const { files = [], ...body } = request
    const path = `/workflows/${encodeURIComponent(workflow)}/runs`
    if (files.length === 0) return this.request('POST', path, { body, headers })
    return this.request('POST', path, { form: formOf(body, files), headers, timeoutMs: 0 })
  }

  /**
   * @param {string} workflow
   * @param {string} runId
   */
  startRun(workflow, runId) {
    return this.request('POST', `/workflows/${encodeURIComponent(workflow)}/runs/${runId}/start`)
  }

  /**
   * @param {string} workflow
   * @param {string} runId
   * @param {AbortSignal} [signal]
   */
  result(workflow, runId, signal) {
    return this.request('GET', `/workflows/${encodeURIComponent(workflow)}/runs/${runId}`, { signal })
  }

  /**
   * @param {string} runId
   * @param {AbortSignal} [signal]
   */
  state(runId, signal) {
    return this.request('GET', `/runs/${runId}/state`, { signal })
  }

  /**
   * A page of the run's events; the next one begins after its `lastId`.
   * @param {string} runId
   * @param {number} after
   * @param {AbortSignal} [signal]
   */
  events(runId, after, signal) {
    return this.request('GET', `/runs/${runId}/events?after=${after}&limit=1000`, { signal })
  }

  /**
   * @param {string} runId
   * @param {string} clarifyId
   * @param {import('./index').Answer} answer
   */
  resume(runId, clarifyId, answer) {
    return this.request('POST', `/runs/${runId}/resume`, { body: { clarifyId, answer } })
  }

  /** @param {string} runId */
  cancel(runId) {
    return this.request('POST', `/runs/${runId}/cancel`)
  }

  /**
   * The open stream of everything after an event, or null where nothing can follow any more (204).
   * @param {string} runId
   * @param {number} after 0 is before the first event.
   * @param {AbortSignal} signal
   * @returns {Promise<Response | null>}
   */
  async stream(runId, after, signal) {
    /** @type {Record<string, string>} */
    const headers = { Accept: 'text/event-stream' }
    if (after > 0) headers['Last-Event-ID'] = String(after)
    const response = await this._send(`/runs/${runId}/stream`, { headers, signal, cache: 'no-store' })
    if (response.status === 204) return null
    if (!(response.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
      throw new ApiError('NETWORK_ERROR', `HTTP ${response.status}: this is no stream of events`)
    }
    return response
  }

  /**
   * @param {string} method
   * @param {string} path Below the base URL.
   * @param {{body?: any, form?: FormData, headers?: Record<string, string>, timeoutMs?: number,
   *   signal?: AbortSignal}} [options] `timeoutMs`: 0 waits for as long as it takes.
   * @returns {Promise<any>} The `data` of the answer.
   */
  async request(method, path, { body, form, headers = {}, timeoutMs = ANSWER_MS, signal } = {}) {
    const all = body === undefined ? headers : { ...headers, 'Content-Type': 'application/json' }
    const content = body === undefined ? form : JSON.stringify(body)
    const patience = watch(this.clock, signal)
    if (timeoutMs > 0) patience.alive(timeoutMs)
    try {
      const response = await this._send(path, { method, headers: all, body: content, signal: patience.signal })
      return (await response.json()).data
    } catch (error) {
      throw asApiError(error)
    } finally {
      patience.end()
    }
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   */
  async _send(path, init) {
    try {
      const headers = { ...init.headers, ...(await this._credentials()), 'Accept-Language': this.language }
      const response = await this._fetch(this._baseUrl + path, { ...init, headers })
      if (!response.ok) throw await refusal(response)
      return response
    } catch (error) {
      throw asApiError(error)
    }
  }

  /** @returns {Promise<Record<string, string>>} */
  async _credentials() {
    if (this._viewToken !== undefined) return { 'X-View-Token': await called(this._viewToken) }
    return this._apiKey === undefined ? {} : { 'X-API-Key': await called(this._apiKey) }
  }
}

/**
 * A form as a browser can send it: it knows no headers of parts, so the payload names the paths.
 * @param {Record<string, any>} body
 * @param {readonly import('./index').RunFile[]} files
 */
function formOf(body, files) {
  const paths = files.map((file) => ('content' in file ? file.path : file.webkitRelativePath || file.name))
  const form = new FormData()
  form.append('payload', JSON.stringify({ ...body, inputs: { ...body.inputs, uploadedFiles: paths } }))
  files.forEach((file, index) => form.append('files', 'content' in file ? file.content : file, `file-${index}`))
  return form
}

/** @param {import('./index').Credential} credential */
function called(credential) {
  return typeof credential === 'function' ? credential() : credential
}
