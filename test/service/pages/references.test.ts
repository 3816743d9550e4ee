/** Pages by cursor of finds that are sorted through references, wherever the entities are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { type Json, type JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { printResponse } from '../../../src/service/response.ts'
import { PLACINGS, type ReferencesService, openReferencesService } from '../../support/references-service.ts'
import { startTestServer } from '../../support/server.ts'
import { ADMIN, codeOf, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

const STRING = { type: 'string' }
const FIELDS: JsonObject = {
  _id: STRING,
  n: { type: 'integer' },
  no: { type: 'integer' },
  maker: { type: 'reference', entity: 'maker', query: { field: 'no', op: '=', rfield: '$parent.no' } },
  same: { type: 'reference', entity: 'item', query: { field: 'no', op: '=', rfield: '$parent.no' } },
}
const MAKER: JsonObject = {
  _id: STRING,
  no: { type: 'integer' },
  name: STRING,
  size: { type: 'bigdecimal' },
  since: { type: 'date' },
  isOpen: { type: 'boolean' },
  ratio: { type: 'double' },
  tags: { type: 'array', items: STRING },
  items: { type: 'reference', entity: 'item', query: { field: 'no', op: '=', rfield: '$parent.no' } },
}
const LONG = 'm'.repeat(300)
/** Two of them have no number, so that a reference may join both of them to an item without one. */
const MAKERS: readonly Json[] = [
  {
    _id: 'a',
    no: 1,
    name: 'x',
    size: parseTrusted('1.50'),
    since: '20240102T03:04:05.678+0000',
    tags: ['b', 'c'],
  },
  { _id: 'b', no: 2, name: LONG, size: parseTrusted('12345678901234567890.5'), isOpen: true, ratio: 0.1 },
  {
    _id: 'c',
    no: 3,
    size: parseTrusted('1.5'),
    since: '19700101T00:00:00.000+0000',
    isOpen: false,
    tags: [],
  },
  { _id: 'd', name: 'y', size: 7, ratio: -2, tags: ['a'] },
  { _id: 'e', name: 'w', tags: ['z', null] },
]
const ITEMS: readonly Json[] = [1, 2, 3, 9, null, 1, 2, null, 3, 1].map((no, i) => ({
  _id: `i${i}`,
  n: i % 3,
  no,
}))

const SORTS: readonly Json[] = [
  { 'maker.*.name': '$asc' },
  { 'maker.*.name': '$desc' },
  [{ n: '$desc' }, { 'maker.*.size': '$asc' }],
  { 'maker.*.size': '$desc' },
  { 'maker.*.since': '$desc' },
  [{ 'maker.*.isOpen': '$asc' }, { _id: '$desc' }],
  { 'maker.*.ratio': '$asc' },
  [{ 'maker.*.tags.*': '$asc' }, { n: '$asc' }],
  { 'maker.*.tags.*': '$desc' },
  { 'maker.*._id': '$desc' },
  [{ 'same#': '$desc' }, { n: '$asc' }],
  { 'maker.*.items#': '$asc' },
]

/** Matches every item. PostgreSQL cannot evaluate this pattern, and no store the condition on documents of another one. */
const RESIDUAL: JsonObject = {
  $or: [
    { field: '_id', regex: '\\pL', caseInsensitive: true },
    { field: 'maker.*.name', op: '=', rvalue: 'none' },
  ],
}

for (const placing of PLACINGS) {
  describe(placing.name, () => {
    let on: ReferencesService
    before(async () => {
      on = await openReferencesService(placing)
      const unique = { indexes: [{ name: 'no', unique: true, fields: [{ field: 'no' }] }] }
      await on.define([
        { name: 'item', fields: FIELDS },
        { name: 'maker', fields: MAKER, info: unique },
      ])
      await on.store('maker', MAKERS)
      await on.store('item', ITEMS)
    })
    after(() => on[Symbol.asyncDispose]())

    for (const sort of SORTS) {
      test(`page: sorted by ${JSON.stringify(sort)}`, async () => {
        const { service } = on
        const find = { sort, projection: [{ field: '*' }, { field: 'maker.*._id' }] }
        const all = await service.data.find(ADMIN, { entity: 'item' }, find)
        assert.equal(all.processed?.length, ITEMS.length, printResponse(all))
        for (const body of [find, { ...find, query: RESIDUAL }]) {
          for (const size of [1, 3]) {
            assert.deepEqual(await walk({ service, entity: 'item', body, size }), all.processed)
          }
        }
      })
    }

    test('page: a cursor belongs to the reference through which it was sorted', async () => {
      const page = (sort: Json, more: JsonObject) =>
        on.service.data.find(
          ADMIN,
          { entity: 'item' },
          { sort, projection: { field: '_id' }, page: { size: 2, ...more } },
        )
      const { next } = await page({ 'same#': '$asc' }, {})
      assert.ok(next !== undefined)
      assert.equal(codeOf(await page({ 'maker#': '$asc' }, { after: next })), 'crud:InvalidCursor')
      assert.equal(documentsOf(await page({ 'same#': '$asc' }, { after: next })).length, 2)
    })
  })
}

onEveryStore(() => {
  test('HTTP: sorts through references, numbers of documents and pages, also by query parameters', async () => {
    await using server = await startTestServer()
    await server.define('maker', { _id: STRING, name: STRING })
    const maker = {
      type: 'reference',
      entity: 'maker',
      query: { field: '_id', op: '=', rfield: '$parent.by' },
    }
    await server.define('item', { _id: STRING, by: STRING, maker })
    const put = (entity: string, data: Json) =>
      server.ask('PUT', `/data/insert/${entity}`, { body: { data } })
    assert.equal(
      (
        await put('maker', [
          { _id: 'a', name: 'z' },
          { _id: 'b', name: 'y' },
        ])
      ).status,
      200,
    )
    const items = [{ _id: '1', by: 'a' }, { _id: '2', by: 'b' }, { _id: '3' }]
    assert.equal((await put('item', items)).status, 200)
    const body = {
      projection: [{ field: '_id' }, { field: 'maker#' }],
      sort: { 'maker.*.name': '$desc' },
      page: { size: 2 },
    }
    const first = await server.ask('POST', '/data/find/item', { body })
    assert.deepEqual(first.json.processed, [
      { _id: '1', 'maker#': 1 },
      { _id: '2', 'maker#': 1 },
    ])
    const page = { size: 2, after: first.json.next }
    const second = await server.ask('POST', '/data/find/item', { body: { ...body, page } })
    assert.deepEqual([second.json.processed, second.json.next], [[{ _id: '3', 'maker#': 0 }], undefined])
    const byParameters = await server.ask('GET', '/data/find/item?P=_id:1&S=maker.*.name:a')
    assert.deepEqual(byParameters.json.processed, [{ _id: '3' }, { _id: '2' }, { _id: '1' }])
    const counted = await server.ask('GET', '/data/find/item?P=_id:1,maker%23:1&S=maker%23:a&maxResults=1')
    assert.deepEqual(counted.json.processed, [{ _id: '3', 'maker#': 0 }])
    const refused = await server.ask('GET', '/data/find/item?P=_id:1&S=maker.0.name:a')
    assert.deepEqual([refused.status, refused.json.errors[0].errorCode], [400, 'query-api:InvalidSort'])
    assert.match(refused.json.errors[0].msg, /needs "\*" after the reference "maker"/)
    assert.deepEqual(server.faults(), [])
  })

  test('sort through references: as of a moment, and where a reference leads to an entity without documents', async () => {
    await using on = await openTestService()
    const history = { info: { history: true } }
    const maker = {
      type: 'reference',
      entity: 'maker',
      query: { field: '_id', op: '=', rfield: '$parent.by' },
    }
    await on.define('maker', { _id: STRING, name: STRING }, history)
    await on.define('item', { _id: STRING, by: STRING, maker }, history)
    await on.store('item', [
      { _id: '1', by: 'a' },
      { _id: '2', by: 'b' },
    ])
    const sorted = async (more: JsonObject = {}): Promise<readonly Json[]> => {
      const body = {
        sort: { 'maker.*.name': '$desc' },
        projection: [{ field: '_id' }, { field: 'maker#' }],
        ...more,
      }
      return documentsOf(await on.find('item', body)).map(({ _id, 'maker#': n }) => [_id!, n!])
    }
    assert.deepEqual(await sorted(), [
      ['1', 0],
      ['2', 0],
    ])
    assert.deepEqual(await sorted({ page: { size: 1 } }), [['1', 0]])
    await on.store('maker', [
      { _id: 'a', name: 'x' },
      { _id: 'b', name: 'y' },
    ])
    assert.deepEqual(await sorted(), [
      ['2', 1],
      ['1', 1],
    ])
    await pause(20)
    const asOf = new Date().toISOString()
    await pause(20)
    const update = { query: { field: '_id', op: '=', rvalue: 'a' }, update: { $set: { name: 'z' } } }
    assert.equal((await on.service.data.update(ADMIN, { entity: 'maker' }, update)).modifiedCount, 1)
    assert.deepEqual(await sorted(), [
      ['1', 1],
      ['2', 1],
    ])
    assert.deepEqual(await sorted({ asOf }), [
      ['2', 1],
      ['1', 1],
    ])
  })
})
