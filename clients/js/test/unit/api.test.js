import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { test } from 'node:test'

import * as client from '../../src/index.js'
import { Api, ApiError, bannerText, RunController } from '../../src/index.js'
import { FakeClock } from '../builders/fake-clock.js'
import { FakeServer, never, ok, RUN } from '../builders/fake-server.js'

function made(answers, options = {}) {
  const server = new FakeServer()
  Object.assign(server.answers, answers)
  return { server, api: new Api({ baseUrl: 'http://server/api/v1/', fetch: server.fetch, ...options }) }
}

test('a run is created and started under one idempotency key', async () => {
  const { server, api } = made({ runs: () => ok({ runId: RUN }), start: () => ok({ runId: RUN }) }, { apiKey: 'key' })
  const controller = await RunController.create('echo', { variables: { topic: '茶' } }, { api, idempotencyKey: 'once' })
  assert.equal(controller.runId, RUN)
  const [created, started] = server.requests
  assert.deepEqual([created.method, created.url], ['POST', 'http://server/api/v1/workflows/echo/runs'])
  assert.deepEqual([created.headers['Idempotency-Key'], created.headers['X-API-Key']], ['once', 'key'])
  assert.equal(created.body, '{"variables":{"topic":"茶"}}')
  assert.equal(started.url, `http://server/api/v1/workflows/echo/runs/${RUN}/start`)
})

test('a run that was started by a repeated request is followed all the same', async () => {
  const refusal = (code) => () => new Response(JSON.stringify({ code, message: 'no', data: null }), { status: 409 })
  const { server, api } = made({ runs: () => ok({ runId: RUN }), start: refusal('RUN_ALREADY_STARTED') })
  assert.equal((await RunController.create('echo', {}, { api, idempotencyKey: 'once' })).runId, RUN)
  server.answers.start = refusal('IDEMPOTENCY_CONFLICT')
  await assert.rejects(RunController.create('echo', {}, { api }), { code: 'IDEMPOTENCY_CONFLICT' })
})

test('files go with their paths, those of a chosen folder too', async () => {
  const { server, api } = made({ runs: () => ok({ runId: RUN }) })
  const chosen = new File(['b'], 'b.md')
  Object.defineProperty(chosen, 'webkitRelativePath', { value: 'folder/b.md' })
  const files = [{ path: 'data/a.csv', content: new Blob(['a']) }, chosen, new File(['c'], 'c.md')]
  await api.createRun('echo', { variables: { x: 1 }, inputs: { y: 2 }, files })
  const [{ body, headers }] = server.requests
  assert.equal(headers['Content-Type'], undefined)
  assert.deepEqual(JSON.parse(body.get('payload')), {
    variables: { x: 1 },
    inputs: { y: 2, uploadedFiles: ['data/a.csv', 'folder/b.md', 'c.md'] },
  })
  assert.deepEqual(await Promise.all(body.getAll('files').map((file) => file.text())), ['a', 'b', 'c'])
})

test('an error has the code, the sentence and the problems of the server', async () => {
  const refusal = { code: 'GRAPH_INVALID', message: 'no output', data: { problems: [{ code: 'X' }] } }
  const { api } = made({ start: () => new Response(JSON.stringify(refusal), { status: 422 }) })
  await assert.rejects(api.startRun('echo', RUN), (error) => {
    assert.deepEqual(
      [error.name, error.code, error.message, error.status],
      ['ApiError', 'GRAPH_INVALID', 'no output', 422],
    )
    assert.deepEqual(error.data, refusal.data)
    return true
  })
})

test('what is no answer of the API is told as trouble on the way', async () => {
  for (const answer of [
    new Response('<html>', { status: 502 }),
    new Response('null', { status: 500 }),
    new Response('<html>'),
  ]) {
    const { api } = made({ state: () => answer })
    await assert.rejects(api.state(RUN), { code: 'NETWORK_ERROR', retryable: true })
  }
})

test('what can go well later is told apart from what cannot', () => {
  const retryable = (status) => new ApiError('X', 'x', { status }).retryable
  assert.deepEqual([0, 429, 500, 503].map(retryable), [true, true, true, true])
  assert.deepEqual([400, 401, 404, 409, 410, 422].map(retryable), [false, false, false, false, false, false])
})

test('an answer that does not come is given up after 30 s', async () => {
  const clock = new FakeClock()
  const { api } = made({ state: never }, { clock })
  const asked = assert.rejects(api.state(RUN), { code: 'NETWORK_ERROR' })
  await clock.advance(30_000)
  await asked
})

test('only what people must know stands in a banner, in both languages', () => {
  assert.deepEqual(
    ['idle', 'connecting', 'live', 'ended', 'refused', 'closed'].map((each) => bannerText(each)),
    Array(6).fill(null),
  )
  assert.equal(bannerText('reconnecting'), '重新连接中...')
  assert.equal(bannerText('polling'), '网络异常，正在降级同步')
  assert.match(bannerText('reconnecting', 'en'), /^Reconnecting/)
  assert.match(bannerText('polling', 'en'), /30 seconds/)
})

test('the types declare exactly what there is', async () => {
  const declared = await readFile(new URL('../../src/index.d.ts', import.meta.url), 'utf-8')
  const names = [...declared.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(names.sort(), Object.keys(client).sort())
})
