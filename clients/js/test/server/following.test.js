import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { EventStreamParser } from '../../src/index.js'
import {
  api,
  asHistory,
  controllerOf,
  eventsOf,
  history,
  order,
  save,
  scripted,
  started,
  undisturbed,
} from '../builders/server.js'

const TODO = [{ text: 'look', status: 'in_progress' }]
const agent = scripted(
  'agent',
  [
    [
      { thinking: '先想一想 🍵 ' },
      { todo: TODO },
      { tool: { name: 'write_file', args: { path: 'a.md', content: '茶' } } },
    ],
    [
      { tool: { name: 'read_file', args: { path: 'a.md' } } },
      { tool: { name: 'read_file', args: { path: 'none.md' } } },
    ],
    [{ thinking: 'so ' }, { text: 'done' }],
  ],
  { label: 'Agent', tools: ['todo', 'read_file', 'write_file'] },
)
const BRANCHES = {
  type: 'condition',
  branches: [{ id: 'yes', logic: 'AND', conditions: [{ left: '{{topic}}', operator: 'eq', right: 'tea' }] }],
  elseBranch: 'no',
}
const decide = (next, reason, isFinal = false) => [{ decide: { next, reason, isFinal } }]
const input = { type: 'userInput', variables: [{ name: 'topic', type: 'string' }] }
const output = { type: 'output' }

const WORKFLOWS = {
  'an agent with tools': () =>
    save({ in: input, work: agent, out: output }, [
      ['in', 'work'],
      ['work', 'out'],
    ]),
  'a condition with a branch that is not taken': () =>
    save(
      {
        in: input,
        which: BRANCHES,
        yes: scripted('llm', [[{ text: 'yes' }]]),
        no: scripted('llm', [[{ text: 'no' }]]),
        out: output,
      },
      [
        ['in', 'which'],
        ['which', 'yes', 'yes'],
        ['which', 'no', 'no'],
        ['yes', 'out'],
        ['no', 'out'],
      ],
    ),
  'a node that fails and is passed over': () =>
    save(
      {
        in: input,
        bad: scripted('llm', [[{ thinking: 'hm' }, { error: 'no luck' }]], { failStrategy: 'skip' }),
        out: output,
      },
      [
        ['in', 'bad'],
        ['bad', 'out'],
      ],
    ),
  'a run that fails': () =>
    save({ in: input, bad: scripted('llm', [[{ error: 'no luck' }]]), out: output }, [
      ['in', 'bad'],
      ['bad', 'out'],
    ]),
  'a planner that comes back': () =>
    save(
      {
        in: input,
        search: scripted('llm', [[{ text: 'found' }]]),
        judge: scripted('llm', [[{ text: 'more' }]]),
        out: output,
      },
      [
        ['in', 'search'],
        ['search', 'judge'],
        ['judge', 'out'],
      ],
      {
        mode: 'AGENTIC',
        planner: {
          model: 'scripted:inline',
          instructions: 'until good',
          script: [
            decide('search', 'first'),
            decide('judge', 'then'),
            decide('search', 'again'),
            decide('out', 'good', true),
          ],
        },
      },
    ),
}

for (const live of [true, false]) {
  describe(live ? 'over a server that holds streams' : 'over a gateway that buffers', () => {
    before(() => order('stop').then(() => order('start', { live })))
    after(() => order('stop').then(() => order('start')))
    for (const [name, workflow] of Object.entries(WORKFLOWS)) {
      test(`${name}: what was followed is what the history has`, async () => {
        const runId = await started(await workflow(), { topic: 'tea' })
        const controller = controllerOf(runId)
        await controller.start()
        assert.equal(controller.connection, 'ended')
        assert.deepEqual(asHistory(controller.store), await history(runId))
      })
    }
  })
}

test('the log and the tools of a visit that runs are what will be stored of it', async () => {
  const runId = await started(await WORKFLOWS['an agent with tools']())
  await controllerOf(runId).start()
  const events = await eventsOf(runId)
  const alive = undisturbed(
    runId,
    events.filter(({ type, data }) => type === 'node_stream' || data.status === 'RUNNING'),
  )
  const [stored] = (await history(runId)).filter(({ nodeId }) => nodeId === 'work')
  const [visit] = alive.run.visits.filter(({ nodeId }) => nodeId === 'work')
  const told = ({ type, message, detail }) => [type, type === 'STEP' ? '' : message, detail]
  assert.deepEqual(visit.logs.map(told), stored.logs.map(told))
  assert.equal(visit.thinking, '先想一想 🍵 so done')
  assert.deepEqual(visit.todoList, TODO)
  assert.deepEqual(
    visit.toolCalls.map(({ toolName, status }) => [toolName, status]),
    [
      ['todo', 'completed'],
      ['write_file', 'completed'],
      ['read_file', 'completed'],
      ['read_file', 'failed'],
    ],
  )
  assert.deepEqual(visit.toolCalls[1].arguments, { path: 'a.md', content: '茶' })
})

test('decisions of a planner are told in their order', async () => {
  const runId = await started(await WORKFLOWS['a planner that comes back']())
  const { plannerDecisions, visits } = await controllerOf(runId).start()
  assert.deepEqual(
    plannerDecisions.map(({ next, reason }) => [next, reason]),
    [
      ['search', 'first'],
      ['judge', 'then'],
      ['search', 'again'],
      ['out', 'good'],
    ],
  )
  assert.deepEqual(
    visits.map(({ nodeId, iterSeq }) => [nodeId, iterSeq]),
    [
      ['in', 1],
      ['search', 1],
      ['judge', 1],
      ['search', 2],
      ['out', 1],
    ],
  )
})

test('a run that is cut short tells which visits were', async () => {
  const slow = scripted('llm', [[{ text: 'a' }, { delayMs: 300 }, { text: 'b' }]])
  const workflow = await save({ in: input, slow, out: output }, [
    ['in', 'slow'],
    ['slow', 'out'],
  ])
  const runId = await started(workflow)
  const controller = controllerOf(runId, {
    onStateChange: ({ run }) => {
      if (run.status === 'running' && run.visits.some(({ nodeId }) => nodeId === 'slow'))
        controller.cancel().catch(() => {})
    },
  })
  const run = await controller.start()
  assert.deepEqual([run.status, run.error], ['failed', 'CANCELLED'])
  const [visit] = run.visits.filter(({ nodeId }) => nodeId === 'slow')
  assert.deepEqual([visit.status, visit.stopped, visit.error], ['failed', true, 'CANCELLED'])
})

test('a stream that is cut at any event boundary, or at all of them, gives the same as one that is not', async () => {
  const runId = await started(await WORKFLOWS['an agent with tools']())
  await controllerOf(runId).start()
  const events = await eventsOf(runId)
  const expected = undisturbed(runId, events)
  const frozen = {
    now: () => 0,
    setTimeout: (call, ms) => setTimeout(call, ms < 30_000 ? ms / 1000 : ms),
    clearTimeout,
  }
  const boundaries = events.slice(0, -1).map(({ id }) => id)
  for (const cuts of [...boundaries.map((id) => [id]), boundaries]) {
    const cut = cutting(cuts)
    const controller = controllerOf(runId, { clock: frozen, fetch: cut.fetch })
    await controller.start()
    assert.deepEqual(cut.left, [])
    assert.deepEqual(
      { ...controller.store.run, startedAt: 0, endedAt: 0 },
      { ...expected.run, startedAt: 0, endedAt: 0 },
    )
    assert.deepEqual([controller.store.lastEventId, controller.store.missedEvents], [events.length, 0])
  }
})

test('a run whose events have expired is shown out of its result', async () => {
  const workflow = await WORKFLOWS['a planner that comes back']()
  const runId = await started(workflow)
  const before = await controllerOf(runId, { workflow }).start()
  await order('forward', { hours: 26 })
  const controller = controllerOf(runId, { workflow })
  const run = await controller.start()
  assert.deepEqual([run.status, run.output], ['completed', before.output])
  const told = ({ nodeId, nodeType, nodeName, status, sortOrder, startedAt, endedAt }) => [
    nodeId,
    nodeType,
    nodeName,
    status,
    sortOrder,
    startedAt,
    endedAt,
  ]
  assert.deepEqual(controller.store.run.visits.map(told), before.visits.map(told))
  assert.ok(controller.store.missedEvents > 10)
})

test('what the server refuses is told as it tells it', async () => {
  await assert.rejects(controllerOf('ffffffff').start(), { code: 'RUN_NOT_FOUND', status: 404, message: /ffffffff/ })
  await assert.rejects(controllerOf('ffffffff', { apiKey: 'wrong' }).start(), { code: 'UNAUTHORIZED', status: 401 })
})

test('files go along under their paths', async () => {
  const reader = scripted('agent', [[{ tool: { name: 'list_files', args: {} } }], [{ text: '$tool' }]], {
    tools: ['list_files'],
  })
  const workflow = await save({ in: input, list: reader, out: output }, [
    ['in', 'list'],
    ['list', 'out'],
  ])
  const files = [{ path: 'data/茶.csv', content: new Blob(['a']) }, new File(['b'], 'b.md')]
  const { runId } = await api.createRun(workflow, { files })
  await api.startRun(workflow, runId)
  const run = await controllerOf(runId).start()
  assert.match(run.output.data.result, /data\/茶\.csv.*|b\.md/)
  assert.deepEqual([...run.workingDirFiles].sort(), ['b.md', 'data/茶.csv'])
})

/** A `fetch` that breaks a stream right behind each event of `ids`, once. */
function cutting(ids) {
  const left = [...ids]
  return {
    left,
    async fetch(url, init) {
      const response = await fetch(url, init)
      if (!url.endsWith('/stream') || response.body === null) return response
      const parser = new EventStreamParser()
      const reader = response.body.getReader()
      let isCut = false
      const body = new ReadableStream({
        async pull(controller) {
          if (isCut) {
            await reader.cancel()
            return controller.error(new TypeError('terminated'))
          }
          const { done, value } = await reader.read()
          if (done) return controller.close()
          const end = [...value.keys()].find((at) => {
            const [message] = parser.feed(value.subarray(at, at + 1))
            const place = message === undefined ? -1 : left.indexOf(Number(message.id))
            if (place >= 0) left.splice(place, 1)
            return place >= 0
          })
          isCut = end !== undefined
          controller.enqueue(isCut ? value.subarray(0, end + 1) : value)
        },
      })
      return new Response(body, { headers: response.headers })
    },
  }
}
