/** Documents that the service sorts itself: nobody stands still meanwhile, and the time limit ends it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ADMIN, openTestService } from '../../support/service.ts'

const STRING = { type: 'string' }
const COUNT = 20_000
const BATCH = 1_000
/** Long equal beginnings make comparisons expensive: in one piece, the sort took 2 s. */
const BEGINNING = 'ä'.repeat(700)
const MAX_PAUSE_MS = 500

test('stream: past documents are sorted by others without a long pause', async (t) => {
  await using tester = await openTestService()
  const info = { history: true }
  const query = { field: '_id', op: '=', rfield: '$parent.by' }
  await tester.define('maker', { _id: STRING, name: STRING }, { info })
  const maker = { type: 'reference', entity: 'maker', query }
  await tester.define('item', { _id: STRING, by: STRING, s: STRING, maker }, { info })
  await tester.store('maker', [{ _id: 'a', name: 'x' }])
  for (let first = 0; first < COUNT; first += BATCH) {
    const documents = Array.from({ length: BATCH }, (_, i) => ({
      _id: `i${first + i}`,
      by: 'a',
      s: `${BEGINNING}${((first + i) * 7_919) % COUNT}`,
    }))
    await tester.store('item', documents)
  }
  await pause(20)
  const asOf = new Date().toISOString()
  await pause(20)
  let last = performance.now()
  let longest = 0
  const heartbeat = setInterval(() => {
    const now = performance.now()
    longest = Math.max(longest, now - last)
    last = now
  }, 5)
  const sort = [{ 'maker.*.name': '$desc' }, { s: '$asc' }]
  const body = { sort, projection: { field: '_id' }, asOf }
  const lines = await tester.service.data.stream(ADMIN, { entity: 'item' }, body)
  assert.ok(!('status' in lines), JSON.stringify(lines))
  let count = 0
  for await (const line of lines) count += line === '' ? 0 : 1
  clearInterval(heartbeat)
  t.diagnostic(`longest pause ${Math.round(longest)} ms, ${count} lines`)
  assert.ok(count >= COUNT, String(count))
  assert.ok(longest < MAX_PAUSE_MS, `${longest} ms`)
})
