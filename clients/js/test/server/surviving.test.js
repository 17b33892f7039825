import assert from 'node:assert/strict'
import { test } from 'node:test'

import {
  asHistory,
  controllerOf,
  eventsOf,
  history,
  order,
  save,
  scripted,
  started,
  undisturbed,
  until,
} from '../builders/server.js'

const input = { type: 'userInput' }
const output = { type: 'output' }
const WORDS = 20
const slow = scripted('llm', [
  Array.from({ length: WORDS }, (_, index) => [{ text: `${index} ` }, { delayMs: 110 }]).flat(),
])

const slowly = () =>
  save({ in: input, slow, out: output }, [
    ['in', 'slow'],
    ['slow', 'out'],
  ])

function banners(runId, options = {}) {
  const told = []
  const controller = controllerOf(runId, { ...options, onBannerChange: (_, connection) => told.push(connection) })
  return { controller, told }
}

async function isWhole(runId, controller) {
  const { store } = controller
  const events = await eventsOf(runId)
  assert.deepEqual([store.run.status, store.lastEventId, store.missedEvents], ['completed', events.length, 0])
  assert.equal(store.run.visits[1].thinking, Array.from({ length: WORDS }, (_, index) => `${index} `).join(''))
  assert.deepEqual(asHistory(store), await history(runId))
  assert.deepEqual(asHistory(store), asHistory(undisturbed(runId, events)))
}

test('a server that is stopped and started again in the middle of a run costs nothing', async () => {
  const runId = await started(await slowly())
  const { controller, told } = banners(runId)
  const over = controller.start()
  for (let stop = 0; stop < 2; stop += 1) {
    const seen = controller.store.lastEventId
    await until(controller, ({ store }) => store.lastEventId > seen + 1)
    await order('stop')
    await until(controller, ({ connection }) => connection !== 'live')
    await order('start')
    await until(controller, ({ connection }) => connection === 'live')
  }
  await over
  assert.deepEqual(told.slice(0, 3), ['connecting', 'live', 'reconnecting'])
  assert.deepEqual(told.slice(-2), ['live', 'ended'])
  await isWhole(runId, controller)
})

test('a server that stays away is polled, and the run is followed when it is back', async () => {
  const runId = await started(await slowly())
  const hastier = { now: () => Date.now() * 50, setTimeout: (call, ms) => setTimeout(call, ms / 50), clearTimeout }
  const { controller, told } = banners(runId, { clock: hastier })
  const over = controller.start()
  await until(controller, ({ store }) => store.lastEventId > 1)
  await order('stop')
  await until(controller, ({ connection }) => connection === 'polling')
  await order('start')
  await over
  assert.equal(told.pop(), 'ended')
  await isWhole(runId, controller)
})

test('where no stream comes through, polling alone brings the whole run', async () => {
  const runId = await started(await slowly())
  const hastier = { now: () => Date.now() * 200, setTimeout: (call, ms) => setTimeout(call, ms / 200), clearTimeout }
  const streamless = (url, init) =>
    url.endsWith('/stream') ? Promise.reject(new TypeError('blocked')) : fetch(url, init)
  const { controller, told } = banners(runId, { clock: hastier, fetch: streamless })
  await controller.start()
  assert.deepEqual(told, ['connecting', 'reconnecting', 'polling', 'ended'])
  await isWhole(runId, controller)
})

test('who comes in the middle, or after the end, sees everything', async () => {
  const runId = await started(await slowly())
  const first = controllerOf(runId)
  const over = first.start()
  await until(first, ({ store }) => store.lastEventId > 4)
  const second = controllerOf(runId)
  await Promise.all([over, second.start()])
  await isWhole(runId, second)
  const late = controllerOf(runId)
  await late.start()
  await isWhole(runId, late)
})

test('a client that goes away stops nothing', async () => {
  const runId = await started(await slowly())
  const controller = controllerOf(runId)
  controller.start()
  await until(controller, ({ store }) => store.lastEventId > 3)
  controller.destroy()
  const other = controllerOf(runId)
  await other.start()
  await isWhole(runId, other)
})
