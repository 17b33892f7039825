import assert from 'node:assert/strict'
import { test } from 'node:test'

import { VisitStore } from '../../src/index.js'
import { broken, complete, ended, question, recorded, running, stream } from '../builders/events.js'
import { RUN } from '../builders/fake-server.js'

function store(...events) {
  const made = new VisitStore(RUN, { now: () => 1000 })
  events.forEach((event, index) => made.applyEvent(event, index + 1))
  return made
}

const only = (made) => made.run.visits[0]
const call = (name, args) => stream('v', 'tool_call', JSON.stringify(args), { toolName: name, data: args })
const result = (name, content) => stream('v', 'tool_result', content, { toolName: name })
const progress = (name, type) => stream('v', 'tool_progress', '', { toolName: type, data: { name, event_type: type } })
const ask = (id, rest) => stream('v', 'clarify_request', '', { data: question(id, rest) })
const pause = (id, rest) => ({
  ...question(id),
  nodeId: 'node',
  visitUuid: 'v',
  choices: ['1'],
  createdAt: '',
  ...rest,
})
const state = (status, ...pauses) => ({ runId: RUN, status, currentPause: pauses[0] || null, pauses })

test('a visit is named by its first event and ended by its last', () => {
  const made = store(
    running('v'),
    ended('v'),
    recorded('v', 2, { iterSeq: 3, fromVisitUuid: 'u', fromNodeId: 'before' }),
  )
  const visit = only(made)
  assert.deepEqual(
    [
      visit.nodeType,
      visit.nodeName,
      visit.status,
      visit.sortOrder,
      visit.iterSeq,
      visit.fromVisitUuid,
      visit.fromNodeId,
    ],
    ['agent', 'Agent', 'completed', 2, 3, 'u', 'before'],
  )
  assert.deepEqual([visit.output.message, visit.error, visit.variables], ['said', null, { a: 1 }])
  assert.deepEqual([visit.startedAt, visit.endedAt], [1000, 1000])
})

test('a node on a dead path is skipped without ever having run', () => {
  const skipped = ended('v', 'SKIPPED', 'node', { nodeType: 'llm', nodeLabel: 'Not taken', output: null, error: null })
  const visit = only(store(skipped, recorded('v', 1, { status: 'SKIPPED', outputJson: null })))
  assert.deepEqual([visit.status, visit.output, visit.endedAt], ['skipped', null, 1000])
})

test('thinking is appended, the status line and the to-do list are replaced', () => {
  const todos = [{ text: 'read', status: 'pending' }]
  const made = store(
    running('v'),
    stream('v', 'status', 'one'),
    stream('v', 'thinking', 'I '),
    stream('v', 'thinking', 'am'),
    stream('v', 'status', 'two'),
    stream('v', 'step', '{"iteration": 2}', { data: { iteration: 2 } }),
    stream('v', 'todo_update', '[]', { toolName: 'todo', data: [] }),
    stream('v', 'todo_update', JSON.stringify(todos), { toolName: 'todo', data: todos }),
  )
  const { thinking, liveStatus, step, todoList, logs } = only(made)
  assert.deepEqual([thinking, liveStatus, step, todoList], ['I am', 'two', 2, todos])
  assert.deepEqual(
    logs.map(({ type, message }) => [type, message]),
    [
      ['STATUS', 'one'],
      ['THINKING', 'I am'],
      ['STATUS', 'two'],
      ['STEP', ''],
      ['TODO_UPDATE', 'todo'],
      ['TODO_UPDATE', 'todo'],
    ],
  )
  assert.equal(logs[0].timestamp, '1970-01-01T00:00:01.000Z')
})

test('a result belongs to the earliest open call of its name', () => {
  const { toolCalls } = only(
    store(
      running('v'),
      call('search', { q: 1 }),
      call('read', { p: 1 }),
      call('search', { q: 2 }),
      result('search', 'a'),
      result('search', 'b'),
    ),
  )
  assert.deepEqual(
    toolCalls.map(({ toolName, arguments: args, status, result }) => [toolName, args, status, result]),
    [
      ['search', { q: 1 }, 'completed', 'a'],
      ['read', { p: 1 }, 'running', null],
      ['search', { q: 2 }, 'completed', 'b'],
    ],
  )
})

test('a tool that failed is told so, and its result is kept', () => {
  const { toolCalls } = only(
    store(
      running('v'),
      call('search', {}),
      progress('search', 'tool.started'),
      progress('search', 'tool.failed'),
      result('search', 'no'),
    ),
  )
  assert.deepEqual([toolCalls[0].status, toolCalls[0].result], ['failed', 'no'])
})

test('a visit that ends leaves no call and no question open, and no status line', () => {
  const made = store(
    running('v'),
    call('clarify', {}),
    ask('clar-1'),
    stream('v', 'status', 'waits'),
    ended('v', 'FAILED'),
  )
  const visit = only(made)
  assert.deepEqual(
    [visit.toolCalls[0].status, visit.pendingAsk, visit.liveStatus, visit.error],
    ['failed', null, '', 'it broke'],
  )
})

test('the log that the server stored replaces the one that was put together here', () => {
  const logs = [{ type: 'WARN', timestamp: 't', message: 'beware', detail: null }]
  assert.deepEqual(
    only(
      store(
        running('v'),
        stream('v', 'thinking', 'x'),
        ended('v'),
        recorded('v', 1, { logsJson: JSON.stringify(logs) }),
      ),
    ).logs,
    logs,
  )
})

test('where the server had to cut the record, what was streamed stays', () => {
  const cut = recorded('v', 1, { truncated: true, outputJson: null, outputUrl: '/output' })
  const visit = only(
    store(
      running('v'),
      stream('v', 'thinking', 'x'),
      ended('v', 'SUCCESS', 'node', { output: null, outputUrl: '/output' }),
      cut,
    ),
  )
  assert.deepEqual([visit.logs.length, visit.output, visit.outputUrl], [1, null, '/output'])
})

test('an event that was too large to send changes nothing but where to go on', () => {
  const made = store(
    running('v'),
    stream('v', 'step', '{"iter', { truncated: true }),
    stream('v', 'clarify_request', '{', { truncated: true }),
  )
  assert.deepEqual([only(made).step, only(made).asks, made.lastEventId], [0, [], 3])
})

test('visits stand in sortOrder; those that run stand behind them as they came', () => {
  const made = store(
    running('a', 'n1'),
    running('b', 'n2'),
    running('c', 'n3'),
    ended('c'),
    recorded('c', 1),
    ended('a'),
    recorded('a', 2),
  )
  assert.deepEqual(
    made.run.visits.map((visit) => visit.visitUuid),
    ['c', 'a', 'b'],
  )
})

test('further visits of a node are visits of their own, counted', () => {
  const made = store(
    running('a'),
    stream('a', 'thinking', 'one'),
    ended('a'),
    recorded('a', 1),
    running('b'),
    stream('b', 'thinking', 'two'),
  )
  assert.deepEqual(
    made.run.visits.map(({ iterSeq, thinking }) => [iterSeq, thinking]),
    [
      [1, 'one'],
      [2, 'two'],
    ],
  )
})

test('an event counts once, however often and in whatever company it comes again', () => {
  const events = [running('v'), ...Array.from({ length: 1200 }, () => stream('v', 'thinking', 'x'))]
  const made = store(...events)
  events.forEach((event, index) => assert.equal(made.applyEvent(event, index + 1), false))
  assert.equal(only(made).thinking.length, 1200)
  assert.equal(made.lastEventId, 1201)
})

test('an event that was overtaken is still taken', () => {
  const made = new VisitStore(RUN)
  assert.deepEqual(
    [made.applyEvent(running('a'), 2), made.applyEvent(running('b'), 1), made.applyEvent(running('b'), 1)],
    [true, true, false],
  )
})

test('events that are not kept any more are counted', () => {
  const made = new VisitStore(RUN)
  made.applyEvent(stream('v', 'thinking', 'later'), 101)
  made.applyEvent(stream('v', 'thinking', ' still'), 102)
  assert.deepEqual([made.missedEvents, only(made).thinking], [100, 'later still'])
})

test('the run ends with its last event', () => {
  assert.equal(store().run.status, 'idle')
  assert.equal(store(running('v')).run.status, 'running')
  const { run } = store(running('v'), ended('v'), recorded('v', 1), complete())
  assert.deepEqual([run.status, run.output.data, run.workingDirFiles], ['completed', { answer: 42 }, ['report.md']])
})

test('a run that fails stops what still runs', () => {
  const made = store(
    running('a', 'n1'),
    running('b', 'n2'),
    ended('a', 'FAILED', 'n1'),
    recorded('a', 1, { status: 'FAILED', errorMsg: 'it broke' }),
    broken(),
  )
  assert.deepEqual([made.run.status, made.run.error, made.run.failedNodeId], ['failed', 'node x failed', 'node'])
  assert.deepEqual(
    made.run.visits.map(({ status, stopped, error }) => [status, stopped, error]),
    [
      ['failed', false, 'it broke'],
      ['failed', true, null],
    ],
  )
  assert.equal(store(running('a'), broken('CANCELLED')).run.visits[0].error, 'CANCELLED')
})

test('decisions of a planner are a chain, and each visit knows its own', () => {
  const decision = { next: 'node', reason: 'because', isFinal: false }
  const made = store(
    { type: 'planner_decision', decision },
    running('v'),
    ended('v'),
    recorded('v', 1, { decisionJson: JSON.stringify(decision) }),
  )
  assert.deepEqual(made.run.plannerDecisions, [decision])
  assert.deepEqual(only(made).decision, decision)
})

test('a question waits until its answer is told', () => {
  const made = store(running('v'), call('clarify', {}), ask('clar-1'))
  assert.deepEqual(
    made.waiting.map((visit) => visit.pendingAsk.clarifyId),
    ['clar-1'],
  )
  made.applyEvent(result('clarify', '1'), 4)
  assert.deepEqual(made.waiting, [])
  assert.deepEqual([only(made).pendingAsk.submittedValue, only(made).toolCalls[0].result], ['1', '1'])
})

test('several choices are told as a list', () => {
  const made = store(running('v'), ask('clar-1', { multiple: true }), result('clarify', '["1", "2"]'))
  assert.deepEqual(only(made).pendingAsk.submittedValue, ['1', '2'])
  const broken = store(running('v'), ask('clar-1', { multiple: true, allowCustom: true }), result('clarify', '["1'))
  assert.equal(only(broken).pendingAsk.submittedValue, '["1')
})

test('an answer that was given here is kept, and can be taken back', () => {
  const made = store(running('v'), ask('clar-1'))
  made.markAskSubmitted('clar-1', '1')
  assert.deepEqual([made.waiting, only(made).pendingAsk.submittedValue], [[], '1'])
  made.markAskOpen('clar-1')
  assert.equal(made.waiting.length, 1)
  made.markAskSubmitted('clar-1', ['1'])
  made.applyEvent(result('clarify', '["1"]'), 3)
  made.markAskOpen('clar-1')
  assert.deepEqual(only(made).pendingAsk.submittedValue, ['1'])
})

test('the state brings questions whose events have not come yet, once', () => {
  const made = store()
  made.applyStateSnapshot(state('RUNNING', pause('clar-2', { visitUuid: 'w', nodeId: 'other' }), pause('clar-1')))
  assert.deepEqual(
    made.waiting.map((visit) => [visit.nodeId, visit.pendingAsk.clarifyId]),
    [
      ['node', 'clar-1'],
      ['other', 'clar-2'],
    ],
  )
  made.applyEvent(running('v'), 1)
  made.applyEvent(ask('clar-1'), 2)
  assert.equal(made.waiting.length, 2)
  assert.equal(only(made).asks.length, 1)
})

test('a state that is ahead of the events, or behind them, mixes no questions up', () => {
  const ahead = store(running('v'), ask('clar-1'))
  ahead.applyStateSnapshot(state('RUNNING', pause('clar-2')))
  ahead.applyEvent(result('clarify', 'first'), 3)
  ahead.applyEvent(ask('clar-2'), 4)
  assert.deepEqual(
    ahead.waiting.map((visit) => visit.pendingAsk.clarifyId),
    ['clar-2'],
  )
  ahead.applyEvent(result('clarify', 'second'), 5)
  assert.deepEqual(
    only(ahead).asks.map((each) => each.submittedValue),
    ['first', 'second'],
  )

  const behind = store(running('v'), ask('clar-1'), result('clarify', '1'), ask('clar-2'))
  behind.applyStateSnapshot(state('RUNNING', pause('clar-1')))
  assert.deepEqual(
    behind.waiting.map((visit) => visit.pendingAsk.clarifyId),
    ['clar-2'],
  )
  const over = store(running('v'), ask('clar-1'), result('clarify', '1'), ended('v'), complete())
  over.applyStateSnapshot(state('RUNNING', pause('clar-1'), pause('clar-9')))
  assert.deepEqual([over.waiting, over.run.status, only(over).asks.length], [[], 'completed', 1])
})

test('a state tells the status of a run whose events have yet to come', () => {
  for (const [told, status] of Object.entries({
    CREATED: 'idle',
    RUNNING: 'running',
    SUCCESS: 'completed',
    FAILED: 'failed',
  })) {
    const made = store()
    made.applyStateSnapshot(state(told))
    assert.equal(made.run.status, status)
  }
})

test('the result brings the times, before the events as well as after them', () => {
  const times = { startedAt: '2026-07-01T08:30:00Z', completedAt: '2026-07-01T08:30:05Z' }
  const visits = [
    { visitUuid: 'v', iterSeq: 1, sortOrder: 1, fromNodeId: 'in', status: 'SUCCESS', error: null, ...times },
  ]
  const node = {
    nodeId: 'node',
    nodeType: 'agent',
    label: 'Agent',
    output: { status: 200, message: 'said', data: {} },
    visits,
  }
  const result = { ...times, nodes: [node] }
  const events = [
    running('v'),
    stream('v', 'thinking', 'x'),
    call('a', {}),
    ended('v'),
    recorded('v', 1, { fromNodeId: 'in' }),
    complete(),
  ]
  const before = store()
  before.applyResult(result)
  assert.deepEqual([only(before).status, only(before).output.message], ['completed', 'said'])
  events.forEach((event, index) => before.applyEvent(event, index + 1))
  const after = store(...events)
  after.applyResult(result)
  for (const made of [before, after]) {
    const { startedAt, endedAt, thinking, status, toolCalls } = only(made)
    assert.deepEqual([endedAt - startedAt, thinking, status, toolCalls.length], [5000, 'x', 'completed', 1])
  }
  assert.equal(after.run.endedAt - after.run.startedAt, 5000)
})

test('a result that is older than the events ends nothing and begins nothing again', () => {
  const made = store(running('v'), ended('v'), recorded('v', 1))
  const told = {
    visitUuid: 'v',
    iterSeq: 1,
    sortOrder: null,
    fromNodeId: null,
    status: 'RUNNING',
    error: null,
    startedAt: null,
    completedAt: null,
  }
  made.applyResult({
    startedAt: null,
    completedAt: null,
    nodes: [{ nodeId: 'node', nodeType: 'agent', label: 'Agent', output: null, visits: [told] }],
  })
  assert.deepEqual([only(made).status, only(made).sortOrder, only(made).output.message], ['completed', 1, 'said'])
})

test('states are values: an older one stays as it was, and what has not changed is shared', () => {
  const made = store(running('a', 'n1'), running('b', 'n2'))
  const { run } = made
  made.applyEvent(stream('a', 'thinking', 'x'), 3)
  assert.equal(run.visits[0].thinking, '')
  assert.equal(made.run.visits[0].thinking, 'x')
  assert.equal(made.run.visits[1], run.visits[1])
})

test('5,000 events of 200 visits are taken', () => {
  const visits = Array.from({ length: 200 }, (_, index) => `v${index}`)
  const events = visits.flatMap((uuid) => [
    running(uuid, uuid),
    ...Array.from({ length: 22 }, (_, index) => stream(uuid, 'thinking', `word ${index} `)),
    ended(uuid),
    recorded(uuid, Number(uuid.slice(1)) + 1, { nodeId: uuid }),
  ])
  const began = performance.now()
  const made = store(...events)
  console.log(`5,000 events in ${Math.round(performance.now() - began)} ms`)
  assert.equal(events.length, 5000)
  assert.equal(made.run.visits.length, 200)
  assert.ok(made.run.visits.every((visit) => visit.status === 'completed' && visit.thinking.length > 150))
})
