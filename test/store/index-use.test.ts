/** Declared indexes are used: explain names the index that serves a query, for each kind of index. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { ADMIN, openTestService } from '../support/service.ts'

const FIELDS = {
  city: { type: 'string' },
  zip: { type: 'string' },
  name: { type: 'string' },
  born: { type: 'date' },
  score: { type: 'integer' },
  worth: { type: 'bigdecimal' },
  address: { type: 'object', fields: { street: { type: 'string' } } },
  tags: { type: 'array', items: { type: 'string' } },
  words: { type: 'array', items: { type: 'string' } },
  jobs: { type: 'array', items: { type: 'object', fields: { title: { type: 'string' } } } },
}

const INDEXES: readonly JsonObject[] = [
  { name: 'simple', fields: [{ field: 'city', dir: '$asc' }] },
  {
    name: 'compound',
    fields: [
      { field: 'born', dir: '$asc' },
      { field: 'score', dir: '$asc' },
    ],
  },
  { name: 'unique', unique: true, fields: [{ field: 'zip', dir: '$asc' }] },
  { name: 'descending', fields: [{ field: 'score', dir: '$desc' }] },
  { name: 'into an object', fields: [{ field: 'address.street', dir: '$asc' }] },
  { name: 'ignoring case', fields: [{ field: 'name', dir: '$asc', caseInsensitive: true }] },
  { name: 'decimal', fields: [{ field: 'worth', dir: '$asc' }] },
  { name: 'into an array', fields: [{ field: 'tags.*', dir: '$asc' }] },
  {
    name: 'into an array, ignoring case',
    fields: [{ field: 'words.*', dir: '$asc', caseInsensitive: true }],
  },
  { name: 'into an array of objects', fields: [{ field: 'jobs.*.title', dir: '$asc' }] },
]

/** Which query is served by the index on which fields. */
const SERVED: readonly [kind: string, query: Json, fields: readonly string[]][] = [
  ['simple', { field: 'city', op: '=', rvalue: 'Bern' }, ['city']],
  ['simple, by a list', { field: 'city', op: '$in', values: ['Bern', 'Basel'] }, ['city']],
  ['simple, by a range', { field: 'city', op: '>', rvalue: 'B' }, ['city']],
  ['simple, by the beginning of a pattern', { field: 'city', regex: '^Be' }, ['city']],
  [
    'compound',
    {
      $and: [
        { field: 'born', op: '=', rvalue: '20240102T03:04:05.678+0000' },
        { field: 'score', op: '>', rvalue: 5 },
      ],
    },
    ['born', 'score'],
  ],
  ['unique', { field: 'zip', op: '=', rvalue: '3000' }, ['zip']],
  ['descending', { field: 'score', op: '>=', rvalue: 9 }, ['score']],
  ['into an object', { field: 'address.street', op: '=', rvalue: 'Main' }, ['address.street']],
  ['ignoring case', { field: 'name', regex: '^ANN', caseInsensitive: true }, ['name']],
  ['decimal', { field: 'worth', op: '<', rvalue: 1.5 }, ['worth']],
  ['into an array', { field: 'tags.*', op: '=', rvalue: 'a' }, ['tags.*']],
  ['into an array, ignoring case', { field: 'words.*', regex: '^ANN', caseInsensitive: true }, ['words.*']],
  ['into an array, by contains', { array: 'tags', contains: '$any', values: ['a', 'b'] }, ['tags.*']],
  ['into an array of objects', { field: 'jobs.*.title', op: '=', rvalue: 'cook' }, ['jobs.*.title']],
  [
    'into an array of objects, by elemMatch',
    { array: 'jobs', elemMatch: { field: 'title', op: '=', rvalue: 'cook' } },
    ['jobs.*.title'],
  ],
]

interface WinningPlan {
  readonly stage: string
  readonly indexes: readonly { readonly fields: readonly { readonly field: string }[] }[]
}

test('indexes: explain names the index that serves a query', async (t) => {
  await using on = await openTestService()
  await on.define('person', FIELDS, { info: { indexes: INDEXES } })
  await on.store('person', [{ zip: '3000', city: 'Bern', tags: ['a'] }])
  const planOf = async (query: Json): Promise<WinningPlan> => {
    const request = { query, projection: { field: '_id' } }
    const response = await on.service.data.explain(ADMIN, { entity: 'person' }, request)
    const [entry] = response.processed!.map((text) => JSON.parse(text))
    return entry.sqlite.plan.queryPlanner.winningPlan
  }
  for (const [kind, query, fields] of SERVED) {
    await t.test(kind, async () => {
      const { stage, indexes } = await planOf(query)
      assert.equal(stage, 'INDEX')
      assert.ok(indexes.some((index) => index.fields.map(({ field }) => field).join() === fields.join()))
    })
  }
  await t.test('a question about a field without an index is a scan', async () => {
    assert.equal((await planOf({ field: 'address.street', op: '!=', rvalue: 'x' })).stage, 'SCAN')
  })
  await t.test('a question for an _id is a lookup', async () => {
    assert.equal((await planOf({ field: '_id', op: '=', rvalue: 'x' })).stage, 'ID')
  })
})
