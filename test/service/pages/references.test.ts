/** Pages by cursor of finds that are sorted through references, wherever the entities are. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type Json, type JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { printResponse } from '../../../src/service/response.ts'
import { PLACINGS, type ReferencesService, openReferencesService } from '../../support/references-service.ts'
import { ADMIN, codeOf, documentsOf } from '../../support/service.ts'
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
        const body = { sort, projection: [{ field: '*' }, { field: 'maker.*._id' }] }
        const all = await on.service.data.find(ADMIN, { entity: 'item' }, body)
        assert.equal(all.processed?.length, ITEMS.length, printResponse(all))
        for (const size of [1, 3]) {
          assert.deepEqual(await walk({ service: on.service, entity: 'item', body, size }), all.processed)
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
