import assert from 'node:assert/strict'
import { test } from 'node:test'

import { EventStreamParser } from '../../src/index.js'

const bytes = (text) => new TextEncoder().encode(text)

function read(...pieces) {
  const parser = new EventStreamParser()
  return { messages: pieces.flatMap((piece) => parser.feed(piece)), retryMs: parser.retryMs }
}

test('a message has its id, its name and its data', () => {
  const { messages } = read(bytes('event: node_stream\nid: 7\ndata: {"content":"茶"}\n\n'))
  assert.deepEqual(messages, [{ id: '7', event: 'node_stream', data: '{"content":"茶"}' }])
})

for (const [name, end] of [
  ['LF', '\n'],
  ['CRLF', '\r\n'],
  ['CR', '\r'],
]) {
  test(`lines that end with ${name} are read the same, cut at any byte`, () => {
    const lines = [
      ':keep-alive',
      '',
      'retry: 200',
      '',
      'event: x',
      'id: 1',
      'data: 大语言模型 🍵',
      '',
      ':c',
      'id: 2',
      'data:b',
      'data',
      '',
      '',
    ]
    const whole = bytes(lines.join(end))
    const expected = [
      { id: '1', event: 'x', data: '大语言模型 🍵' },
      { id: '2', event: 'message', data: 'b\n' },
    ]
    for (let cut = 0; cut <= whole.length; cut += 1) {
      const { messages, retryMs } = read(whole.slice(0, cut), whole.slice(cut))
      assert.deepEqual(messages, expected, `cut at ${cut}`)
      assert.equal(retryMs, 200)
    }
    assert.deepEqual(read(...[...whole].map((byte) => Uint8Array.of(byte))).messages, expected)
  })
}

test('half a message is none', () => {
  assert.deepEqual(read(bytes('id: 1\ndata: {"a"')).messages, [])
  assert.deepEqual(read(bytes('id: 1\ndata: a\n')).messages, [])
})

test('comments, unknown fields and messages without data are passed over', () => {
  const { messages, retryMs } = read(bytes('id: 3\n\n:hello\n\nfoo: bar\nretry: soon\nid: 4\0\ndata: x\n\n'))
  assert.deepEqual(messages, [{ id: null, event: 'message', data: 'x' }])
  assert.equal(retryMs, null)
})

test('only one space after the colon belongs to the syntax, and a byte order mark to nothing', () => {
  const { messages } = read(bytes('\ufeffdata:  two\ndata:none\n\n'))
  assert.deepEqual(messages, [{ id: null, event: 'message', data: ' two\nnone' }])
})

test('separators of lines that JSON may hold end no line', () => {
  const { messages } = read(bytes('data: a\u2028b\u0085c\n\n'))
  assert.equal(messages[0].data, 'a\u2028b\u0085c')
})

test('a message of many pieces is read in one go', () => {
  const text = 'x'.repeat(4_000_000)
  const whole = bytes(`id: 1\ndata: ${text}\n\n`)
  const pieces = []
  for (let at = 0; at < whole.length; at += 1000) pieces.push(whole.subarray(at, at + 1000))
  assert.equal(read(...pieces).messages[0].data.length, text.length)
})
