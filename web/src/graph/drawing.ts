/** A workflow's drawing as the server gives it. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly edges: readonly DrawnEdge[]
}

export interface DrawnNode {
  readonly id: string
  readonly type: string
  readonly label: string
  readonly position: Position | null
}

export interface DrawnEdge {
  readonly source: string
  readonly target: string
  readonly sourceHandle: string | null
}

export interface Position {
  readonly x: number
  readonly y: number
}

export const NODE_WIDTH = 176
export const NODE_HEIGHT = 54
const COLUMN = 250
const ROW = 100

/**
 * Where each node stands: where its author put it, or, when nobody did or all stand on one spot, in columns by the
 * longest way that leads there. A single node without a place stands below the others.
 */
export function placed({ nodes, edges }: Drawing): Map<string, Position> {
  const given = nodes.filter(({ position }) => position !== null)
  const spots = new Set(given.map(({ position }) => `${position?.x} ${position?.y}`))
  if (spots.size < given.length / 2 || given.length < nodes.length / 2) return inColumns(nodes, edges)
  const places = new Map(given.map(({ id, position }) => [id, position as Position]))
  const lowest = Math.max(...given.map(({ position }) => position?.y ?? 0), 0)
  const left = Math.min(...given.map(({ position }) => position?.x ?? 0))
  nodes
    .filter(({ position }) => position === null)
    .forEach(({ id }, index) => places.set(id, { x: left + index * COLUMN, y: lowest + ROW + 20 }))
  return places
}

/** How many times wider than tall a drawing is. */
export function shapeOf(drawing: Drawing): number {
  const places = [...placed(drawing).values()]
  const span = (values: number[]) => Math.max(...values) - Math.min(...values)
  return (span(places.map(({ x }) => x)) + NODE_WIDTH) / (span(places.map(({ y }) => y)) + NODE_HEIGHT)
}

function inColumns(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): Map<string, Position> {
  const columns = levels(nodes, edges)
  const filled = new Map<number, number>()
  const places = new Map<string, Position>()
  for (const { id } of nodes) {
    const column = columns.get(id) ?? 0
    const row = filled.get(column) ?? 0
    filled.set(column, row + 1)
    places.set(id, { x: column * COLUMN, y: row * ROW })
  }
  return places
}

/** The longest way to each node. Edges that close a circle count no further than there are nodes. */
function levels(nodes: readonly DrawnNode[], edges: readonly DrawnEdge[]): Map<string, number> {
  const found = new Map(nodes.map(({ id }) => [id, 0]))
  for (let round = 0; round < nodes.length; round += 1) {
    let changed = false
    for (const { source, target } of edges) {
      const next = (found.get(source) ?? 0) + 1
      if (next > (found.get(target) ?? 0) && next < nodes.length) {
        found.set(target, next)
        changed = true
      }
    }
    if (!changed) break
  }
  return found
}
