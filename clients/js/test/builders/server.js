import { Api, RunController, VisitStore } from '../../src/index.js'

const { url, key, adminKey, control } = JSON.parse(process.env.STEPWEAVE_TEST_SERVER)

export const baseUrl = `${url}/api/v1`
export const api = new Api({ baseUrl, apiKey: key, language: 'en' })
const admin = new Api({ baseUrl: `${url}/api`, apiKey: adminKey, language: 'en' })

/** Orders the server about: `stop`, `start` (`{live: false}`: as behind a gateway that buffers), `forward` (`{hours}`). */
export async function order(name, given = {}) {
  const answer = await fetch(`${control}/${name}`, { method: 'POST', body: JSON.stringify(given) })
  if (!answer.ok) throw new Error(`${name}: HTTP ${answer.status}`)
}

/** Waits for tries again pass ten times as fast; what bounds an answer stays as it is. */
const hasty = {
  now: () => Date.now(),
  setTimeout: (call, ms) => setTimeout(call, ms < 30_000 ? ms / 10 : ms),
  clearTimeout: (timer) => clearTimeout(timer),
}

export function controllerOf(runId, options = {}) {
  return new RunController(runId, { baseUrl, apiKey: key, language: 'en', clock: hasty, ...options })
}

let saved = 0

/** Saves a workflow of `{id: {type, ...data}}` and `[source, target, handle?]` under a fresh name. */
export async function save(nodes, edges, rest = {}) {
  const name = `js-${process.pid}-${(saved += 1)}`
  const graphData = {
    nodes: Object.entries(nodes).map(([id, { type, ...data }]) => ({ id, type, data })),
    edges: edges.map(([source, target, sourceHandle = null]) => ({ source, target, sourceHandle })),
  }
  await admin.request('POST', '/workflows', { body: { name, mode: 'DAG', graphData, ...rest } })
  return name
}

export async function started(workflow, variables = {}) {
  const { runId } = await api.createRun(workflow, { variables })
  await api.startRun(workflow, runId)
  return runId
}

export const scripted = (type, script, data = {}) => ({
  type,
  model: 'scripted:inline',
  [type === 'llm' ? 'userPrompt' : 'prompt']: 'go',
  ...(type === 'agent' ? { instructions: 'do', maxSteps: 9 } : {}),
  script,
  ...data,
})

/** The visits of a run as its history has them. */
export async function history(runId) {
  const nodes = await admin.request('GET', `/runs/${runId}/nodes`)
  return nodes.map(({ label, startedAt, completedAt, contextSnapshot, sections, selectedBranch, ...visit }) => ({
    ...visit,
    nodeName: label,
  }))
}

const STATUSES = { running: 'RUNNING', completed: 'SUCCESS', failed: 'FAILED', skipped: 'SKIPPED' }

/** The same of what a client has put together. */
export function asHistory(store) {
  return store.run.visits.map((visit) => ({
    visitUuid: visit.visitUuid,
    nodeId: visit.nodeId,
    nodeType: visit.nodeType,
    iterSeq: visit.iterSeq,
    fromVisitUuid: visit.fromVisitUuid,
    fromNodeId: visit.fromNodeId,
    offCanvas: visit.offCanvas,
    decision: visit.decision,
    status: STATUSES[visit.status],
    sortOrder: visit.sortOrder,
    variables: visit.variables,
    output: visit.output,
    error: visit.error,
    logs: visit.logs,
    nodeName: visit.nodeName,
  }))
}

/** All events of a run that has ended. */
export async function eventsOf(runId) {
  const { events, done } = await api.events(runId, 0)
  if (!done) throw new Error(`run ${runId} has not ended`)
  return events
}

/** What a client makes of events when nothing disturbs it. */
export function undisturbed(runId, events) {
  const store = new VisitStore(runId, { now: () => 0 })
  for (const { id, data } of events) store.applyEvent(data, id)
  return store
}

const PATIENCE_MS = 120_000

/** Resolves when a controller's store, or its connection, is as wanted. */
export function until(controller, holds) {
  const deadline = Date.now() + PATIENCE_MS
  return new Promise((resolve, reject) => {
    const look = () => {
      if (holds(controller)) resolve()
      else if (Date.now() < deadline) setTimeout(look, 2)
      else reject(new Error(`${holds} never holds: ${controller.connection}, event ${controller.store.lastEventId}`))
    }
    look()
  })
}
