import type { Decision, Visit } from 'stepweave-client'

/** A decision of the planner, and the visit to which it led as far as that is known. */
export interface ChainLink {
  readonly decision: Decision
  readonly visit: Visit | null
}

/**
 * The planner's decisions, each with its visit: the first decision for a node led to the first visit that a decision led
 * to, and so on. A decision for nobody on the canvas led to a visit beside it.
 */
export function decisionChain(decisions: readonly Decision[], visits: readonly Visit[]): ChainLink[] {
  const taken = new Set<Visit>()
  return decisions.map((decision) => {
    const visit = visits.find((each) => !taken.has(each) && leads(decision, each)) ?? null
    if (visit !== null) taken.add(visit)
    return { decision, visit }
  })
}

function leads(decision: Decision, visit: Visit): boolean {
  if (visit.nodeType === 'userInput') return false
  return decision.next ? visit.nodeId === decision.next : visit.offCanvas
}
