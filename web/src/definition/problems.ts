import { edgeKey } from '../graph/states'

/** A finding of the server's validation (contract §2). */
export interface Problem {
  readonly code: string
  readonly message: string
  readonly nodeId?: string
  readonly edge?: { readonly source: string; readonly target: string; readonly sourceHandle: string | null }
}

/** How many problems each node has, and each edge by its `edgeKey`. */
export function placesOf(problems: readonly Problem[]): Map<string, number> {
  const counts = new Map<string, number>()
  const count = (place: string) => counts.set(place, (counts.get(place) ?? 0) + 1)
  for (const { nodeId, edge } of problems) {
    if (nodeId !== undefined) count(nodeId)
    if (edge !== undefined) count(edgeKey(edge.source, edge.target))
  }
  return counts
}
