import assert from 'node:assert/strict'
import { test } from 'node:test'

import { RecentIds } from '../../src/recent-ids.js'

test('the last 500 ids are remembered one by one, those before by the highest', () => {
  const ids = new RecentIds()
  for (let id = 1; id <= 1000; id += 2) assert.equal(ids.add(id), true)
  assert.deepEqual([ids.add(2), ids.add(500), ids.add(999)], [true, true, false])
  assert.deepEqual([ids.add(3), ids.add(1), ids.add(2)], [false, false, false])
  for (let id = 1001; id <= 3000; id += 1) ids.add(id)
  assert.equal(ids._recent.size, 500)
})
