/** Differences that the agreement test found, as small as it could make them, so that they are never found again. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Held } from './references-entities.ts'

/** Cases that share their documents. */
export interface Found {
  readonly entities: Readonly<Record<string, Held>>
  readonly cases: readonly FoundCase[]
}

export interface FoundCase {
  readonly rule: string
  readonly entity: string
  readonly body: JsonObject
  readonly answer: readonly Json[]
}

const string = { type: 'string' }
const strings = { type: 'array', items: string }
const HELD: Readonly<Record<string, Held>> = {
  root: {
    fields: {
      _id: string,
      s: string,
      r: { type: 'reference', entity: 'leaf', query: { field: 'of', op: '=', rfield: '$parent._id' } },
      second: {
        type: 'reference',
        entity: 'leaf',
        query: { field: 'of', op: '=', rfield: '$parent._id' },
        projection: { field: 'p.1', recursive: true },
      },
    },
    documents: [
      { _id: '1', s: 'ä' },
      { _id: '2', s: '-' },
      { _id: '3', s: '-' },
    ],
  },
  leaf: {
    fields: {
      _id: string,
      of: string,
      l: strings,
      p: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            k: string,
            r: { type: 'reference', entity: 'leaf', query: { field: '_id', op: '=', rfield: '$parent.k' } },
          },
        },
      },
      r: { type: 'reference', entity: 'leaf', query: { field: 'of', op: '=', rfield: '$parent._id' } },
    },
    documents: [
      { _id: 'a', of: '2', l: ['x', 'y'], p: [{ k: 'a' }, { k: 'b' }] },
      { _id: 'b', of: 'a' },
    ],
  },
}

const ON_HELD: readonly FoundCase[] = [
  {
    rule: 'what PostgreSQL cannot answer stands beside what leads to other documents',
    entity: 'root',
    body: {
      query: {
        $or: [
          { field: 's', regex: '\\pL' },
          { field: 'r.*._id', op: '=', rvalue: 'a' },
        ],
      },
      projection: { field: '_id' },
    },
    answer: [{ _id: '1' }, { _id: '2' }],
  },
  {
    rule: 'an array projection inside of joined documents follows the reference',
    entity: 'root',
    body: {
      query: { field: '_id', op: '=', rvalue: '2' },
      projection: { field: 'r.*.l', match: { field: '$this', op: '=', rvalue: 'y' } },
    },
    answer: [{ r: [{ l: ['y'] }] }],
  },
  {
    rule: 'the number of documents that a joined document joins',
    entity: 'root',
    body: { query: { field: 'r.*.r#', op: '=', rvalue: 1 }, projection: { field: '_id' } },
    answer: [{ _id: '2' }],
  },
  {
    rule: 'elements that the projection of a reference leaves keep their own documents',
    entity: 'root',
    body: {
      query: { field: '_id', op: '=', rvalue: '2' },
      projection: [{ field: 'second.*.p.*.k' }, { field: 'second.*.p.*.r.*._id' }],
    },
    answer: [{ second: [{ p: [{ k: 'b', r: [{ _id: 'b' }] }] }] }],
  },
]

const HOLDERS: Readonly<Record<string, Held>> = {
  holder: {
    fields: {
      _id: string,
      code: string,
      orders: { type: 'reference', entity: 'order', query: { field: 'of', op: '=', rfield: '$parent.code' } },
      items: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            k: string,
            around: {
              type: 'reference',
              entity: 'order',
              query: { field: 'of', op: '=', rfield: '$parent.$parent.code' },
            },
          },
        },
      },
    },
    documents: [
      { _id: '1', code: 'a', items: [{ k: 'x' }] },
      { _id: '2', code: 'b', items: [null] },
    ],
  },
  order: {
    fields: { _id: string, of: string, item: string },
    documents: [
      { _id: 'o1', of: 'a', item: 'lamp' },
      { _id: 'o2', of: 'b', item: 'lamp' },
    ],
  },
}

const ON_HOLDERS: readonly FoundCase[] = [
  {
    rule: 'what is no object holds no reference, whatever it would join',
    entity: 'holder',
    body: {
      query: { array: 'items', elemMatch: { field: 'around.*.item', op: '=', rvalue: 'lamp' } },
      projection: { field: '_id' },
    },
    answer: [{ _id: '1' }],
  },
  {
    rule: 'a reference that is excluded shows only what is included afterwards',
    entity: 'holder',
    body: {
      query: { field: '_id', op: '=', rvalue: '2' },
      projection: [
        { field: '*', recursive: true },
        { field: 'orders', include: false, recursive: true },
        { field: 'orders.*.item' },
        { field: 'items', include: false },
        { field: 'objectType', include: false },
        { field: 'items#', include: false },
      ],
    },
    answer: [{ _id: '2', code: 'b', orders: [{ item: 'lamp' }] }],
  },
]

const leafOf = (name: string): JsonObject => ({
  type: 'reference',
  entity: 'leaf',
  query: { field: '_id', op: '=', rfield: `$parent.${name}` },
})
const EMPTY: Readonly<Record<string, Held>> = {
  root: {
    fields: {
      _id: string,
      o: { type: 'object', fields: { k: string, r: leafOf('k') } },
      l: { type: 'array', items: { type: 'object', fields: { k: string, r: leafOf('k') } } },
    },
    documents: [{ _id: '1', o: {}, l: [{ k: 'a' }, {}, { k: 'z' }] }],
  },
  leaf: { fields: { _id: string }, documents: [{ _id: 'a' }] },
}

const ON_EMPTY: readonly FoundCase[] = [
  {
    rule: 'an included empty object is shown, also where its reference joins nothing',
    entity: 'root',
    body: { projection: [{ field: 'o.k' }, { field: 'o.r.*._id' }] },
    answer: [{ o: {} }],
  },
  {
    rule: 'included empty elements are shown, also where their reference joins nothing',
    entity: 'root',
    body: { projection: [{ field: 'l.*.k' }, { field: 'l.*.r.*._id' }] },
    answer: [{ l: [{ k: 'a', r: [{ _id: 'a' }] }, {}, { k: 'z' }] }],
  },
  {
    rule: 'an object that is not empty is left out where nothing of it is included',
    entity: 'root',
    body: { projection: { field: 'l.*.r.*._id' } },
    answer: [{ l: [{ r: [{ _id: 'a' }] }, {}] }],
  },
  {
    rule: 'an exclusion does not hide references in what a later item includes again',
    entity: 'root',
    body: {
      projection: [{ field: 'l.*.r.*._id' }, { field: 'l', include: false }, { field: 'l.1.r' }],
    },
    answer: [{ l: [{ r: [{ _id: 'a' }] }, {}] }],
  },
]

export const FOUND: readonly Found[] = [
  { entities: HELD, cases: ON_HELD },
  { entities: HOLDERS, cases: ON_HOLDERS },
  { entities: EMPTY, cases: ON_EMPTY },
]
