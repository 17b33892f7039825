import type { Visit } from 'stepweave-client'
import { describe, expect, it } from 'vitest'
import { drawingOf } from '../src/definition/drawn'
import { placesOf } from '../src/definition/problems'
import { type Drawing, placed } from '../src/graph/drawing'
import { edgeState, edgeStates, nodeStates } from '../src/graph/states'

const node = (id: string, x?: number, y = 0) => ({ id, type: 'llm', label: id, position: x === undefined ? null : { x, y } })
const edge = (source: string, target: string, sourceHandle: string | null = null) => ({ source, target, sourceHandle })

function visit(nodeId: string, status: Visit['status'], more: Partial<Visit> = {}): Visit {
  return { visitUuid: `${nodeId}-1`, nodeId, status, fromNodeId: null, pendingAsk: null, output: null, stopped: false, ...more } as Visit
}

describe('the drawing', () => {
  it('keeps the places of its author', () => {
    const drawing: Drawing = { nodes: [node('a', 5, 6), node('b', 300, 6)], edges: [] }
    expect(placed(drawing).get('a')).toEqual({ x: 5, y: 6 })
  })

  it('stands in columns by the longest way where there are no places, or one for all', () => {
    const edges = [edge('a', 'b'), edge('b', 'c'), edge('a', 'c')]
    for (const nodes of [[node('a'), node('b'), node('c')], [node('a', 0), node('b', 0), node('c', 0)]]) {
      const x = ['a', 'b', 'c'].map((id) => placed({ nodes, edges }).get(id)?.x)
      expect(x).toEqual([0, 250, 500])
    }
  })

  it('puts a lone node without a place below the others', () => {
    const places = placed({ nodes: [node('a', 0, 0), node('b', 250, 90), node('beside')], edges: [] })
    expect(places.get('beside')?.y).toBeGreaterThan(90)
  })

  it('draws circles', () => {
    expect(placed({ nodes: [node('a'), node('b')], edges: [edge('a', 'b'), edge('b', 'a')] }).size).toBe(2)
  })

  it('leaves out what is no node or no edge yet', () => {
    const nodes = [{ id: 'a', type: 'llm', data: { label: 'A' } }, { id: 7 }, 'x', { id: 'a' }]
    const drawing = drawingOf({ graphData: { nodes, edges: [{ source: 'a', target: 'gone' }, null] } })
    expect(drawing).toEqual({ nodes: [{ id: 'a', type: 'llm', label: 'A', position: null }], edges: [] })
    expect(drawingOf(null)).toEqual({ nodes: [], edges: [] })
  })

  it('counts problems at their places', () => {
    const at = placesOf([
      { code: 'A', message: '', nodeId: 'n' },
      { code: 'B', message: '', nodeId: 'n' },
      { code: 'C', message: '', edge: { source: 'n', target: 'm', sourceHandle: null } },
    ])
    expect([...at]).toEqual([['n', 2], ['n→m', 1]])
  })
})

describe('the states of the graph', () => {
  it('are those of the latest visit of each node', () => {
    const states = nodeStates([visit('a', 'completed'), visit('a', 'running', { visitUuid: 'a-2' })])
    expect(states.get('a')).toEqual({ badge: 'running', visits: 2, latest: 'a-2', branch: null })
  })

  it('tell that a node waits, or was stopped', () => {
    const pendingAsk = { submittedAt: null } as Visit['pendingAsk']
    expect(nodeStates([visit('a', 'running', { pendingAsk })]).get('a')?.badge).toBe('waiting')
    expect(nodeStates([visit('a', 'failed', { stopped: true })]).get('a')?.badge).toBe('stopped')
  })

  it('follow the branch that a condition took', () => {
    const output = { status: 200, message: '', data: {}, metadata: { selectedBranch: 'yes' } }
    const visits = [visit('c', 'completed', { output }), visit('join', 'completed', { fromNodeId: 'other' })]
    const state = (handle: string) => edgeState(edge('c', 'join', handle), edgeStates(visits), nodeStates(visits), true)
    expect(state('yes')).toBe('taken')
    expect(state('no')).toBe('dead')
  })

  it('are active into a node that runs, and dead into one that was skipped', () => {
    const visits = [visit('a', 'completed'), visit('b', 'running', { fromNodeId: 'a' }), visit('c', 'skipped')]
    const state = (target: string) => edgeState(edge('a', target), edgeStates(visits), nodeStates(visits), true)
    expect(state('b')).toBe('active')
    expect(state('c')).toBe('dead')
    expect(state('d')).toBe('idle')
  })
})
