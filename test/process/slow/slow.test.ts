/** Questions that no index serves: on another thread, within their time, for as long as somebody waits. */
import { SEED } from '../../support/seed.ts'
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { runUpdateRound } from '../../property/agreement/update-round.ts'
import { startTestServer } from '../../support/server.ts'
import { ADMIN, EVERYTHING, type TestService, codeOf, openTestService } from '../../support/service.ts'
import { turnsDuring, until, watchReaders } from './watch.ts'

const COUNT = 6_000
const FIELDS = { i: { type: 'integer' }, s: { type: 'string' }, k: { type: 'integer' } }
const INDEXES = [{ fields: [{ field: 'k' }] }]

function documents(): readonly JsonObject[] {
  return Array.from({ length: COUNT }, (_, i) => ({
    _id: `d${i}`,
    i,
    k: i % 10,
    s: `${'ab'.repeat(50)}${i}`,
  }))
}

let tester: TestService

before(async () => {
  tester = await openTestService()
  await tester.define('t', FIELDS, { info: { indexes: INDEXES } })
  const response = await tester.insert('t', { data: documents() })
  assert.equal(response.modifiedCount, COUNT)
})
after(() => tester[Symbol.asyncDispose]())

/** Looks at every document, and takes its time with each. */
const SLOW: JsonObject = { field: 's', regex: '(a|b)*(b|a)*7$' }
const GROUPS = { groupBy: ['k'], values: { n: { $count: true } } }
/** What each operation is asked, beside the query. */
const ASKED = {
  find: { projection: EVERYTHING },
  update: { projection: EVERYTHING, update: { $set: { i: 0 } } },
  delete: { projection: EVERYTHING },
  aggregate: GROUPS,
  explain: { projection: EVERYTHING },
  stream: { projection: EVERYTHING },
} as const
type Operation = keyof typeof ASKED
const OPERATIONS = Object.keys(ASKED) as readonly Operation[]
const PAGE = { projection: { field: '_id' }, range: [0, 9] }

for (const [operation, body, matches] of [
  ['find', PAGE, COUNT / 10],
  ['aggregate', GROUPS, 1],
  ['explain', PAGE, COUNT / 10],
  ['explain', GROUPS, 1],
] as const) {
  const named = body === GROUPS && operation === 'explain' ? 'explain of an aggregate' : operation
  test(`${named}: the loop keeps turning while a slow question is answered`, async () => {
    using watch = watchReaders()
    const { result: response, turns } = await turnsDuring(() =>
      tester.service.data[operation](ADMIN, { entity: 't' }, { ...body, query: SLOW }),
    )
    assert.equal(response.matchCount, matches, printResponse(response))
    assert.ok(watch.asked.open > 0, 'a reader thread was asked')
    assert.ok(turns > 10, `${turns} turns`)
  })
}

test('aggregate: over more than a few documents it runs on another thread, without a condition as well', async () => {
  using watch = watchReaders()
  await tester.define('few', FIELDS)
  await tester.store('few', documents().slice(0, 5))
  for (const entity of ['few', 't']) {
    const { open } = watch.asked
    for (const operation of ['aggregate', 'explain'] as const) {
      const response = await tester.service.data[operation](ADMIN, { entity }, GROUPS)
      assert.equal(response.matchCount, entity === 't' ? 10 : 5, printResponse(response))
    }
    assert.equal(watch.asked.open - open, entity === 't' ? 2 : 0, entity)
  }
})

test('find: what an index serves is answered here and now', async () => {
  using watch = watchReaders()
  const response = await tester.find('t', { ...PAGE, query: { field: 'k', op: '=', rvalue: 7 } })
  assert.equal(response.matchCount, COUNT / 10)
  const one = await tester.find('t', { ...PAGE, query: { field: '_id', op: '=', rvalue: 'd7' } })
  assert.equal(one.matchCount, 1)
  assert.equal(watch.asked.open, 0)
})

test('find: a page of everything in the order of an index is answered here and now', async () => {
  using watch = watchReaders()
  const execution = { count: 'none' }
  for (const sort of [[], { _id: '$desc' }, { k: '$asc' }]) {
    const { processed } = await tester.find('t', { ...PAGE, sort, execution })
    assert.equal(processed?.length, 10)
  }
  assert.equal(watch.asked.open, 0)
  // These visit more than the page: documents with the same value, all for the sort, or all for the count.
  for (const more of [{ sort: { k: '$desc' }, execution }, { sort: { i: '$asc' }, execution }, {}]) {
    const { open } = watch.asked
    await tester.find('t', { ...PAGE, ...more })
    assert.ok(watch.asked.open > open, JSON.stringify(more))
  }
})

test('find: takes no longer than it may, and the next one is answered', async () => {
  const late = await tester.find('t', { ...PAGE, query: SLOW, execution: { maxTimeMs: 1 } })
  assert.equal(codeOf(late), 'store-crud:Timeout')
  assert.equal((await tester.find('t', { ...PAGE, query: SLOW })).matchCount, COUNT / 10)
})

for (const operation of OPERATIONS) {
  if (operation === 'find') continue
  test(`${operation}: takes no longer than it may, and leaves everything as it was`, async () => {
    const body = { query: SLOW, ...ASKED[operation], execution: { maxTimeMs: 1 } }
    const late = await tester.service.data[operation](ADMIN, { entity: 't' }, body)
    assert.ok('status' in late)
    assert.equal(codeOf(late), 'store-crud:Timeout')
    assert.equal(
      (await tester.find('t', { ...PAGE, query: { field: 'i', op: '=', rvalue: 0 } })).matchCount,
      1,
    )
  })
}

for (const operation of OPERATIONS) {
  test(`${operation}: ends when the caller hangs up`, async () => {
    using watch = watchReaders()
    const { signal, abort } = getSignal()
    const body = { query: SLOW, ...ASKED[operation] }
    const target = { entity: 't', getSignal: () => signal }
    const running = tester.service.data[operation](ADMIN, target, body)
    await until(() => watch.asked.next > 0)
    abort()
    const response = await running
    assert.ok('status' in response)
    assert.equal(codeOf(response), 'crud:Unavailable')
    // every statement is ended; one that does not react within its time ends with its thread
    await until(() => watch.reading.size === 0)
    assert.equal(
      (await tester.find('t', { ...PAGE, query: { field: 'i', op: '=', rvalue: 0 } })).matchCount,
      1,
    )
  })
}

function getSignal() {
  const controller = new AbortController()
  return { signal: controller.signal, abort: () => controller.abort() }
}

test('find: over HTTP a question that takes too long is 504', async () => {
  await using server = await startTestServer()
  await server.define('t', FIELDS)
  const stored = await server.ask('PUT', '/data/insert/t', { body: { data: documents() } })
  assert.equal(stored.json.modifiedCount, COUNT)
  const body = { ...PAGE, query: SLOW, execution: { maxTimeMs: 1 } }
  const answer = await server.ask('POST', '/data/find/t', { body })
  assert.equal(answer.status, 504)
  assert.equal(answer.json.errors[0].errorCode, 'store-crud:Timeout')
  assert.deepEqual(server.faults(), [])
})

test('update, delete and find through candidates do what they do directly', async () => {
  using watch = watchReaders()
  const seed = SEED
  console.log(`slow agreement: SMALT_SEED=${seed}`)
  for (let round = 0; round < 10; round++)
    await runUpdateRound((seed + round * 1000) | 0, 20, { isLarge: true })
  assert.ok(watch.asked.open > 200, 'threads were asked')
})

test('update: slow ones at the same time lose nothing', async () => {
  const update = { query: SLOW, update: { $add: { k: 1 } } }
  const run = () => tester.service.data.update(ADMIN, { entity: 't' }, update)
  const responses = await Promise.all(Array.from({ length: 5 }, run))
  assert.deepEqual(
    responses.map(({ modifiedCount }) => modifiedCount),
    Array.from({ length: 5 }, () => COUNT / 10),
  )
  const query = { field: 'k', op: '=', rvalue: 12 }
  assert.equal((await tester.find('t', { ...PAGE, query })).matchCount, COUNT / 10)
})

test('update: a document that ceases to match before its turn is not changed', async () => {
  const [slow, quick] = await Promise.all([
    tester.service.data.update(ADMIN, { entity: 't' }, { query: SLOW, update: { $set: { i: -1 } } }),
    tester.service.data.update(
      ADMIN,
      { entity: 't' },
      { query: { field: '_id', op: '=', rvalue: 'd17' }, update: { $set: { s: 'other' } } },
    ),
  ])
  assert.equal(quick.modifiedCount, 1)
  const query = { field: '_id', op: '=', rvalue: 'd17' }
  const [text] = (await tester.find('t', { query, projection: [{ field: 'i' }, { field: 's' }] })).processed!
  const expected = slow.matchCount === COUNT / 10 ? '{"i":-1,"s":"other"}' : '{"i":17,"s":"other"}'
  assert.equal(text, expected)
})
