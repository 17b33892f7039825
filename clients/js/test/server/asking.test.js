import assert from 'node:assert/strict'
import { test } from 'node:test'

import { api, asHistory, controllerOf, history, order, save, scripted, started, until } from '../builders/server.js'

const options = [
  { label: 'Version 1', value: 'v1' },
  { label: 'Version 2', value: 'v2' },
]
const asks = (...questions) => [...questions.map((ask) => [{ ask }]), [{ text: 'So: $answer' }]]
const asking = (...questions) =>
  save({ in: { type: 'userInput' }, ask: scripted('agent', asks(...questions)), out: { type: 'output' } }, [
    ['in', 'ask'],
    ['ask', 'out'],
  ])

const asked = (controller) => until(controller, ({ store }) => store.waiting.length > 0)
const openAsk = ({ store }) => store.waiting[0].pendingAsk

test('a question is answered and the run goes on to its end', async () => {
  const runId = await started(await asking({ question: 'Which **version**?', options, placeholder: 'or' }))
  const controller = controllerOf(runId)
  const over = controller.start()
  await asked(controller)
  const { clarifyId, question, options: told, allowCustom, multiple } = openAsk(controller)
  assert.deepEqual([question, told, allowCustom, multiple], ['Which **version**?', options, false, false])
  await assert.rejects(controller.submitAsk(clarifyId, 'v3'), { code: 'CLARIFY_ANSWER_INVALID', status: 400 })
  assert.equal(openAsk(controller).clarifyId, clarifyId)
  await controller.submitAsk(clarifyId, 'v2')
  assert.deepEqual(controller.store.waiting, [])
  const run = await over
  assert.equal(run.output.data.result, 'So: v2')
  const [visit] = run.visits.filter(({ nodeId }) => nodeId === 'ask')
  assert.deepEqual([visit.pendingAsk.submittedValue, visit.pendingAsk.confirmed], ['v2', true])
  assert.deepEqual(
    visit.toolCalls.map(({ toolName, result, status }) => [toolName, result, status]),
    [['clarify', 'v2', 'completed']],
  )
  assert.deepEqual(asHistory(controller.store), await history(runId))
})

test('one of two windows answers; the other sees it, and its own answer counts as given', async () => {
  const runId = await started(
    await asking({ question: 'One?', options }, { question: 'Several?', options, multiple: true }),
  )
  const [one, other] = [controllerOf(runId), controllerOf(runId)]
  const over = [one.start(), other.start()]
  await Promise.all([asked(one), asked(other)])
  const { clarifyId } = openAsk(one)
  await one.submitAsk(clarifyId, 'v1')
  await other.submitAsk(clarifyId, 'v2')
  await until(other, ({ store }) => store.waiting.length > 0 && openAsk(other).multiple)
  assert.deepEqual(
    other.store.waiting[0].asks.map(({ question }) => question),
    ['One?', 'Several?'],
  )
  await other.submitAsk(openAsk(other).clarifyId, ['v2', 'v1'])
  const [run] = await Promise.all(over)
  assert.deepEqual(
    run.visits.find(({ nodeId }) => nodeId === 'ask').asks.map(({ submittedValue }) => submittedValue),
    ['v1', ['v2', 'v1']],
  )
  await assert.rejects(one.submitAsk(clarifyId, 'v1'), { code: 'RUN_ALREADY_FINISHED', status: 410 })
})

test('a page that is loaded again finds the question, even where no events come through', async () => {
  const runId = await started(await asking({ question: 'Still there?', allowCustom: true }))
  const blocked = (url, init) => (url.endsWith('/state') ? fetch(url, init) : Promise.reject(new TypeError('blocked')))
  const before = controllerOf(runId)
  before.start()
  await asked(before)
  before.destroy()
  const page = controllerOf(runId, { fetch: blocked })
  page.start()
  await asked(page)
  assert.deepEqual(
    [openAsk(page).question, openAsk(page).allowCustom, page.store.waiting[0].nodeId],
    ['Still there?', true, 'ask'],
  )
  page.destroy()
  const again = controllerOf(runId)
  const over = again.start()
  await asked(again)
  await again.submitAsk(openAsk(again).clarifyId, '在')
  assert.equal((await over).output.data.result, 'So: 在')
})

test('a question outlives a server that is stopped, and so does the person who answers', async () => {
  const runId = await started(await asking({ question: 'Which?', options }))
  const controller = controllerOf(runId)
  const over = controller.start()
  await asked(controller)
  await order('stop')
  await assert.rejects(controller.submitAsk(openAsk(controller).clarifyId, 'v1'), {
    code: 'NETWORK_ERROR',
    retryable: true,
  })
  assert.equal(controller.store.waiting.length, 1)
  await order('start')
  await until(controller, ({ connection }) => connection === 'live')
  await controller.submitAsk(openAsk(controller).clarifyId, 'v1')
  assert.equal((await over).status, 'completed')
  assert.equal((await api.state(runId)).status, 'SUCCESS')
})

test('a page answers with a view token, if the token may', async () => {
  const runId = await started(await asking({ question: 'Which?', options }))
  const token = (given) => api.request('POST', `/runs/${runId}/view-token`, { body: given }).then((told) => told.token)
  const [reading, answering] = [await token({}), await token({ resume: true })]
  const page = controllerOf(runId, { apiKey: undefined, viewToken: () => Promise.resolve(reading) })
  const over = page.start()
  await asked(page)
  await assert.rejects(page.submitAsk(openAsk(page).clarifyId, 'v1'), { code: 'UNAUTHORIZED', status: 401 })
  assert.equal(page.store.waiting.length, 1)
  const other = controllerOf(runId, { apiKey: undefined, viewToken: answering })
  await other.submitAsk(openAsk(page).clarifyId, 'v1')
  assert.equal((await over).output.data.result, 'So: v1')
  const elsewhere = await started(await asking({ question: 'Which?' }))
  await assert.rejects(controllerOf(elsewhere, { apiKey: undefined, viewToken: reading }).start(), {
    code: 'RUN_NOT_FOUND',
  })
})
