import assert from 'node:assert/strict'
import { test } from 'node:test'

import { isEnvelope, nodeOutputMessage, nodeOutputStatus, unwrapNodeOutput } from '../../src/index.js'

const good = { status: 200, message: 'well', data: { answer: 42 } }
const bad = { status: 400, message: 'it broke', data: {} }

test('an envelope has both status and data', () => {
  assert.equal(isEnvelope(good), true)
  for (const other of [null, undefined, '', 'x', 1, [], { status: 200 }, { data: 1 }])
    assert.equal(isEnvelope(other), false)
})

test('an output is unwrapped to its data, a failure to its message', () => {
  assert.deepEqual(unwrapNodeOutput(good), { answer: 42 })
  assert.equal(unwrapNodeOutput(bad), 'it broke')
  assert.equal(unwrapNodeOutput({ status: 400, message: '', data: {} }), '执行失败')
  assert.equal(unwrapNodeOutput({ status: '400', message: 'text', data: 1 }), 'text')
  assert.equal(unwrapNodeOutput({ status: 200, message: 'nothing', data: null }), 'nothing')
  assert.equal(unwrapNodeOutput({ status: 200, data: null }), '')
  assert.equal(unwrapNodeOutput({ status: 200, message: '', data: 0 }), 0)
})

test('what is no envelope is shown as it is', () => {
  assert.equal(unwrapNodeOutput(null), '')
  assert.equal(unwrapNodeOutput(7), '7')
  assert.deepEqual(unwrapNodeOutput({ a: 1 }), { a: 1 })
  assert.equal(nodeOutputStatus({ a: 1 }), 'completed')
  assert.equal(nodeOutputMessage({ a: 1 }), '')
})

test('status and message are those of the envelope', () => {
  assert.equal(nodeOutputStatus(good), 'completed')
  assert.equal(nodeOutputStatus(bad), 'failed')
  assert.equal(nodeOutputMessage(good), 'well')
  assert.equal(nodeOutputMessage(bad), 'it broke')
  assert.equal(nodeOutputMessage({ status: 200, data: 1 }), '')
})
