import type { Visit } from 'stepweave-client'
import type { Badge } from '../run/StatusBadge.vue'
import type { DrawnEdge } from './drawing'

/** What the graph shows of a node: the state of its latest visit, and how many there are. */
export interface NodeState {
  readonly badge: Badge
  readonly visits: number
  readonly latest: string
  /** Of a condition, the way that it took. */
  readonly branch: string | null
}

export function nodeStates(visits: readonly Visit[]): Map<string, NodeState> {
  const states = new Map<string, NodeState>()
  for (const visit of visits) {
    const count = states.get(visit.nodeId)?.visits ?? 0
    const branch: unknown = visit.output?.metadata?.['selectedBranch']
    states.set(visit.nodeId, {
      badge: badgeOf(visit),
      visits: count + 1,
      latest: visit.visitUuid,
      branch: typeof branch === 'string' ? branch : null,
    })
  }
  return states
}

function badgeOf(visit: Visit): Badge {
  if (visit.pendingAsk !== null && visit.pendingAsk.submittedAt === null) return 'waiting'
  return visit.stopped ? 'stopped' : visit.status
}

/** How far an edge has been gone: `taken`, `active` while the node behind it runs, `dead` into a skipped one. */
export type EdgeState = 'idle' | 'taken' | 'active' | 'dead'

export function edgeStates(visits: readonly Visit[]): Map<string, EdgeState> {
  const states = new Map<string, EdgeState>()
  for (const { fromNodeId, nodeId, status } of visits) {
    if (fromNodeId !== null) states.set(edgeKey(fromNodeId, nodeId), status === 'running' ? 'active' : 'taken')
  }
  return states
}

export function edgeKey(source: string, target: string): string {
  return `${source}→${target}`
}

/**
 * The edge's own state. In a DAG, where a join names one of its edges only, those of its ends tell about the others, and
 * a condition by the way that it took; the planner's edges are hints that nobody takes or leaves.
 */
export function edgeState(
  { source, target, sourceHandle }: DrawnEdge,
  edges: ReadonlyMap<string, EdgeState>,
  nodes: ReadonlyMap<string, NodeState>,
  isDag: boolean,
): EdgeState {
  const from = nodes.get(source)
  const to = nodes.get(target)
  if (isDag && from?.branch && sourceHandle !== null && sourceHandle !== from.branch) return 'dead'
  const told = edges.get(edgeKey(source, target))
  if (told !== undefined || !isDag) return told ?? 'idle'
  if (from?.badge === 'skipped' || (from !== undefined && to?.badge === 'skipped')) return 'dead'
  if (from?.badge !== 'completed' || to === undefined) return 'idle'
  return to.badge === 'running' || to.badge === 'waiting' ? 'active' : 'taken'
}
