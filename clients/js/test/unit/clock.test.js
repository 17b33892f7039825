import assert from 'node:assert/strict'
import { getEventListeners } from 'node:events'
import { test } from 'node:test'

import { sleep, watch } from '../../src/clock.js'
import { FakeClock } from '../builders/fake-clock.js'

const listeners = (signal) => getEventListeners(signal, 'abort').length

test('a sleep ends in its time, or at once when it is broken off', async () => {
  const clock = new FakeClock()
  const { signal, abort } = controls()
  let slept = 0
  sleep(clock, 1000, signal).then(() => (slept += 1))
  await clock.advance(999)
  assert.equal(slept, 0)
  await clock.advance(1)
  assert.deepEqual([slept, listeners(signal), clock.timers.size], [1, 0, 0])
  const second = sleep(clock, 1000, signal)
  abort()
  await second
  await sleep(clock, 1000, signal)
  assert.deepEqual([listeners(signal), clock.timers.size], [0, 0])
})

test('a watch gives up where nobody says that it lives, and leaves nothing behind', async () => {
  const clock = new FakeClock()
  const { signal } = controls()
  const watched = watch(clock, signal)
  watched.alive(1000)
  await clock.advance(900)
  watched.alive(1000)
  await clock.advance(999)
  assert.equal(watched.signal.aborted, false)
  await clock.advance(1)
  assert.equal(watched.signal.aborted, true)
  watched.end()
  assert.deepEqual([listeners(signal), clock.timers.size, signal.aborted], [0, 0, false])
})

test('a watch is broken off together with what it belongs to', () => {
  const { signal, abort } = controls()
  const watched = watch(new FakeClock(), signal)
  abort()
  assert.equal(watched.signal.aborted, true)
  assert.equal(watch(new FakeClock(), signal).signal.aborted, true)
})

function controls() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}
