import type { DrawnEdge, DrawnNode, Drawing, Position } from '../graph/drawing'

/** What can be drawn of a definition that somebody is still writing: whatever is no node or no edge is left out. */
export function drawingOf(definition: unknown): Drawing {
  const graph = field(definition, 'graphData')
  const nodes = list(field(graph, 'nodes')).flatMap(drawnNode)
  const known = new Set<string>()
  const once = nodes.filter(({ id }) => !known.has(id) && known.add(id))
  const edges = list(field(graph, 'edges')).flatMap(drawnEdge)
  return { nodes: once, edges: edges.filter(({ source, target }) => known.has(source) && known.has(target)) }
}

function drawnNode(node: unknown): DrawnNode[] {
  const id = field(node, 'id')
  if (typeof id !== 'string' || id === '') return []
  const label = field(field(node, 'data'), 'label')
  const type = field(node, 'type')
  const position = positionOf(field(node, 'position'))
  return [{ id, type: typeof type === 'string' ? type : '?', label: typeof label === 'string' && label ? label : id, position }]
}

function drawnEdge(edge: unknown): DrawnEdge[] {
  const source = field(edge, 'source')
  const target = field(edge, 'target')
  if (typeof source !== 'string' || typeof target !== 'string') return []
  const handle = field(edge, 'sourceHandle')
  return [{ source, target, sourceHandle: typeof handle === 'string' && handle ? handle : null }]
}

function positionOf(position: unknown): Position | null {
  const x = field(position, 'x')
  const y = field(position, 'y')
  return typeof x === 'number' && typeof y === 'number' && Number.isFinite(x + y) ? { x, y } : null
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
