import { submitted, withdrawn } from './asks.js'
import { RecentIds } from './recent-ids.js'
import { withResult } from './run-result.js'
import { applied, emptyRun, onAsks, restored } from './run-state.js'

/**
 * What is known of a run, out of its events. Each event counts once, however often it comes.
 *
 * `run` is plain data that never changes: after an event it is another object, in which what has not changed is the
 * same. So a page may compare by `===`.
 */
export class VisitStore {
  /**
   * @param {string} runId
   * @param {{now: () => number}} [clock] Events carry no times: visits are timed by when their events came.
   */
  constructor(runId, clock = Date) {
    /** @type {import('./index').Run} */
    this.run = emptyRun(runId)
    /** The id to go on from. */
    this.lastEventId = 0
    /** Events that the server does not keep any more, and that nobody has told here. */
    this.missedEvents = 0
    this._clock = clock
    this._ids = new RecentIds()
  }

  /**
   * @param {any} event The `data` of an event.
   * @param {number} eventId
   * @returns {boolean} Whether it was new.
   */
  applyEvent(event, eventId) {
    if (!this._ids.add(eventId)) return false
    if (eventId > this.lastEventId) {
      this.missedEvents += eventId - this.lastEventId - 1
      this.lastEventId = eventId
    }
    this.run = applied(this.run, event, this._clock.now())
    return true
  }

  /** @param {any} state The answer of `/state`. */
  applyStateSnapshot(state) {
    this.run = restored(this.run, state, this._clock.now())
  }

  /** @param {any} result The answer of `GET /workflows/{workflow}/runs/{runId}`. */
  applyResult(result) {
    this.run = withResult(this.run, result)
  }

  /**
   * @param {string} clarifyId
   * @param {import('./index').Answer} answer
   */
  markAskSubmitted(clarifyId, answer) {
    this.run = onAsks(this.run, clarifyId, (asks) => submitted(asks, clarifyId, answer, this._clock.now()))
  }

  /** @param {string} clarifyId */
  markAskOpen(clarifyId) {
    this.run = onAsks(this.run, clarifyId, (asks) => withdrawn(asks, clarifyId))
  }

  /** The visits that wait for a person. */
  get waiting() {
    const asks = (/** @type {import('./index').Ask | null} */ ask) => ask !== null && ask.submittedAt === null
    return this.run.visits.filter(({ status, pendingAsk }) => status === 'running' && asks(pendingAsk))
  }

  /** Whether the run has ended, as far as is known here. */
  get isOver() {
    return this.run.status === 'completed' || this.run.status === 'failed'
  }
}
