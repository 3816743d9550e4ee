/** One document can be enough to keep an engine busy: arrays held against arrays run aside, and can be ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, type TestService, openTestService } from '../../support/service.ts'
import { turnsDuring } from './watch.ts'

const QUERY: JsonObject = { field: 'a.*', op: '=', rfield: 'b.*' }

test('find: arrays against arrays stall nobody, and end at their time limit', async () => {
  await using on = await openTestService()
  const numbers = { type: 'array', items: { type: 'integer' } }
  await on.define('e', { a: numbers, b: numbers })
  const evens = Array.from({ length: 6_000 }, (_, i) => 2 * i)
  await on.store('e', [{ a: evens, b: evens.map((each) => each + 1) }])
  await endsAside(on, 'e', QUERY)
  const after = await on.find('e', {
    query: { array: 'a', contains: '$any', values: [4] },
    projection: { field: '_id' },
  })
  assert.equal(after.matchCount, 1)
})

test('find: references of references of references stall nobody, and end at their time limit', async () => {
  await using on = await openTestService()
  const numbers = { group: { type: 'integer' }, x: { type: 'integer' }, y: { type: 'integer' } }
  const query = { field: 'group', op: '=', rfield: '$parent.group' }
  const documents = Array.from({ length: 12 }, (_, x) => ({ group: 1, x, y: -1 }))
  for (let i = 0; i <= 5; i++) {
    const before = { type: 'reference', entity: `e${i - 1}`, query }
    await on.define(`e${i}`, i === 0 ? numbers : { ...numbers, before })
    await on.store(`e${i}`, documents)
  }
  await endsAside(on, 'e5', { field: `${'before.*.'.repeat(5)}x`, op: '=', rfield: 'y' })
})

/** The query is ended by its time limit, and others have had their turns meanwhile. */
async function endsAside(on: TestService, entity: string, query: JsonObject): Promise<void> {
  const body = { query, projection: { field: '_id' }, execution: { maxTimeMs: 100 } }
  const { result: response, turns } = await turnsDuring(() => on.find(entity, body))
  assert.equal(response.errors?.[0]?.errorCode, 'store-crud:Timeout')
  assert.ok(turns > 10, `the event loop turned ${turns} times`)
}

test('bulk: a read inside of an atomic one is held to its time limit, too', async () => {
  await using on = await openTestService({ limits: { queryTimeMs: 100 } })
  const numbers = { type: 'array', items: { type: 'integer' } }
  await on.define('e', { a: numbers, b: numbers })
  const evens = Array.from({ length: 6_000 }, (_, i) => 2 * i)
  await on.store('e', [{ a: evens, b: evens.map((each) => each + 1) }])
  const request = { entity: 'e', query: QUERY, projection: { field: '_id' } }
  const text = await on.service.data.bulk(ADMIN, {
    atomic: true,
    requests: [{ seq: 1, op: 'find', request }],
  })
  assert.match(text, /store-crud:Timeout/)
})

test('find: what was answered before it began is found, whoever still reads a stream', async () => {
  await using on = await openTestService()
  await on.define('t', { i: { type: 'integer' }, s: { type: 'string' } })
  await on.store(
    't',
    Array.from({ length: 2_500 }, (_, i) => ({ _id: `d${i}`, i, s: 'x' })),
  )
  const all = { projection: { field: '*' } }
  const lines = await on.service.data.stream(ADMIN, { entity: 't' }, all)
  assert.ok(!('status' in lines))
  const reader = lines[Symbol.asyncIterator]()
  await reader.next()
  await on.store('t', [{ _id: 'new', i: 99_999, s: 'fresh' }])
  const query = { field: 's', op: '=', rvalue: 'fresh' }
  for (let i = 0; i < 4; i++) {
    assert.equal((await on.find('t', { query, projection: { field: '_id' } })).matchCount, 1)
  }
  await reader.return?.()
})
