import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ApiError, RunController } from '../../src/index.js'
import { broken, complete, ended, question, recorded, running, stream } from '../builders/events.js'
import { FakeClock, settled } from '../builders/fake-clock.js'
import {
  FakeServer,
  never,
  ok,
  openStream,
  refused,
  RUN,
  told,
  unreachable,
  wholeStream,
} from '../builders/fake-server.js'

const EVENTS = [running('v'), stream('v', 'thinking', 'hm'), ended('v'), recorded('v', 1), complete()]

/** A controller over a server that is played, with what it has told. */
function follow(options = {}) {
  const server = new FakeServer()
  const clock = new FakeClock()
  const heard = { states: [], banners: [], connections: [] }
  const controller = new RunController(RUN, {
    baseUrl: 'http://server/api/v1',
    apiKey: 'key',
    clock,
    fetch: server.fetch,
    onStateChange: (store) => heard.states.push(store.run.status),
    onBannerChange: (text, connection) => {
      heard.banners.push(text)
      heard.connections.push(connection)
    },
    ...options,
  })
  return { server, clock, controller, heard }
}

/** Streams that a test holds in its hands, in the order in which they were asked for. */
function held(server) {
  const streams = []
  server.answers.stream = (init) => {
    streams.push(openStream(init))
    return streams[streams.length - 1].response
  }
  return streams
}

test('a run is followed from its state to its last event', async () => {
  const { server, controller, heard } = follow()
  server.answers.stream = () => wholeStream(told(EVENTS))
  const run = await controller.start()
  assert.equal(run.status, 'completed')
  assert.deepEqual(
    server.requests.map(({ name }) => name),
    ['state', 'stream'],
  )
  assert.equal(server.asked('stream')[0].after, undefined)
  assert.deepEqual(heard.connections, ['connecting', 'live', 'ended'])
  assert.deepEqual(heard.banners, [null, null, null])
  assert.equal(await controller.start(), run)
  assert.equal(server.requests.length, 2)
})

test('every request carries the credential as it is at that moment, and the language', async () => {
  let tokens = 0
  const { server, controller } = follow({ viewToken: () => `token-${(tokens += 1)}`, language: 'en' })
  server.answers.stream = () => wholeStream(told(EVENTS))
  await controller.start()
  assert.deepEqual(
    server.requests.map(({ headers }) => headers['X-View-Token']),
    ['token-1', 'token-2'],
  )
  assert.deepEqual(
    server.requests.map(({ headers }) => headers['Accept-Language']),
    ['en', 'en'],
  )
  assert.ok(server.requests.every(({ headers, url }) => headers['X-API-Key'] === undefined && !url.includes('token')))
})

test('a stream that is cut goes on after the last event', async () => {
  const { server, clock, controller, heard } = follow()
  const streams = held(server)
  const over = controller.start()
  await settled()
  await streams[0].tell(told(EVENTS.slice(0, 2)))
  assert.equal(controller.store.run.visits[0].thinking, 'hm')
  await streams[0].cut()
  assert.equal(controller.connection, 'reconnecting')
  assert.equal(heard.banners.pop(), '重新连接中...')
  await clock.advance(999)
  assert.equal(streams.length, 1)
  await clock.advance(1)
  assert.equal(controller.connection, 'live')
  assert.equal(server.asked('stream')[1].after, '2')
  await streams[1].tell(told(EVENTS.slice(1), 2))
  assert.equal((await over).status, 'completed')
  assert.equal(controller.store.run.visits[0].thinking, 'hm')
})

test('a lost server is tried after 1, 2, 4, 8, 16 s, then polled every 30 s until a stream stands', async () => {
  const { server, clock, controller, heard } = follow()
  const tried = []
  server.answers.stream = () => {
    tried.push(clock.time)
    return unreachable()
  }
  server.answers.state = server.answers.events = unreachable
  const over = controller.start()
  await clock.advance(31_000 + 95_000)
  assert.deepEqual(tried, [0, 1000, 3000, 7000, 15_000, 31_000, 61_000, 91_000, 121_000])
  assert.equal(server.asked('state').length, 5)
  assert.deepEqual(heard.connections, ['connecting', 'reconnecting', 'polling'])
  assert.equal(heard.banners[2], '网络异常，正在降级同步')
  server.answers.stream = () => wholeStream(told(EVENTS))
  await clock.advance(30_000)
  await over
  assert.deepEqual(heard.connections.slice(3), ['live', 'ended'])
})

test('while polled, what happens is seen by pages, and the end ends it', async () => {
  const { server, clock, controller } = follow()
  const pages = [
    {
      events: EVENTS.slice(0, 1).map((data, index) => ({ id: index + 1, type: data.type, data })),
      lastId: 1,
      done: false,
    },
    { events: [], lastId: 1, done: false },
    { events: EVENTS.slice(1).map((data, index) => ({ id: index + 2, type: data.type, data })), lastId: 5, done: true },
  ]
  server.answers.stream = unreachable
  server.answers.events = () => ok(pages.shift())
  const over = controller.start()
  await clock.advance(31_000)
  assert.deepEqual([controller.connection, controller.store.lastEventId], ['polling', 1])
  await clock.advance(30_000)
  assert.equal((await over).status, 'completed')
  assert.deepEqual(
    server.asked('events').map(({ url }) => new URL(url).searchParams.get('after')),
    ['0', '1', '1'],
  )
  assert.equal(controller.connection, 'ended')
  assert.equal(clock.timers.size, 0)
})

test('failures count from the last sign of life', async () => {
  const { server, clock, controller } = follow()
  const streams = held(server)
  controller.start()
  await settled()
  for (let round = 0; round < 8; round += 1) {
    await streams[round].tell(':keep-alive\n\n')
    await streams[round].cut()
    await clock.advance(1000)
    assert.equal(controller.connection, 'live')
  }
  await streams[8].cut()
  await clock.advance(1999)
  assert.equal(streams.length, 9)
  await clock.advance(1)
  assert.equal(streams.length, 10)
  controller.destroy()
})

test('a gateway that answers in pieces is asked again after its retry, and nobody is alarmed', async () => {
  const { server, clock, controller, heard } = follow()
  const answers = [
    wholeStream(`retry: 200\n\n${told(EVENTS.slice(0, 3))}`),
    wholeStream('retry: 200\n\n:nothing yet\n\n'),
    wholeStream(told(EVENTS.slice(3), 4)),
  ]
  server.answers.stream = () => answers.shift()
  const over = controller.start()
  await clock.advance(199)
  assert.equal(server.asked('stream').length, 1)
  await clock.advance(201)
  await over
  assert.deepEqual(
    server.asked('stream').map(({ after }) => after),
    [undefined, '3', '3'],
  )
  assert.deepEqual(heard.connections, ['connecting', 'live', 'ended'])
})

test('an answer that is empty is no stream', async () => {
  const { server, clock, controller } = follow()
  server.answers.stream = () => wholeStream('')
  controller.start()
  await settled()
  assert.equal(controller.connection, 'reconnecting')
  server.answers.stream = () => new Response('<html>', { headers: { 'Content-Type': 'text/html' } })
  await clock.advance(1000)
  assert.equal(controller.connection, 'reconnecting')
  await clock.advance(1999)
  assert.equal(server.asked('stream').length, 2)
  controller.destroy()
})

test('a stream without a sign of life for 75 s is given up; one that beats is not', async () => {
  const { server, clock, controller } = follow()
  const streams = held(server)
  controller.start()
  await settled()
  for (let beat = 0; beat < 5; beat += 1) {
    await clock.advance(30_000)
    await streams[0].tell(':keep-alive\n\n')
  }
  await clock.advance(74_999)
  assert.equal(controller.connection, 'live')
  await clock.advance(1)
  assert.equal(controller.connection, 'reconnecting')
  controller.destroy()
})

test('a connection that never opens is given up', async () => {
  const { server, clock, controller } = follow()
  server.answers.stream = never
  controller.start()
  await clock.advance(40_000)
  assert.equal(controller.connection, 'reconnecting')
  controller.destroy()
})

test('where nothing follows (204), the state tells the end', async () => {
  const { server, clock, controller, heard } = follow()
  server.answers.stream = () => new Response(null, { status: 204 })
  server.answers.state = unreachable
  const over = controller.start()
  await settled()
  assert.equal(controller.connection, 'reconnecting')
  server.answers.state = () => ok({ runId: RUN, status: 'FAILED', currentPause: null, pauses: [] })
  await clock.advance(1000)
  assert.equal((await over).status, 'failed')
  assert.deepEqual(heard.connections, ['connecting', 'live', 'reconnecting', 'live', 'ended'])
})

test('a refusal ends the following, with the sentence of the server', async () => {
  const { server, controller, heard } = follow()
  server.answers.stream = () => refused(404, 'RUN_NOT_FOUND', { 'X-Request-Id': 'req-1' })
  await assert.rejects(controller.start(), (error) => {
    assert.ok(error instanceof ApiError)
    assert.deepEqual(
      [error.code, error.status, error.message, error.requestId, error.retryable],
      ['RUN_NOT_FOUND', 404, 'it is RUN_NOT_FOUND', 'req-1', false],
    )
    return true
  })
  assert.equal(heard.connections.pop(), 'refused')
  server.answers.stream = () => wholeStream(told(EVENTS))
  assert.equal((await controller.start()).status, 'completed')
})

test('a busy server is left alone for as long as it asks', async () => {
  const { server, clock, controller } = follow()
  server.answers.stream = () => refused(429, 'RATE_LIMITED', { 'Retry-After': '7' })
  const over = controller.start()
  await settled()
  server.answers.stream = () => wholeStream(told(EVENTS))
  await clock.advance(6999)
  assert.equal(server.asked('stream').length, 1)
  await clock.advance(1)
  await over
})

test('an event that was broken on its way is asked for again', async () => {
  const { server, clock, controller } = follow()
  const answers = [
    wholeStream(`${told(EVENTS.slice(0, 1))}id: 2\ndata: {"type":\n\n`),
    wholeStream(told(EVENTS.slice(1), 2)),
  ]
  server.answers.stream = () => answers.shift()
  const over = controller.start()
  await clock.advance(1000)
  assert.equal((await over).status, 'completed')
  assert.equal(server.asked('stream')[1].after, '1')
})

test('a message without an id is not of the log', async () => {
  const { server, controller } = follow()
  server.answers.stream = () => wholeStream(`data: {"type":"workflow_error"}\n\n${told(EVENTS)}`)
  assert.equal((await controller.start()).status, 'completed')
})

test('an error in the page is the page’s, not a broken connection', async () => {
  const { server, controller } = follow({
    onStateChange: (store) => {
      if (store.lastEventId > 0) throw new RangeError('the page broke')
    },
  })
  server.answers.stream = () => wholeStream(told(EVENTS))
  await assert.rejects(controller.start(), RangeError)
})

test('a question is answered, and at once nobody can answer it again', async () => {
  const { server, controller } = follow()
  const streams = held(server)
  controller.start()
  await settled()
  await streams[0].tell(told([running('v'), stream('v', 'clarify_request', '', { data: question('clar-1') })]))
  let answer
  server.answers.resume = () => new Promise((resolve) => (answer = resolve))
  const sent = controller.submitAsk('clar-1', '1')
  await settled()
  assert.deepEqual(controller.store.waiting, [])
  answer(ok({ accepted: true, runId: RUN, clarifyId: 'clar-1' }))
  await sent
  assert.equal(server.asked('resume')[0].body, '{"clarifyId":"clar-1","answer":"1"}')
  controller.destroy()
})

test('an answer that somebody else has given counts; one that did not arrive does not', async () => {
  const { server, controller } = follow()
  const streams = held(server)
  controller.start()
  await settled()
  await streams[0].tell(told([running('v'), stream('v', 'clarify_request', '', { data: question('clar-1') })]))
  server.answers.resume = unreachable
  await assert.rejects(controller.submitAsk('clar-1', '1'), { code: 'NETWORK_ERROR', retryable: true })
  assert.equal(controller.store.waiting.length, 1)
  server.answers.resume = () => refused(409, 'CLARIFY_ALREADY_ANSWERED')
  await controller.submitAsk('clar-1', '1')
  assert.deepEqual(controller.store.waiting, [])
  controller.destroy()
})

test('who goes away leaves nothing behind', async () => {
  for (const moment of ['connecting', 'live', 'reconnecting', 'polling']) {
    const { server, clock, controller, heard } = follow()
    if (moment === 'connecting') server.answers.state = never
    if (moment === 'live') held(server)
    else server.answers.stream = server.answers.events = unreachable
    const over = controller.start()
    await clock.advance(moment === 'polling' ? 40_000 : 10)
    assert.equal(controller.connection, moment)
    controller.destroy()
    await over
    assert.equal(heard.connections.pop(), 'closed')
    const asked = server.requests.length
    await clock.advance(100_000)
    assert.equal(server.requests.length, asked)
    assert.equal(clock.timers.size, 0)
  }
})

test('with the workflow known, times come from the server', async () => {
  const { server, controller } = follow({ workflow: 'my workflow' })
  const times = { startedAt: '2026-07-01T08:30:00Z', completedAt: '2026-07-01T08:30:05Z' }
  const visits = [
    { visitUuid: 'v', iterSeq: 1, sortOrder: 1, fromNodeId: null, status: 'SUCCESS', error: null, ...times },
  ]
  server.answers.result = () =>
    ok({ ...times, nodes: [{ nodeId: 'node', nodeType: 'agent', label: 'Agent', output: null, visits }] })
  server.answers.stream = () => wholeStream(told(EVENTS))
  const run = await controller.start()
  assert.equal(run.visits[0].endedAt - run.visits[0].startedAt, 5000)
  assert.ok(server.asked('result')[0].url.endsWith(`/workflows/my%20workflow/runs/${RUN}`))
})

test('a token that expires while the stream stands costs nothing but times', async () => {
  const { server, controller } = follow({ workflow: 'echo' })
  server.answers.result = () => ok({ startedAt: null, completedAt: null, nodes: [] })
  server.answers.stream = () => {
    server.answers.state = () => refused(401, 'UNAUTHORIZED')
    return wholeStream(told(EVENTS))
  }
  assert.equal((await controller.start()).status, 'completed')
  assert.equal(controller.connection, 'ended')
})

test('a run that fails ends as well as one that does not', async () => {
  const { server, controller } = follow()
  server.answers.stream = () => wholeStream(told([running('v'), broken('CANCELLED')]))
  const run = await controller.start()
  assert.deepEqual([run.status, run.error, controller.connection], ['failed', 'CANCELLED', 'ended'])
})
