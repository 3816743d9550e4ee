/** Aggregates that lead through references, with all documents in one store and in two. */
import assert from 'node:assert/strict'
import { after, before, suite, test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { PLACINGS, type ReferencesService, openReferencesService } from '../../support/references-service.ts'
import { ADMIN } from '../../support/service.ts'

const string = { type: 'string' }
const to = (entity: string, key: string): JsonObject => ({
  type: 'reference',
  entity,
  query: { field: '_id', op: '=', rfield: `$parent.${key}` },
})

/** The first one lives apart where there are two stores. */
const ENTITIES = [
  { name: 'country', fields: { _id: string, name: string } },
  {
    name: 'customer',
    fields: {
      _id: string,
      city: string,
      countryId: string,
      country: to('country', 'countryId'),
      friends: {
        type: 'array',
        items: { type: 'object', fields: { friendId: string, friend: to('customer', 'friendId') } },
      },
    },
  },
  {
    name: 'order',
    fields: {
      _id: string,
      customerId: string,
      amount: { type: 'bigdecimal' },
      date: { type: 'date' },
      customer: to('customer', 'customerId'),
      lines: {
        type: 'array',
        items: {
          type: 'object',
          fields: {
            no: { type: 'integer' },
            giftId: string,
            gift: to('customer', 'giftId'),
            payer: to('customer', '$parent.customerId'),
          },
        },
      },
    },
  },
]

const DOCUMENTS: Readonly<Record<string, readonly JsonObject[]>> = {
  country: [
    { _id: 'CH', name: 'Switzerland' },
    { _id: 'FR', name: 'France' },
  ],
  customer: [
    { _id: 'ann', city: 'Bern', countryId: 'CH', friends: [{ friendId: 'eve' }, { friendId: 'bob' }] },
    { _id: 'bob', city: 'Bern', countryId: 'CH' },
    { _id: 'eve', city: 'Paris', countryId: 'FR' },
  ],
  order: [
    {
      _id: '1',
      customerId: 'ann',
      amount: 10,
      date: '2024-01-31T23:30:00Z',
      lines: [{ no: 1, giftId: 'eve' }, { no: 2 }],
    },
    {
      _id: '2',
      customerId: 'bob',
      amount: 5,
      date: '2024-01-31T23:30:00Z',
      lines: [{ no: 3, giftId: 'bob' }],
    },
    { _id: '3', customerId: 'eve', amount: 7, date: '2024-02-01T23:30:00Z' },
    { _id: '4', customerId: 'nobody', amount: 100, date: '2024-02-01T23:30:00Z' },
    { _id: '5', amount: 1 },
  ],
}

interface Case {
  readonly name: string
  readonly request: JsonObject
  readonly processed: readonly string[]
  /** Whether its paths lead to the entity that may live apart. */
  readonly leadsAway?: boolean
}

const CASES: readonly Case[] = [
  {
    name: 'each joined document is a row; documents without one have none',
    request: {
      groupBy: [{ field: 'customer.*.city', as: 'city' }],
      values: { orders: { $count: true }, total: { $sum: 'amount' } },
    },
    processed: ['{"city":"Bern","orders":2,"total":15}', '{"city":"Paris","orders":1,"total":7}'],
  },
  {
    name: 'the evaluator joins the same documents',
    request: {
      groupBy: [
        { field: 'customer.*.city', as: 'city' },
        { field: 'date', truncate: 'month', timeZone: 'Europe/Zurich', as: 'month' },
      ],
      values: { total: { $sum: 'amount' } },
    },
    processed: [
      '{"city":"Bern","month":"20240131T23:00:00.000+0000","total":15}',
      '{"city":"Paris","month":"20240131T23:00:00.000+0000","total":7}',
    ],
  },
  {
    name: 'a reference in the elements of an array',
    request: {
      groupBy: [{ field: 'lines.*.gift.*.city', as: 'city' }],
      values: { no: { $max: 'lines.*.no' }, amount: { $sum: 'amount' } },
    },
    processed: ['{"city":"Bern","no":3,"amount":5}', '{"city":"Paris","no":1,"amount":10}'],
  },
  {
    name: 'a reference in an element by its index',
    request: {
      groupBy: [{ field: 'lines.0.gift.*.city', as: 'city' }],
      values: { amount: { $sum: 'amount' } },
    },
    processed: ['{"city":"Bern","amount":5}', '{"city":"Paris","amount":10}'],
  },
  {
    name: 'a reference in an element by its index from the end, joined by the evaluator',
    request: {
      groupBy: [
        { field: 'lines.-1.gift.*.city', as: 'city' },
        { field: 'date', truncate: 'month', timeZone: 'Europe/Zurich', as: 'month' },
      ],
    },
    processed: ['{"city":"Bern","month":"20240131T23:00:00.000+0000"}'],
  },
  {
    name: 'a reference in an element by its index, by a field outside of the array',
    request: {
      groupBy: [{ field: 'lines.0.payer.*.city', as: 'city' }],
      values: { amount: { $sum: 'amount' } },
    },
    processed: ['{"city":"Bern","amount":15}'],
  },
  {
    name: 'a reference in an element of a joined document by its index',
    request: {
      groupBy: [{ field: 'customer.*.friends.0.friend.*.city', as: 'city' }],
      values: { amount: { $sum: 'amount' } },
    },
    processed: ['{"city":"Paris","amount":10}'],
  },
  {
    name: 'a reference of a reference',
    request: {
      groupBy: [{ field: 'customer.*.country.*.name', as: 'country' }],
      values: { cities: { $distinct: 'customer.*.city' }, total: { $sum: 'amount' } },
    },
    processed: [
      '{"country":"France","cities":1,"total":7}',
      '{"country":"Switzerland","cities":1,"total":15}',
    ],
    leadsAway: true,
  },
  {
    name: 'a query that leads through references',
    request: {
      query: { field: 'customer.*.country.*.name', op: '=', rvalue: 'Switzerland' },
      groupBy: ['customerId'],
      values: { total: { $sum: 'amount' } },
    },
    processed: ['{"customerId":"ann","total":10}', '{"customerId":"bob","total":5}'],
  },
  {
    name: 'a query that leads through references, and a negation that no list of keys expresses',
    request: {
      query: {
        $or: [
          { field: 'customer.*.country.*.name', op: '=', rvalue: 'France' },
          { field: 'customer.*.country#', op: '=', rvalue: 0 },
        ],
      },
      values: { orders: { $count: true } },
    },
    processed: ['{"orders":1}'],
  },
]

for (const placing of PLACINGS) {
  void suite(`on ${placing.name}`, () => {
    let tester: ReferencesService
    before(async () => {
      tester = await openReferencesService(placing)
      await tester.define(ENTITIES)
      for (const [entity, documents] of Object.entries(DOCUMENTS)) await tester.store(entity, documents)
    })
    after(() => tester[Symbol.asyncDispose]())

    for (const { name, request, processed, leadsAway } of CASES) {
      void test(`aggregate: ${name}`, async () => {
        const { data } = tester.service
        const response = await data.aggregate(ADMIN, { entity: 'order' }, request)
        if (leadsAway && placing.first !== placing.others) {
          assert.equal(response.errors?.[0]?.errorCode, 'query-api:InvalidAggregation')
          assert.match(response.errors[0].msg, /another datasource/)
          return
        }
        assert.deepEqual(response.errors, undefined)
        assert.deepEqual(response.processed, processed)
        const explained = await data.explain(ADMIN, { entity: 'order' }, request)
        assert.equal(explained.matchCount, processed.length, JSON.stringify(explained))
      })
    }
  })
}
