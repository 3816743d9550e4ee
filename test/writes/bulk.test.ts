/** Bulk: in order, side by side, or all or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json.ts'
import { ADMIN, EVERYTHING, type TestService, openTestService } from '../support/service.ts'
import { byId, held } from './writing.ts'

async function open(): Promise<TestService> {
  const tester = await openTestService()
  await tester.define('t', { i: { type: 'integer' }, s: { type: 'string' } })
  await tester.store('t', [{ _id: '1', i: 1 }])
  return tester
}

interface Entry {
  readonly status: string
  readonly modifiedCount: number
  readonly matchCount: number
  readonly processed?: readonly JsonObject[]
  readonly errors?: readonly { readonly errorCode: string }[]
}

async function bulk(tester: TestService, requests: Json, more: JsonObject = {}): Promise<readonly Entry[]> {
  const text = await tester.service.data.bulk(ADMIN, { requests, ...more })
  const { responses } = JSON.parse(text) as { responses: { response: Entry }[] }
  return responses.map(({ response }) => response)
}

const entry = (seq: number, op: string, request: JsonObject): JsonObject => ({
  seq,
  op,
  request: { entity: 't', ...request },
})
const insert = (seq: number, data: Json): JsonObject => entry(seq, 'insert', { data })
const find = (seq: number): JsonObject => entry(seq, 'find', { projection: EVERYTHING })
const add = (seq: number): JsonObject =>
  entry(seq, 'update', { query: byId('1'), update: { $add: { i: 1 } } })

test('bulk: ordered writes see each other, and finds between them see what came before', async () => {
  await using tester = await open()
  const responses = await bulk(tester, [
    find(0),
    add(1),
    find(2),
    entry(3, 'save', { data: { _id: '2', i: 5 }, upsert: true }),
    find(4),
    entry(5, 'delete', { query: byId('1') }),
    find(6),
  ])
  assert.deepEqual(
    responses.map(({ status }) => status),
    Array.from({ length: 7 }, () => 'COMPLETE'),
  )
  const seen = [0, 2, 4, 6].map((i) => responses[i]!.processed!.map((each) => [each['_id'], each['i']]))
  assert.deepEqual(seen, [
    [['1', 1]],
    [['1', 2]],
    [
      ['1', 2],
      ['2', 5],
    ],
    [['2', 5]],
  ])
})

test('bulk: a failing entry does not stop the others', async () => {
  await using tester = await open()
  const responses = await bulk(tester, [
    insert(1, { _id: '1' }),
    insert(2, { _id: '2' }),
    insert(3, { zz: 1 }),
  ])
  assert.deepEqual(
    responses.map(({ status }) => status),
    ['ERROR', 'COMPLETE', 'ERROR'],
  )
  assert.deepEqual(Object.keys(await held(tester)), ['1', '2'])
})

test('bulk: unordered runs all of them', async () => {
  await using tester = await open()
  const responses = await bulk(
    tester,
    Array.from({ length: 40 }, (_, i) => add(i)),
    { ordered: false },
  )
  assert.ok(responses.every(({ modifiedCount }) => modifiedCount === 1))
  assert.equal((await held(tester))['1']!['i'], 41)
})

const FAILING: readonly (readonly [rule: string, entry: JsonObject])[] = [
  ['an entry that fails', insert(9, { _id: '1' })],
  ['an entry that half fails', insert(9, [{ _id: '8' }, { _id: '1' }])],
  [
    'an entry that is refused',
    entry(9, 'find', { projection: EVERYTHING, query: { field: 'zz', op: '=', rvalue: 1 } }),
  ],
  ['an entry that cannot be parsed', { seq: 9, op: 'nope', request: { entity: 't' } }],
  [
    'an entry of an unknown entity',
    { seq: 9, op: 'find', request: { entity: 'zz', projection: EVERYTHING } },
  ],
]

for (const [rule, failing] of FAILING) {
  test(`bulk: atomic, ${rule} takes everything back`, async () => {
    await using tester = await open()
    const before = await held(tester)
    const requests = [
      insert(1, [{ _id: '2' }, { _id: '3' }]),
      add(2),
      entry(3, 'delete', { query: byId('2') }),
      failing,
      insert(10, { _id: '4' }),
    ]
    for (const more of [
      { atomic: true },
      { execution: { atomic: true } },
      { atomic: true, ordered: false },
    ]) {
      const responses = await bulk(tester, requests, more)
      const codes = responses.map(({ errors }) => errors?.[0]?.errorCode)
      assert.deepEqual(
        codes.toSpliced(3, 1),
        Array.from({ length: 4 }, () => 'crud:Rolledback'),
      )
      assert.notEqual(responses[3]!.status, 'COMPLETE')
      assert.notEqual(codes[3], 'crud:Rolledback')
      assert.deepEqual(await held(tester), before)
    }
  })
}

test('bulk: atomic, finds inside see earlier writes, and all of it is there afterwards', async () => {
  await using tester = await open()
  const requests = [
    insert(1, { _id: '2', i: 7 }),
    find(2),
    add(3),
    entry(4, 'find', { query: byId('1'), projection: EVERYTHING }),
    entry(5, 'delete', { query: byId('2') }),
    find(6),
  ]
  const responses = await bulk(tester, requests, { atomic: true })
  assert.deepEqual(
    [1, 3, 5].map((i) => responses[i]!.processed!.map((each) => [each['_id'], each['i']])),
    [
      [
        ['1', 1],
        ['2', 7],
      ],
      [['1', 2]],
      [['1', 2]],
    ],
  )
  assert.deepEqual(await held(tester), { 1: { _id: '1', i: 2 } })
})

test('bulk: nobody sees an atomic bulk before it is done', async () => {
  await using tester = await open()
  const inserts = Array.from({ length: 50 }, (_, i) => insert(i, { _id: `x${i}` }))
  const running = bulk(tester, inserts, { atomic: true })
  const seen = new Set<number>()
  const watch = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) seen.add((await tester.find('t', { projection: EVERYTHING })).matchCount)
  }
  await Promise.all([running, watch()])
  seen.add((await tester.find('t', { projection: EVERYTHING })).matchCount)
  assert.deepEqual(
    [...seen].filter((count) => count !== 1 && count !== 51),
    [],
  )
})
