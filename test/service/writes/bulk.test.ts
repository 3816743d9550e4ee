/** Bulk: in order, side by side, or all or nothing. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { ADMIN, EVERYTHING } from '../../support/service.ts'
import { type Tenant, openTenant } from '../../support/shared-service.ts'
import { byId, held } from './writing.ts'
import { testUnlessOnCitus } from '../../support/citus.ts'
import { onEveryStore } from '../../support/store-kind.ts'

async function open(): Promise<Tenant> {
  const tester = await openTenant()
  await tester.define(tester.entity, { i: { type: 'integer' }, s: { type: 'string' } })
  await tester.store(tester.entity, [{ _id: '1', i: 1 }])
  return tester
}

interface BulkEntry {
  readonly seq: number
  readonly op: string
  readonly request: JsonObject
}

interface Entry {
  readonly status: string
  readonly modifiedCount: number
  readonly matchCount: number
  readonly processed?: readonly JsonObject[]
  readonly resultMetadata?: readonly JsonObject[]
  readonly errors?: readonly { readonly errorCode: string; readonly msg: string }[]
}

/** Entries are about the entity of the test, unless they name another. */
async function bulk(
  { service, entity }: Tenant,
  entries: readonly BulkEntry[],
  more: JsonObject = {},
): Promise<readonly Entry[]> {
  const requests = entries.map(({ request, ...rest }) => ({ ...rest, request: { entity, ...request } }))
  const text = await service.data.bulk(ADMIN, { requests, ...more })
  const { responses } = JSON.parse(text) as { responses: { response: Entry }[] }
  return responses.map(({ response }) => response)
}

const entry = (seq: number, op: string, request: JsonObject): BulkEntry => ({ seq, op, request })
const insert = (seq: number, data: Json): BulkEntry => entry(seq, 'insert', { data })
const find = (seq: number): BulkEntry => entry(seq, 'find', { projection: EVERYTHING })
const add = (seq: number): BulkEntry => entry(seq, 'update', { query: byId('1'), update: { $add: { i: 1 } } })

onEveryStore(() => {
  test('bulk: values of a sequence are generated in the order of the entries', async () => {
    await using tester = await openTenant()
    const configuration = { name: `of ${tester.entity}` }
    const number = { type: 'integer', valueGenerator: { type: 'IntSequence', configuration } }
    await tester.define(tester.entity, { number })
    const entries = Array.from({ length: 40 }, (_, seq) => entry(seq, 'generate', { field: 'number' }))
    const generated = (await bulk(tester, entries)).map(({ processed }) => processed?.[0])
    assert.deepEqual(
      generated,
      entries.map((_, i) => i + 1),
    )
  })

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

  test('bulk: the error of an entry that cannot be parsed names its place in the bulk', async () => {
    await using tester = await open()
    const responses = await bulk(tester, [
      { ...find(1), request: { objectType: 'other' } },
      { ...find(2), request: { version: '1.0.0', entityVersion: '1.0' } },
      Object.assign(find(3), { sequence: 3 }),
    ])
    assert.deepEqual(
      responses.map(({ errors }) => errors?.[0]?.msg),
      [
        '"entity" and "objectType" must agree (at /requests/0/request/objectType)',
        '"entityVersion" and "version" must agree (at /requests/1/request/version)',
        '"sequence" is not known here; known are seq, op, request (at /requests/2/sequence)',
      ],
    )
    const mistyped = tester.service.data.bulk(ADMIN, { requests: [], order: true })
    await assert.rejects(mistyped, /known are requests, ordered, .*; did you mean "ordered"\? \(at \/order\)/)
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

  const FAILING: readonly (readonly [rule: string, entry: BulkEntry])[] = [
    ['an entry that fails', insert(9, { _id: '1' })],
    ['an entry that half fails', insert(9, [{ _id: '8' }, { _id: '1' }])],
    [
      'an entry that is refused',
      entry(9, 'find', { projection: EVERYTHING, query: { field: 'zz', op: '=', rvalue: 1 } }),
    ],
    ['an entry that cannot be parsed', entry(9, 'nope', {})],
    ['an entry of an unknown entity', entry(9, 'find', { entity: 'zz', projection: EVERYTHING })],
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
        assert.equal(responses[3]!.modifiedCount, 0)
        assert.deepEqual([responses[3]!.processed ?? [], responses[3]!.resultMetadata ?? []], [[], []])
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

  testUnlessOnCitus('snapshot')('bulk: nobody sees an atomic bulk before it is done', async () => {
    await using tester = await open()
    const inserts = Array.from({ length: 50 }, (_, i) => insert(i, { _id: `x${i}` }))
    const running = bulk(tester, inserts, { atomic: true })
    const seen = new Set<number>()
    const watch = async (): Promise<void> => {
      for (let i = 0; i < 100; i++)
        seen.add((await tester.find(tester.entity, { projection: EVERYTHING })).matchCount)
    }
    await Promise.all([running, watch()])
    seen.add((await tester.find(tester.entity, { projection: EVERYTHING })).matchCount)
    assert.deepEqual(
      [...seen].filter((count) => count !== 1 && count !== 51),
      [],
    )
  })
})
