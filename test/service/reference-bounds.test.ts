/** References into another datasource: how often it is read, and how much is held and shown of what is found there. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { printResponse } from '../../src/service/response.ts'
import { openReferencesService } from '../support/references-service.ts'
import { ADMIN, codeOf, documentsOf } from '../support/service.ts'
import { type Datasource, type TwoDatasources, openTwoDatasources } from '../support/two-datasources.ts'

const STRING = { type: 'string' }
const INTEGER = { type: 'integer' }
const IDS = { projection: { field: '_id' } }

function reference(query: Json, more: JsonObject = {}): JsonObject {
  return { type: 'reference', entity: 'part', query, ...more }
}

const BY_KEY = { field: 'whole', op: '=', rfield: '$parent.key' }
const BY_ORDER = { field: 'n', op: '<', rfield: '$parent.n' }

async function opened(
  on: TwoDatasources,
  { where = 'far', text = '' }: { readonly where?: Datasource; readonly text?: string } = {},
): Promise<void> {
  await on.define('part', where, { whole: STRING, n: INTEGER, text: STRING })
  const parts = reference(BY_KEY)
  await on.define('whole', 'near', { key: STRING, n: INTEGER, parts, lesser: reference(BY_ORDER) })
  await on.store(
    'part',
    ['a', 'a', 'b', 'c', null].map((whole, n) => ({ _id: `p${n}`, n, text, ...(whole && { whole }) })),
  )
  await on.store(
    'whole',
    ['a', 'b', 'c', null].map((key, n) => ({ _id: `w${n}`, n, ...(key && { key }) })),
  )
}

const clause = (field: string, op: string, rvalue: Json): JsonObject => ({ field, op, rvalue })

/** What is asked, what is found, and how often the other datasource is read for it. */
const READS: readonly (readonly [string, Json, readonly string[], number])[] = [
  ['one clause', clause('lesser#', '=', 1), ['w1'], 1],
  [
    'several clauses that ask nothing of the documents alone',
    { $or: [clause('lesser#', '=', 1), clause('lesser#', '=', 3), clause('parts#', '=', 2)] },
    ['w0', 'w1', 'w3'],
    1,
  ],
  [
    'several clauses that ask the same of the documents alone',
    { $and: [clause('lesser.*.n', '=', 0), clause('parts.*.n', '=', 0)] },
    [],
    1,
  ],
  [
    'a clause inside of an elemMatch, and the same outside of it',
    {
      $and: [
        clause('lesser.*.n', '=', 1),
        { array: 'lesser', elemMatch: { $and: [clause('n', '=', 1)] } },
        { $or: [{ $not: clause('lesser.*.n', '=', 1) }, clause('_id', '=', 'w3')] },
      ],
    },
    ['w3'],
    1,
  ],
  [
    'clauses that ask different things',
    { $and: [clause('lesser.*.n', '=', 1), clause('lesser.*.n', '=', 2)] },
    ['w3'],
    2,
  ],
  [
    'alternatives that ask different things',
    { $or: [clause('lesser.*.n', '=', 1), clause('lesser.*.n', '=', 2)] },
    ['w2', 'w3'],
    1,
  ],
  [
    'documents without a key, whose keys were to be listed',
    { field: 'parts', op: '!=', rvalue: null },
    ['w0', 'w1', 'w2', 'w3'],
    1,
  ],
]

test('references: what several clauses look at is read once', async () => {
  let reads = 0
  await using on = await openTwoDatasources({ onFound: () => reads++ })
  await opened(on)
  for (const [rule, query, ids, expected] of READS) {
    reads = 0
    const response = await on.find('whole', { ...IDS, query, sort: { _id: '$asc' } })
    assert.deepEqual(
      documentsOf(response).map(({ _id }) => _id),
      ids,
      `${rule}: ${printResponse(response)}`,
    )
    assert.equal(reads, expected, rule)
  }
})

test('update: what it selects by is read once, and the documents are changed', async () => {
  let reads = 0
  await using on = await openTwoDatasources({ onFound: () => reads++ })
  await opened(on)
  reads = 0
  const query = { $or: [clause('lesser#', '=', 1), clause('parts#', '=', 2)] }
  const body = { query, update: { $set: { n: 9 } } }
  const response = await on.service.data.update(ADMIN, { entity: 'whole' }, body)
  assert.deepEqual([response.modifiedCount, reads], [2, 1], printResponse(response))
})

const LARGE = 'x'.repeat(1_000)

for (const where of ['near', 'far'] as const) {
  test(`find: what references join counts toward the size of the whole answer, joined from ${where}`, async () => {
    await using on = await openTwoDatasources({ limits: { resultBytes: 3_500 } })
    await opened(on, { where, text: LARGE })
    const all = { projection: { field: 'parts', recursive: true }, sort: { _id: '$asc' } }
    const response = await on.find('whole', all)
    assert.equal(codeOf(response), 'crud:ResultSizeTooLarge')
    assert.match(response.errors![0]!.msg, /3500 bytes.*"parts".*smaller range.*fewer fields/)
    const few = await on.find('whole', { ...all, range: [1, 2] })
    assert.equal(documentsOf(few).length, 2, printResponse(few))
    const brief = await on.find('whole', { ...all, projection: { field: 'parts.*.n' } })
    assert.equal(documentsOf(brief).length, 4, printResponse(brief))
  })
}

test('find: so much of what another datasource keeps is held for one answer, however little is shown', async () => {
  await using on = await openTwoDatasources({ limits: { resultBytes: 1_000 } })
  await opened(on, { text: LARGE })
  const few = { projection: { field: 'parts.*.n' } }
  const response = await on.find('whole', few)
  assert.equal(codeOf(response), 'crud:ResultSizeTooLarge')
  assert.match(response.errors![0]!.msg, /"parts".*4000 bytes.*smaller range.*projection/)
  const less = await on.find('whole', { ...few, sort: { _id: '$asc' }, range: [0, 0] })
  assert.deepEqual(documentsOf(less), [{ parts: [{ n: 0 }, { n: 1 }] }], printResponse(less))
  const asked = await on.find('whole', { ...IDS, query: clause('lesser#', '=', 1) })
  assert.equal(codeOf(asked), 'crud:LimitExceeded')
  assert.match(asked.errors![0]!.msg, /part .*4000 bytes/)
})

test('find: one document shows as much of another datasource as it would of its own', async () => {
  await using on = await openTwoDatasources()
  await opened(on)
  const text = 'x'.repeat(1_000_000)
  for (let i = 0; i < 17; i++) await on.store('part', [{ _id: `l${i}`, whole: 'b', text }])
  const few = { projection: { field: 'parts.*.n' } }
  const response = await on.find('whole', few)
  assert.equal(codeOf(response), 'crud:ResultSizeTooLarge')
  assert.match(response.errors![0]!.msg, /"parts" joins more than can be shown of one document/)
  const other = await on.find('whole', { ...few, query: clause('key', '=', 'a') })
  assert.deepEqual(documentsOf(other), [{ parts: [{ n: 0 }, { n: 1 }] }])
})

for (const where of ['near', 'far'] as const) {
  test(`find: what stands in many places of one document counts in each, by way of ${where}`, async () => {
    await using on = await openTwoDatasources()
    const all = (entity: string): JsonObject => ({ type: 'reference', entity })
    await on.define('leaf', where === 'near' ? 'far' : 'near', { text: STRING })
    await on.define('mid', where, { leaves: all('leaf') })
    await on.define('whole', 'near', { mids: all('mid') })
    const ids = Array.from({ length: 100 }, (_, i) => `${i}`)
    await on.store(
      'leaf',
      ids.map((_id) => ({ _id, text: LARGE + LARGE })),
    ) // 200,000 bytes, 100 times
    await on.store(
      'mid',
      ids.map((_id) => ({ _id })),
    )
    await on.store('whole', [{ _id: 'w' }])
    const shown = { projection: { field: 'mids.*.leaves.*._id' } }
    const response = await on.find('whole', shown)
    assert.equal(codeOf(response), 'crud:ResultSizeTooLarge')
    assert.match(response.errors![0]!.msg, /"mids" joins more than can be shown of one document/)
    await on.service.data.delete(ADMIN, { entity: 'mid' }, { query: clause('_id', '>', '1') })
    const [less] = documentsOf(await on.find('whole', shown))
    assert.equal((less!['mids'] as JsonObject[]).length, 2)
  })
}

for (const where of ['near', 'far'] as const) {
  test(`find: what the projection of a reference leaves nothing of still shows its references, from ${where}`, async () => {
    await using on = await openTwoDatasources()
    const leaf = { type: 'reference', entity: 'leaf', query: { field: '_id', op: '=', rfield: '$parent.to' } }
    const list = { type: 'array', items: { type: 'object', fields: { sku: STRING, to: STRING, leaf } } }
    await on.define('leaf', where, { name: STRING })
    await on.define('part', 'near', { n: INTEGER, list })
    const projection = [{ field: 'n' }, { field: 'list.*.sku' }]
    await on.define('whole', 'near', { part: { type: 'reference', entity: 'part', projection } })
    await on.store('leaf', [
      { _id: 'l1', name: 'one' },
      { _id: 'l2', name: 'two' },
    ])
    const elements = [{ to: 'l1' }, { sku: 's', to: 'l2' }, { to: 'none' }, {}, { sku: 't' }]
    await on.store('part', [{ _id: 'p', n: 1, list: elements }])
    await on.store('whole', [{ _id: 'w' }])
    const shown = ['n', 'list.*.sku', 'list.*.leaf.*.name'].map((each) => ({ field: `part.*.${each}` }))
    assert.deepEqual(documentsOf(await on.find('whole', { projection: shown })), [
      {
        part: [
          {
            n: 1,
            list: [{ leaf: [{ name: 'one' }] }, { sku: 's', leaf: [{ name: 'two' }] }, {}, { sku: 't' }],
          },
        ],
      },
    ])
  })
}

test('bulk: a read inside of an atomic one compares what PostgreSQL cannot search for in memory', async () => {
  await using on = await openReferencesService({ name: '', first: 'postgres', others: 'postgres' })
  await on.define([
    { name: 'whole', fields: { _id: STRING, key: STRING, parts: reference(BY_KEY) } },
    { name: 'part', fields: { _id: STRING, whole: STRING, text: STRING } },
  ])
  await on.store('part', [
    { _id: 'p1', whole: 'a', text: 'one two' },
    { _id: 'p2', whole: 'b', text: 'onetwo' },
  ])
  const find = {
    entity: 'whole',
    query: { field: 'parts.*.text', regex: 'one\\b' },
    projection: { field: '_id' },
  }
  const insert = {
    entity: 'whole',
    data: [
      { _id: 'w1', key: 'a' },
      { _id: 'w2', key: 'b' },
    ],
  }
  const requests = [
    { seq: 1, op: 'insert', request: insert },
    { seq: 2, op: 'find', request: find },
    { seq: 3, op: 'update', request: { ...find, update: { $set: { key: 'c' } } } },
  ]
  const text = await on.service.data.bulk(ADMIN, { atomic: true, requests })
  assert.match(text, /"matchCount":1,"processed":\[\{"_id":"w1"\}\].*"modifiedCount":1/)
})
