import { ordered } from './run-state.js'
import { ended, newVisit, STATUSES } from './visit.js'

/**
 * The run with what its result tells: the times that events do not carry, and of a run whose events have expired all
 * that there is. A result may be older than the events: what has ended stays ended.
 *
 * @param {import('./index').Run} run
 * @param {any} result The answer of `GET /workflows/{workflow}/runs/{runId}`.
 * @returns {import('./index').Run}
 */
export function withResult(run, result) {
  const visits = new Map(run.visits.map((visit) => [visit.visitUuid, visit]))
  for (const node of result.nodes) {
    const last = node.visits[node.visits.length - 1]
    for (const told of node.visits) {
      const known = visits.get(told.visitUuid) || unknown(run, node, told)
      const visit = withTimes(known, node, told)
      visits.set(told.visitUuid, told === last && visit.status !== 'running' ? withOutput(visit, node) : visit)
    }
  }
  return {
    ...run,
    visits: ordered([...visits.values()]),
    startedAt: moment(result.startedAt),
    endedAt: moment(result.completedAt),
  }
}

/**
 * @param {import('./index').Run} run
 * @param {any} node
 * @param {any} told
 */
function unknown(run, { nodeId }, { visitUuid, iterSeq, startedAt }) {
  return newVisit({ runId: run.runId, visitUuid, nodeId, iterSeq, startedAt: moment(startedAt) })
}

/**
 * @param {import('./index').Visit} visit
 * @param {any} node
 * @param {any} told
 * @returns {import('./index').Visit}
 */
function withTimes(visit, node, told) {
  const startedAt = told.startedAt === null ? visit.startedAt : moment(told.startedAt)
  const named = { ...visit, nodeType: node.nodeType, nodeName: node.label, fromNodeId: told.fromNodeId, startedAt }
  if (told.status === 'RUNNING') return named
  const endedAt = moment(told.completedAt)
  const over = named.status === 'running' ? ended(named, STATUSES[told.status], endedAt || 0) : named
  return {
    ...over,
    endedAt,
    sortOrder: told.sortOrder,
    error: told.error === null ? over.error : told.error,
  }
}

/**
 * @param {import('./index').Visit} visit
 * @param {any} node Has the output of its last visit only.
 * @returns {import('./index').Visit}
 */
function withOutput(visit, node) {
  return { ...visit, output: visit.output || node.output, outputUrl: visit.outputUrl || node.outputUrl || null }
}

/** @param {string | null} time */
function moment(time) {
  return time === null ? null : Date.parse(time)
}
