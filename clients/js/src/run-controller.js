import { Api } from './api.js'
import { ApiError } from './api-error.js'
import { backoff, MOST_RETRIES, POLL_MS } from './backoff.js'
import { bannerText } from './banner.js'
import { sleep } from './clock.js'
import { readStream } from './stream.js'
import { VisitStore } from './visit-store.js'

/**
 * Follows one run to its end, and answers its questions.
 *
 * A stream that is cut is opened again after 1, 2, 4, 8, 16 s, going on after the last event; after that the run is
 * asked for every 30 s, until a stream stands again. See `Connection` for the states.
 */
export class RunController {
  /**
   * @param {string} runId
   * @param {import('./index').RunControllerOptions} [options]
   */
  constructor(runId, options = {}) {
    const { workflow, api = new Api(options), onStateChange = () => {}, onBannerChange = () => {} } = options
    this.runId = runId
    this.store = new VisitStore(runId, api.clock)
    /** @type {import('./index').Connection} */
    this.connection = 'idle'
    this._workflow = workflow
    this._api = api
    this._onStateChange = onStateChange
    this._onBannerChange = onBannerChange
    this._closing = new AbortController()
    /** @type {Promise<import('./index').Run> | null} */
    this._following = null
    this._polledAt = 0
    this._sawEnd = false
  }

  /**
   * Creates and starts a run, and gives what will follow it. May be repeated with the same `idempotencyKey`.
   * @param {string} workflow
   * @param {import('./index').RunRequest} request
   * @param {import('./index').RunControllerOptions & {idempotencyKey?: string}} [options]
   * @returns {Promise<RunController>}
   */
  static async create(workflow, request, options = {}) {
    const api = options.api || new Api(options)
    const { runId } = await api.createRun(workflow, request, options)
    await unless('RUN_ALREADY_STARTED', api.startRun(workflow, runId))
    return new RunController(runId, { ...options, workflow, api })
  }

  /**
   * Follows the run. Resolves when it has ended or `destroy` was called; rejects with `ApiError` when the server refuses.
   * @returns {Promise<import('./index').Run>}
   */
  start() {
    if (this._following === null) {
      this._following = this._follow().catch((error) => {
        this._following = null
        this._tell('refused')
        throw error
      })
    }
    return this._following
  }

  /**
   * Answers a question of the run. One that was answered already, perhaps in another window, counts as answered.
   * @param {string} clarifyId
   * @param {import('./index').Answer} answer
   */
  async submitAsk(clarifyId, answer) {
    this.store.markAskSubmitted(clarifyId, answer)
    this._changed()
    try {
      await unless('CLARIFY_ALREADY_ANSWERED', this._api.resume(this.runId, clarifyId, answer))
    } catch (error) {
      this.store.markAskOpen(clarifyId)
      this._changed()
      throw error
    }
  }

  /** Ends the run; its last event tells it. */
  cancel() {
    return this._api.cancel(this.runId)
  }

  /** Stops following. The run goes on. */
  destroy() {
    this._closing.abort()
    this._tell('closed')
  }

  async _follow() {
    this._tell('connecting')
    await this._retryably(() => this._restore())
    let failures = 0
    while (!this._isDone()) {
      const next = await this._connect(failures)
      if (this._isDone()) break
      failures = next.failures
      if (failures > 0) this._tell(failures > MOST_RETRIES ? 'polling' : 'reconnecting')
      if (failures > MOST_RETRIES) await this._poll()
      if (!this._isDone()) await sleep(this._api.clock, this._pause(next), this._closing.signal)
    }
    if (this._sawEnd) {
      if (this._workflow !== undefined) await this._readTimes()
      this._tell('ended')
    }
    return this.store.run
  }

  /** All that is missing of a run that is over: where they are refused, a token that has expired for example, so be it. */
  async _readTimes() {
    try {
      await this._restore()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
    }
  }

  /**
   * One connection. `failures` counts those in a row that brought nothing.
   * @param {number} failures
   * @returns {Promise<{failures: number, pauseMs: number}>}
   */
  async _connect(failures) {
    let heard = false
    try {
      const reading = await readStream(this._api, this.runId, this.store.lastEventId, {
        signal: this._closing.signal,
        hear: () => this._tell('live'),
        take: (events) => {
          heard = true
          return this._take(events)
        },
      })
      if (reading.isOver && !this._sawEnd) await this._end()
      return reading.isEmpty ? failed(failures) : { failures: 0, pauseMs: reading.pauseMs }
    } catch (error) {
      if (!(error instanceof ApiError && error.retryable)) throw error
      return failed(heard ? 0 : failures, error.retryAfterMs || 0)
    }
  }

  /**
   * @param {Iterable<import('./stream.js').Event>} events
   * @returns {boolean} Whether the run has ended.
   */
  _take(events) {
    const { run } = this.store
    for (const { id, data } of events) this._apply(data, id)
    if (this.store.run !== run) this._changed()
    return this._sawEnd
  }

  /**
   * @param {any} event
   * @param {number} id
   */
  _apply(event, id) {
    this.store.applyEvent(event, id)
    if (event.type === 'workflow_complete' || event.type === 'workflow_error') this._sawEnd = true
  }

  /** Nothing follows, but the last event was not told here: the state tells how the run ended. */
  async _end() {
    await this._restore()
    this._sawEnd = true
  }

  async _restore() {
    const { signal } = this._closing
    this.store.applyStateSnapshot(await this._api.state(this.runId, signal))
    if (this._workflow !== undefined) this.store.applyResult(await this._api.result(this._workflow, this.runId, signal))
    this._changed()
  }

  /** What happens where no stream stands: the state, and the events by pages. */
  async _poll() {
    this._polledAt = this._api.clock.now()
    await this._retryably(async () => {
      await this._restore()
      for (;;) {
        const page = await this._api.events(this.runId, this.store.lastEventId, this._closing.signal)
        this._take(page.events)
        if (page.done) this._sawEnd = true
        if (page.done || page.events.length === 0) return
      }
    })
  }

  /**
   * Does what may be done again later. Rejects only when the server refuses.
   * @param {() => Promise<void>} work
   */
  async _retryably(work) {
    try {
      await work()
    } catch (error) {
      if (!(error instanceof ApiError && error.retryable)) throw error
    }
  }

  /** @param {{failures: number, pauseMs: number}} next */
  _pause({ failures, pauseMs }) {
    if (failures <= MOST_RETRIES) return pauseMs
    return Math.max(pauseMs, this._polledAt + POLL_MS - this._api.clock.now())
  }

  _isDone() {
    return this._sawEnd || this._closing.signal.aborted
  }

  _changed() {
    this._onStateChange(this.store)
  }

  /** @param {import('./index').Connection} connection */
  _tell(connection) {
    if (connection === this.connection || this.connection === 'closed') return
    this.connection = connection
    this._onBannerChange(bannerText(connection, this._api.language), connection)
  }
}

/**
 * @param {number} before Failures in a row until now.
 * @param {number} [busyMs] How long the server asks to be left alone.
 */
function failed(before, busyMs = 0) {
  const failures = before + 1
  return { failures, pauseMs: Math.max(backoff(failures), busyMs) }
}

/**
 * What has been done already counts as done.
 * @param {string} code
 * @param {Promise<unknown>} work
 */
async function unless(code, work) {
  try {
    await work
  } catch (error) {
    if (!(error instanceof ApiError && error.code === code)) throw error
  }
}
