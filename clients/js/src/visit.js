import { asked, closed, confirmed } from './asks.js'
import { brokenOff, called, progressed, returned } from './tool-calls.js'
import { logged } from './visit-log.js'

/**
 * One visit as its events tell it. Pure: every function gives a new visit and leaves the old one as it was.
 *
 * @typedef {import('./index').Visit} Visit
 */

/** @type {Record<string, import('./index').VisitStatus>} */
export const STATUSES = { RUNNING: 'running', SUCCESS: 'completed', FAILED: 'failed', SKIPPED: 'skipped' }

/**
 * @param {{runId: string, visitUuid: string, nodeId: string, iterSeq: number, startedAt: number | null}} known
 * @returns {Visit}
 */
export function newVisit(known) {
  return {
    ...known,
    nodeType: null,
    nodeName: null,
    sortOrder: null,
    fromVisitUuid: null,
    fromNodeId: null,
    offCanvas: false,
    decision: null,
    status: 'running',
    endedAt: null,
    liveStatus: '',
    step: 0,
    thinking: '',
    todoList: [],
    toolCalls: [],
    logs: [],
    asks: [],
    pendingAsk: null,
    variables: null,
    output: null,
    outputUrl: null,
    error: null,
    stopped: false,
  }
}

/**
 * @param {Visit} visit
 * @param {any} event `node_status`
 * @param {number} at
 * @returns {Visit}
 */
export function withStatus(visit, event, at) {
  const named = { ...visit, nodeType: event.nodeType || visit.nodeType, nodeName: event.nodeLabel || visit.nodeName }
  if (event.status === 'RUNNING') return named
  return {
    ...ended(named, STATUSES[event.status], at),
    output: event.output || null,
    outputUrl: event.outputUrl || null,
    error: event.error || null,
  }
}

/**
 * @param {Visit} visit
 * @param {import('./index').VisitStatus} status
 * @param {number} at
 * @returns {Visit}
 */
export function ended(visit, status, at) {
  const toolCalls = brokenOff(visit.toolCalls, at)
  const endedAt = visit.endedAt === null ? at : visit.endedAt
  return { ...visit, status, endedAt, liveStatus: '', toolCalls, ...asking(closed(visit.asks)) }
}

/**
 * What a visit has to tell of its questions.
 * @param {readonly import('./index').Ask[]} asks
 */
export function asking(asks) {
  return { asks, pendingAsk: asks.length > 0 ? asks[asks.length - 1] : null }
}

/**
 * @param {Visit} visit
 * @param {any} event `node_stream`; one with `truncated` was too large to send and tells nothing.
 * @param {number} at
 * @returns {Visit}
 */
export function streamed(visit, event, at) {
  if (event.truncated) return visit
  return { ...visit, logs: logged(visit.logs, event, at), ...change(visit, event, at) }
}

/**
 * What an event changes beside the log.
 * @param {Visit} visit
 * @param {any} event `node_stream`
 * @param {number} at
 * @returns {Partial<Visit>}
 */
function change(visit, event, at) {
  const { kind, content, data, toolName } = event
  switch (kind) {
    case 'thinking':
      return { thinking: visit.thinking + content }
    case 'status':
      return { liveStatus: content }
    case 'step':
      return { step: data.iteration }
    case 'todo_update':
      return { todoList: data }
    case 'tool_call':
      return { toolCalls: called(visit.toolCalls, toolName, shown(event), at) }
    case 'tool_progress':
      return { toolCalls: progressed(visit.toolCalls, data) }
    case 'tool_result': {
      const asks = toolName === 'clarify' ? confirmed(visit.asks, content, at) : visit.asks
      return { toolCalls: returned(visit.toolCalls, toolName, shown(event), at), ...asking(asks) }
    }
    case 'clarify_request':
      return asking(asked(visit.asks, data))
    default:
      return {}
  }
}

/**
 * What is stored of a visit, which stands above whatever was put together out of its events.
 * @param {Visit} visit
 * @param {any} record The `visit` of a `visit_recorded`; with `truncated` its log and variables are left out.
 * @param {number} at
 * @returns {Visit}
 */
export function recorded(visit, record, at) {
  const closed = visit.status === 'running' ? ended(visit, STATUSES[record.status], at) : visit
  const whole = record.truncated
    ? {}
    : { logs: JSON.parse(record.logsJson), variables: JSON.parse(record.variablesJson) }
  return {
    ...closed,
    nodeType: record.nodeType,
    nodeName: record.nodeLabel,
    iterSeq: record.iterSeq,
    sortOrder: record.sortOrder,
    fromVisitUuid: record.fromVisitUuid,
    fromNodeId: record.fromNodeId,
    offCanvas: record.offCanvas,
    decision: parsed(record.decisionJson),
    output: closed.output || parsed(record.outputJson),
    outputUrl: record.outputUrl || closed.outputUrl,
    error: record.errorMsg,
    ...whole,
  }
}

/** @param {string | null} json */
function parsed(json) {
  return json ? JSON.parse(json) : null
}

/**
 * What a tool was given, or gave: parsed where it is JSON.
 * @param {any} event
 */
function shown(event) {
  return event.data === undefined ? event.content : event.data
}
