/** References to what is not defined yet: left out, refused in queries, and followed as soon as the target exists. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Json, type JsonObject, member } from '../../../src/base/json/json.ts'
import { httpStatusOf } from '../../../src/service/response.ts'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  callerWith,
  documentsOf,
  metadataDocument,
  openServiceAt,
  openTestService,
} from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

const STRING = { type: 'string' }
const BOSS = callerWith('boss')
const CLERK = callerWith('clerk')
const orders = (more: JsonObject = {}): JsonObject => ({
  type: 'reference',
  entity: 'order',
  query: { field: 'customer', op: '=', rfield: '$parent._id' },
  ...more,
})
const SHOWN = [EVERYTHING, { field: 'orders.*', recursive: true }]
const ORDER = { customer: STRING, item: STRING }
const ABOUT_ORDERS: readonly (readonly [rule: string, query: Json])[] = [
  ['a field of the documents', { field: 'orders.*.item', op: '=', rvalue: 'x' }],
  ['their number', { field: 'orders#', op: '=', rvalue: 1 }],
  ['whether there are any', { field: 'orders', op: '=', rvalue: null }],
  ['one of them', { array: 'orders', elemMatch: { field: 'item', op: '=', rvalue: 'x' } }],
  ['a negation', { $not: { field: 'orders.*.item', op: '!=', rvalue: 'x' } }],
]
const PROJECTIONS: readonly (readonly [rule: string, projection: Json])[] = [
  ['the reference', [EVERYTHING, { field: 'orders', recursive: true }]],
  ['its documents', SHOWN],
  ['a field of its documents', [EVERYTHING, { field: 'orders.*.item' }]],
  ['a range of its documents', [EVERYTHING, { field: 'orders', range: [0, 1], projection: EVERYTHING }]],
  [
    'documents that match',
    [EVERYTHING, { field: 'orders', match: { field: 'item', op: '=', rvalue: 'x' }, projection: EVERYTHING }],
  ],
]

onEveryStore(() => {
  test('undefined references: projections leave them out, queries that name them are 400', async () => {
    await using on = await openTestService()
    await on.define('customer', { _id: STRING, name: STRING, orders: orders() })
    await on.store('customer', [{ _id: '1', name: 'Ann' }])
    for (const [rule, projection] of PROJECTIONS) {
      const found = await on.find('customer', { projection })
      assert.equal(found.status, 'COMPLETE', rule)
      assert.deepEqual(documentsOf(found), [{ _id: '1', name: 'Ann', objectType: 'customer' }], rule)
    }
    for (const [rule, query] of ABOUT_ORDERS) {
      const { entity } = { entity: 'customer' }
      const responses = [
        await on.find('customer', { query, projection: EVERYTHING }),
        await on.service.data.explain(ADMIN, { entity }, { query, projection: EVERYTHING }),
        await on.service.data.delete(ADMIN, { entity }, { query }),
        await on.service.data.update(ADMIN, { entity }, { query, update: { $set: { name: 'x' } } }),
      ]
      for (const response of responses) {
        assert.equal(response.errors?.[0]?.errorCode, 'metadata:InvalidReference', rule)
        assert.match(
          response.errors[0].msg,
          /cannot be followed yet; its target is not defined, or does not fit/,
        )
        assert.equal(httpStatusOf(response), 400)
      }
    }
    assert.equal((await on.find('customer', { projection: EVERYTHING })).matchCount, 1)
  })

  test('undefined references: array projections that select by one are 400', async () => {
    await using on = await openTestService()
    const lines = { type: 'array', items: { type: 'object', fields: { sku: STRING, orders: orders() } } }
    await on.define('customer', { _id: STRING, lines })
    await on.store('customer', [{ _id: '1', lines: [{ sku: 'a' }] }])
    const match = { field: 'orders.*.item', op: '=', rvalue: 'x' }
    const selecting = await on.find('customer', {
      projection: { field: 'lines', match, projection: EVERYTHING },
    })
    assert.equal(selecting.errors?.[0]?.errorCode, 'metadata:InvalidReference')
    const projection = [EVERYTHING, { field: 'lines.*.orders.*', recursive: true }]
    assert.deepEqual(member(documentsOf(await on.find('customer', { projection }))[0], 'lines'), [
      { sku: 'a' },
    ])
  })

  test('undefined references: usable at once, also by prepared finds, and by what refers onwards', async () => {
    await using on = await openTestService()
    const item = {
      type: 'reference',
      entity: 'item',
      query: { field: '_id', op: '=', rfield: '$parent.item' },
    }
    await on.define('customer', { _id: STRING, orders: orders() })
    await on.store('customer', [{ _id: '1' }])
    const body = { projection: [EVERYTHING, { field: 'orders.*.item.*', recursive: true }, ...SHOWN] }
    const ordersNow = async (): Promise<Json | undefined> => {
      const found = await on.find('customer', body)
      assert.equal(found.status, 'COMPLETE')
      return member(documentsOf(found)[0], 'orders')
    }
    for (let i = 0; i < 3; i++) assert.equal(await ordersNow(), undefined)
    await on.define('order', { customer: STRING, item: STRING, product: { ...item } })
    await on.store('order', [{ _id: 'o', customer: '1', item: 'x' }])
    assert.equal(((await ordersNow()) as JsonObject[])[0]!.item, 'x')
    const query = { field: 'orders.*.item', op: '=', rvalue: 'x' }
    assert.equal((await on.find('customer', { query, projection: EVERYTHING })).matchCount, 1)
    const deep = {
      projection: [{ field: 'orders.*.item' }, { field: 'orders.*.product.*', recursive: true }],
    }
    const products = async (): Promise<Json | undefined> =>
      member((member(documentsOf(await on.find('customer', deep))[0], 'orders') as Json[])[0], 'product')
    for (let i = 0; i < 3; i++) assert.equal(await products(), undefined)
    await on.define('item', { _id: STRING })
    await on.store('item', [{ _id: 'x' }])
    assert.deepEqual(await products(), [{ _id: 'x', objectType: 'item' }])
  })

  test('undefined references: a target that does not fit is left out and refused until one does', async () => {
    await using on = await openTestService()
    await on.define('customer', { _id: STRING, orders: orders() })
    await on.store('customer', [{ _id: '1' }])
    await on.define('order', { buyer: STRING })
    assert.deepEqual(documentsOf(await on.find('customer', { projection: SHOWN })), [
      { _id: '1', objectType: 'customer' },
    ])
    const query = { field: 'orders#', op: '=', rvalue: 0 }
    const refused = await on.find('customer', { query, projection: EVERYTHING })
    assert.equal(refused.errors?.[0]?.errorCode, 'metadata:InvalidReference')
    assert.match(refused.errors[0].msg, /cannot be followed yet/)
    const more = {
      info: { defaultVersion: '2.0.0' },
      schema: { version: { value: '2.0.0', changelog: 'fits' } },
    }
    const target = { entity: 'order', version: '2.0.0' }
    await on.service.metadata.create(ADMIN, target, metadataDocument('order', ORDER, more))
    assert.equal((await on.find('customer', { query, projection: EVERYTHING })).matchCount, 1)
  })

  test('undefined references: one that becomes defined shows what its own entity allows, to whom it allows it', async () => {
    await using on = await openTestService()
    await on.define('customer', { _id: STRING, orders: orders() })
    await on.store('customer', [{ _id: '1' }])
    const fields = { customer: STRING, item: STRING, secret: { ...STRING, access: { find: ['boss'] } } }
    await on.define('order', fields, { schema: { access: { ...ANYONE, find: ['boss', 'clerk'] } } })
    await on.insert('order', { data: [{ _id: 'o', customer: '1', item: 'x', secret: 's' }] }, BOSS)
    const seen = async (caller: typeof BOSS): Promise<string> =>
      JSON.stringify(documentsOf(await on.find('customer', { projection: SHOWN }, caller)))
    assert.match(await seen(BOSS), /"secret":"s"/)
    assert.match(await seen(CLERK), /"item":"x"/)
    assert.doesNotMatch(await seen(CLERK), /secret/)
    assert.doesNotMatch(await seen(callerWith()), /orders/)
    const query = { field: 'orders.*.secret', op: '=', rvalue: 's' }
    for (const caller of [CLERK, callerWith()]) {
      const response = await on.find('customer', { query, projection: EVERYTHING }, caller)
      assert.equal(response.errors?.[0]?.errorCode, 'crud:NoAccess')
    }
  })

  test('undefined references: what another version stored under the name is not shown', async () => {
    await using on = await openTestService()
    await on.define('t', { _id: STRING, kids: { ...STRING, access: { find: ['boss'] } } })
    await on.insert('t', { data: [{ _id: '1', kids: 'SECRET' }] }, BOSS)
    const kids = { type: 'reference', entity: 'nowhere' }
    const version = { value: '2.0.0', changelog: 'kids refer' }
    const { schema } = metadataDocument('t', { _id: STRING, kids }, { schema: { version } })
    await on.service.metadata.createSchema(ADMIN, { entity: 't', version: '2.0.0' }, schema)
    for (const projection of [
      EVERYTHING,
      [EVERYTHING, { field: 'kids', recursive: true }],
      { field: 'kids.*' },
    ]) {
      const response = await on.service.data.find(CLERK, { entity: 't', version: '2.0.0' }, { projection })
      assert.equal(response.status, 'COMPLETE')
      assert.doesNotMatch(JSON.stringify(documentsOf(response)), /SECRET/)
    }
  })

  test('undefined references: another process follows them within a second', async () => {
    if (storeKind() === 'sqlite') return
    await using on = await openTestService()
    await using other = await openServiceAt(on.location)
    await on.define('customer', { _id: STRING, orders: orders() })
    await on.store('customer', [{ _id: '1' }])
    await on.define('order', ORDER)
    await on.store('order', [{ _id: 'o', customer: '1', item: 'x' }])
    const startMs = performance.now()
    for (;;) {
      const found = await other.data.find(ADMIN, { entity: 'customer' }, { projection: SHOWN })
      const [document] = found.status === 'COMPLETE' ? documentsOf(found) : []
      if (member(document, 'orders') !== undefined) break
      assert.ok(performance.now() - startMs < 20_000, 'the other process does not follow the reference')
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  })
})
