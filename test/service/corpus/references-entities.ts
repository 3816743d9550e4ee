/** Entities that refer to each other in the ways that the cases about references are about, and their documents. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })
const array = (items: Json): JsonObject => ({ type: 'array', items })
const same = (field: string, rfield: string): JsonObject => ({ field, op: '=', rfield })
const other = (field: string, rfield: string): JsonObject => ({ field, op: '!=', rfield })
const reference = (entity: string, query: Json, more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity,
  query,
  ...more,
})

export interface Held {
  readonly fields: JsonObject
  readonly info?: JsonObject
  readonly documents: readonly JsonObject[]
}

/** The first one lives apart from the others where there are two stores. */
export const ENTITIES: Readonly<Record<string, Held>> = {
  A: {
    fields: {
      _id: string,
      group: string,
      b_ref: string,
      refs: array(string),
      obj1: object({ c_ref: string, c: reference('C', same('_id', '$parent.c_ref')) }),
      level1: object({
        arr1: array(object({ b_ref: string, ref: reference('B', same('_id', '$parent.b_ref')) })),
      }),
      b: reference('B', same('_id', '$parent.b_ref')),
      nonid_b: reference('B', same('group', '$parent.group'), { sort: { field1: '$desc' } }),
      in_b: reference('B', { field: '_id', op: '$in', rfield: '$parent.refs' }),
      short_b: reference('B', same('group', '$parent.group'), {
        projection: [{ field: '_id' }, { field: 'group' }],
      }),
    },
    documents: [
      { _id: 'A01', group: 'g1', b_ref: 'B01', obj1: { c_ref: 'C01' }, refs: ['B01', 'B02', 'B03'] },
      { _id: 'A02', group: 'g2', b_ref: 'B02', obj1: { c_ref: 'C02' }, refs: [] },
      { _id: 'A03', group: 'g8', b_ref: 'B03', obj1: { c_ref: 'C03' } },
      { _id: 'A04', group: 'g9', b_ref: 'none', obj1: {} },
      { _id: 'ADEEP', group: 'g9', level1: { arr1: [{ b_ref: 'BDEEP1' }, { b_ref: 'BDEEP2' }] } },
    ],
  },
  B: {
    fields: {
      _id: string,
      field1: string,
      group: string,
      c_ref: string,
      c: reference('C', same('_id', '$parent.c_ref')),
      parents: reference('A', same('b_ref', '$parent._id')),
    },
    documents: [
      { _id: 'B01', field1: 'x1', group: 'g1', c_ref: 'C01' },
      { _id: 'B02', field1: 'x2', group: 'g1', c_ref: 'C02' },
      { _id: 'B03', field1: 'x3', group: 'g2', c_ref: 'C03' },
      { _id: 'B04', field1: 'x4', group: 'g2' },
      { _id: 'BDEEP1', field1: 'bdeep1', group: 'g3' },
      { _id: 'BDEEP2', field1: 'bdeep2', group: 'g3' },
    ],
  },
  C: {
    fields: { _id: string, field1: string, d_ref: string, d: reference('D', same('_id', '$parent.d_ref')) },
    documents: [
      { _id: 'C01', field1: 'c1', d_ref: 'D01' },
      { _id: 'C02', field1: 'c2', d_ref: 'D02' },
      { _id: 'C03', field1: 'c3' },
    ],
  },
  D: {
    fields: { _id: string, field1: string },
    documents: [
      { _id: 'D01', field1: 'd1' },
      { _id: 'D02', field1: 'd2' },
    ],
  },
  /** Joined by elements of an array of theirs, in either of two ways. */
  offer: {
    fields: {
      _id: string,
      city: string,
      kind: string,
      buyers: reference('buyer', {
        array: 'wishes',
        elemMatch: {
          $or: [
            { $and: [same('city', '$parent.$parent.city'), { field: 'how', op: '=', rvalue: 'near' }] },
            { $and: [same('kind', '$parent.$parent.kind'), { field: 'how', op: '=', rvalue: 'any' }] },
          ],
        },
      }),
    },
    documents: [
      { _id: 'f1', city: 'Rome', kind: 'car' },
      { _id: 'f2', city: 'Oslo', kind: 'boat' },
    ],
  },
  buyer: {
    fields: { _id: string, wishes: array(object({ city: string, kind: string, how: string })) },
    documents: [
      { _id: 'u1', wishes: [{ city: 'Rome', kind: 'boat', how: 'near' }] },
      {
        _id: 'u2',
        wishes: [
          { city: 'Rome', kind: 'car', how: 'any' },
          { city: 'Bonn', how: 'near' },
        ],
      },
      { _id: 'u3', wishes: [{ city: 'Oslo', kind: 'plane', how: 'any' }] },
      { _id: 'u4' },
    ],
  },
  /** They refer to each other in a circle. */
  person: {
    fields: {
      _id: string,
      name: string,
      employer: string,
      works_at: reference('firm', same('_id', '$parent.employer')),
    },
    documents: [
      { _id: 'p1', name: 'ann', employer: 'f1' },
      { _id: 'p2', name: 'bob', employer: 'f1' },
      { _id: 'p3', name: 'cid', employer: 'f2' },
      { _id: 'p4', name: 'dan', employer: 'f2' },
      { _id: 'p5', name: 'eve', employer: 'f3' },
      { _id: 'p6', name: 'fay' },
    ],
  },
  firm: {
    fields: {
      _id: string,
      town: string,
      staff: reference('person', same('employer', '$parent._id'), { sort: { name: '$desc' } }),
    },
    documents: [
      { _id: 'f1', town: 'Rome' },
      { _id: 'f2', town: 'Oslo' },
      { _id: 'f3', town: 'Bonn' },
      { _id: 'f4', town: 'Rome' },
    ],
  },
  /** Refers to itself by what two arrays have in common. */
  topic: {
    fields: {
      _id: string,
      tags: array(string),
      size: integer,
      alike: reference('topic', {
        $and: [
          other('_id', '$parent._id'),
          { array: 'tags', elemMatch: { field: '$this', op: '$in', rfield: '$parent.$parent.tags' } },
        ],
      }),
      larger: reference('topic', {
        $and: [
          { field: 'size', op: '>', rfield: '$parent.size' },
          { field: '_id', op: '$nin', rfield: '$parent.tags' },
        ],
      }),
    },
    documents: [
      { _id: 't1', tags: ['all', 't2'], size: 1 },
      { _id: 't2', tags: ['all'], size: 2 },
      { _id: 't3', tags: ['all', 'x'], size: 3 },
      { _id: 't4', tags: ['x', 'all'], size: 4 },
    ],
  },
  /** Joined by a unique index of two fields, one of which is the same for all. */
  city: {
    fields: {
      _id: string,
      code: string,
      near: string,
      country: reference('country', {
        $and: [{ field: 'planet', op: '=', rvalue: 'earth' }, same('$parent.code', 'code')],
      }),
      neighbour: reference('city', same('_id', '$parent.near')),
    },
    documents: [
      { _id: 'c1', code: 'it', near: 'c2' },
      { _id: 'c2', code: 'no', near: 'c3' },
      { _id: 'c3' },
      { _id: 'c4', code: 'xx', near: 'c1' },
      { _id: 'c5', code: 'de', near: 'c5' },
    ],
  },
  country: {
    info: {
      indexes: [{ name: 'code', unique: true, fields: [{ field: 'planet' }, { field: 'code' }] }],
    },
    fields: {
      _id: string,
      planet: string,
      code: string,
      people: integer,
      area: { type: 'bigdecimal' },
      spoken: array(string),
    },
    documents: [
      { _id: 'y1', planet: 'earth', code: 'it', people: 59, area: 301.5, spoken: ['it', 'de'] },
      { _id: 'y2', planet: 'earth', code: 'no', people: 6, area: 385.25, spoken: ['nb'] },
      { _id: 'y3', planet: 'earth', code: 'de', area: 357.6, spoken: [] },
      { _id: 'y4', planet: 'mars', code: 'xx', people: 1, area: 144.8, spoken: ['a'] },
    ],
  },
}
