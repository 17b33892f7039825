import { asked } from './asks.js'
import { asking, ended, newVisit, recorded, STATUSES, streamed, withStatus } from './visit.js'

/**
 * A run as its events tell it. Pure: every function gives a new state and leaves the old one as it was, and what has
 * not changed is the same object in both.
 *
 * @typedef {import('./index').Run} Run
 * @typedef {import('./index').Visit} Visit
 */

/** @type {Record<string, import('./index').RunStatus>} */
const RUN_STATUSES = { CREATED: 'idle', RUNNING: 'running', SUCCESS: 'completed', FAILED: 'failed' }

/**
 * @param {string} runId
 * @returns {Run}
 */
export function emptyRun(runId) {
  return {
    runId,
    status: 'idle',
    startedAt: null,
    endedAt: null,
    visits: [],
    plannerDecisions: [],
    output: null,
    outputUrl: null,
    workingDirFiles: [],
    error: null,
    failedNodeId: null,
  }
}

/**
 * @param {Run} run
 * @param {any} event The `data` of an event of the log.
 * @param {number} at When it came, in milliseconds: events carry no times.
 * @returns {Run}
 */
export function applied(run, event, at) {
  const begun = run.startedAt === null ? { ...run, startedAt: at } : run
  const going = begun.status === 'idle' ? { ...begun, status: /** @type {const} */ ('running') } : begun
  switch (event.type) {
    case 'node_status':
      return onVisit(going, event, at, (visit) => withStatus(visit, event, at))
    case 'node_stream':
      return onVisit(going, event, at, (visit) => streamed(visit, event, at))
    case 'visit_recorded':
      return onVisit(going, event.visit, at, (visit) => recorded(visit, event.visit, at))
    case 'planner_decision':
      return { ...going, plannerDecisions: [...going.plannerDecisions, event.decision] }
    case 'workflow_complete':
      return { ...over(going, 'completed', at), ...outputOf(event), workingDirFiles: event.workingDirFiles }
    case 'workflow_error':
      return {
        ...stopped(over(going, 'failed', at), event.error, at),
        error: event.error,
        failedNodeId: event.failedNodeId,
      }
    default:
      return going
  }
}

/**
 * The run with what its state tells: its status, and open questions whose events have not come yet. A question that is
 * not open any more is closed by its events alone: the state may be older than they are.
 * @param {Run} run
 * @param {any} state The answer of `/state`.
 * @param {number} at
 * @returns {Run}
 */
export function restored(run, state, at) {
  const isOver = run.status === 'completed' || run.status === 'failed'
  /** @type {Run} */
  const told = isOver ? run : { ...run, status: RUN_STATUSES[state.status] }
  return [...state.pauses].reverse().reduce(withPause, told)

  /**
   * @param {Run} before
   * @param {any} pause
   */
  function withPause(before, pause) {
    const known = before.visits.find((visit) => visit.visitUuid === pause.visitUuid)
    if (known !== undefined && known.status !== 'running') return before
    return onVisit(before, pause, at, (visit) => ({ ...visit, ...asking(asked(visit.asks, pause)) }))
  }
}

/**
 * The run with the questions changed of the visit that asks `clarifyId`.
 * @param {Run} run
 * @param {string} clarifyId
 * @param {(asks: readonly import('./index').Ask[]) => readonly import('./index').Ask[]} change
 * @returns {Run}
 */
export function onAsks(run, clarifyId, change) {
  const asks = (/** @type {Visit} */ visit) => visit.asks.some((ask) => ask.clarifyId === clarifyId)
  return {
    ...run,
    visits: run.visits.map((visit) => (asks(visit) ? { ...visit, ...asking(change(visit.asks)) } : visit)),
  }
}

/**
 * Visits in `sortOrder`, and behind them those that have not ended, as they came.
 * @param {readonly Visit[]} visits
 * @returns {Visit[]}
 */
export function ordered(visits) {
  const last = Number.MAX_SAFE_INTEGER
  const place = (/** @type {Visit} */ visit) => (visit.sortOrder === null ? last : visit.sortOrder)
  return [...visits].sort((one, other) => place(one) - place(other))
}

/**
 * @param {Run} run
 * @param {{visitUuid: string, nodeId: string}} told
 * @param {number} at
 * @param {(visit: Visit) => Visit} change
 * @returns {Run}
 */
function onVisit(run, { visitUuid, nodeId }, at, change) {
  const place = placeOf(run.visits, visitUuid)
  const before = place < 0 ? opened(run, visitUuid, nodeId, at) : run.visits[place]
  const after = change(before)
  const visits = [...run.visits]
  visits[place < 0 ? visits.length : place] = after
  return { ...run, visits: after.sortOrder === before.sortOrder ? visits : ordered(visits) }
}

/**
 * @param {Run} run
 * @param {string} visitUuid
 * @param {string} nodeId
 * @param {number} at
 */
function opened(run, visitUuid, nodeId, at) {
  const iterSeq = run.visits.filter((visit) => visit.nodeId === nodeId).length + 1
  return newVisit({ runId: run.runId, visitUuid, nodeId, iterSeq, startedAt: at })
}

/**
 * From the end, where the visits are that run.
 * @param {readonly Visit[]} visits
 * @param {string} visitUuid
 */
function placeOf(visits, visitUuid) {
  let place = visits.length - 1
  while (place >= 0 && visits[place].visitUuid !== visitUuid) place -= 1
  return place
}

/**
 * @param {Run} run
 * @param {'completed' | 'failed'} status
 * @param {number} at
 * @returns {Run}
 */
function over(run, status, at) {
  return { ...run, status, endedAt: at }
}

/**
 * Visits that the end of the run cut short have no end of their own in the log.
 * @param {Run} run
 * @param {string} error
 * @param {number} at
 * @returns {Run}
 */
function stopped(run, error, at) {
  const told = error === 'CANCELLED' ? error : null
  const visits = run.visits.map((visit) =>
    visit.status === 'running' ? { ...ended(visit, STATUSES.FAILED, at), stopped: true, error: told } : visit,
  )
  return { ...run, visits }
}

/** @param {any} event */
function outputOf(event) {
  return { output: event.output || null, outputUrl: event.outputUrl || null }
}
