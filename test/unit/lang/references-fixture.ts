/** Shops as the tests of references see them: customers, their orders, and what was ordered. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Schema } from '../../../src/schema/schema.ts'
import { compiledSchema } from '../../support/schema.ts'
import { createEvaluator } from '../../support/references-evaluator.ts'

const string = { type: 'string' }
const integer = { type: 'integer' }
const object = (fields: JsonObject): JsonObject => ({ type: 'object', fields })
const array = (items: Json): JsonObject => ({ type: 'array', items })
const reference = (entity: string, query?: Json, more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity,
  ...(query !== undefined && { query }),
  ...more,
})
const same = (field: string, rfield: string): JsonObject => ({ field, op: '=', rfield })

export const FIELDS: Readonly<Record<string, JsonObject>> = {
  customer: {
    _id: string,
    name: string,
    city: string,
    score: integer,
    born: { type: 'date' },
    wanted: array(string),
    home: object({
      zip: string,
      /** Out of the object that holds it by one step, out of the document by two. */
      deliveries: reference('order', {
        $and: [same('zip', '$parent.zip'), same('customer', '$parent.$parent._id')],
      }),
    }),
    visits: array(
      object({
        shop: string,
        day: integer,
        bought: reference('order', {
          $and: [same('shop', '$parent.shop'), same('customer', '$parent.$parent._id')],
        }),
      }),
    ),
    orders: reference('order', same('customer', '$parent._id'), { sort: { total: '$desc' } }),
    wishes: reference('product', { field: '_id', op: '$in', rfield: '$parent.wanted' }),
    neighbours: reference('customer', {
      $and: [same('city', '$parent.city'), { field: '_id', op: '!=', rfield: '$parent._id' }],
    }),
    catalogue: reference('product'),
    cheap: reference('product', { field: 'price', op: '<', rvalue: 10 }),
  },
  order: {
    _id: string,
    customer: string,
    zip: string,
    shop: string,
    total: integer,
    tags: array(string),
    lines: array(
      object({ sku: string, n: integer, product: reference('product', same('_id', '$parent.sku')) }),
    ),
    /** Those that its shop offers for no more than its total. */
    offered: reference('product', {
      array: 'offers',
      elemMatch: {
        $and: [
          same('shop', '$parent.$parent.shop'),
          { field: 'min', op: '<=', rfield: '$parent.$parent.total' },
        ],
      },
    }),
    buyer: reference('customer', same('_id', '$parent.customer')),
  },
  product: {
    _id: string,
    price: integer,
    stock: integer,
    label: string,
    tags: array(string),
    offers: array(object({ shop: string, min: integer })),
  },
}

export const DOCUMENTS: Readonly<Record<string, readonly JsonObject[]>> = {
  customer: [
    {
      _id: 'ann',
      name: 'Ann',
      city: 'Rome',
      score: 30,
      wanted: ['pen', 'ink'],
      home: { zip: '1' },
      visits: [{ shop: 'north', day: 1 }, { shop: 'south', day: 2 }, null],
    },
    { _id: 'bob', name: 'Bob', city: 'Rome', score: 5, wanted: [], home: { zip: '2' }, visits: [] },
    { _id: 'cid', city: 'Oslo', wanted: ['car', null], visits: [{ day: 3 }] },
    { _id: 'dan', name: 'Dan', score: 7, home: {} },
  ],
  order: [
    {
      _id: 'o1',
      customer: 'ann',
      zip: '1',
      shop: 'north',
      total: 30,
      tags: ['gift', 'fast'],
      'tags#': 2,
      lines: [
        { sku: 'pen', n: 3 },
        { sku: 'ink', n: 1 },
      ],
    },
    { _id: 'o2', customer: 'ann', zip: '2', shop: 'south', total: 5, lines: [{ sku: 'pen', n: 1 }] },
    { _id: 'o3', customer: 'bob', zip: '2', total: 50, tags: [], lines: [{ sku: 'car', n: 9 }] },
    { _id: 'o4', shop: 'north', total: 1 },
  ],
  product: [
    {
      _id: 'pen',
      price: 2,
      stock: 2,
      label: 'a pen',
      tags: ['gift'],
      'tags#': 1,
      offers: [
        { shop: 'north', min: 20 },
        { shop: 'south', min: 10 },
      ],
    },
    { _id: 'ink', price: 5, stock: 9, label: 'ink', offers: [{ shop: 'north', min: 40 }] },
    { _id: 'car', price: 900, stock: 1 },
  ],
}

const SCHEMAS = new Map<string, Schema>(
  Object.entries(FIELDS).map(([entity, fields]) => [entity, compiledSchema(entity, fields)]),
)

export const EVALUATOR = createEvaluator({
  schemaOf: (entity) => SCHEMAS.get(entity)!,
  documentsOf: (entity) => DOCUMENTS[entity]!,
})
