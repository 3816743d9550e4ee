/** How many statements a request with references takes: one where one store has all, one for each level otherwise. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { openService } from '../../src/service/open.ts'
import type { Service } from '../../src/service/service.ts'
import type { StoreKind } from '../../src/store/store.ts'
import { recordStatements } from '../store/record-statements.ts'
import { citusUrl, testUnlessOnCitus } from '../support/citus.ts'
import {
  ADMIN,
  EVERYTHING,
  callerWith,
  documentsOf,
  failLoudly,
  metadataDocument,
} from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'

const ROOTS = 50
const recorded = recordStatements()

interface Opened extends AsyncDisposable {
  readonly service: Service
  /** Reads that stores were asked for since the last time. */
  readonly reads: () => number
}

/** Roots, their children and the children of those; each level where it is said to be. */
async function opened(kinds: readonly [StoreKind, StoreKind, StoreKind]): Promise<Opened> {
  await using stack = new AsyncDisposableStack()
  const names = [...new Set(kinds)]
  const datasources: { name: string; location: string }[] = []
  for (const name of names) datasources.push({ name, location: stack.use(await freshPlace(name)).location })
  let count = 0
  const service = stack.use(
    await openService({
      datasources,
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
      onStoreTiming: (operation) => void (count += operation === 'find' ? 1 : 0),
    }),
  )
  const string = { type: 'string' }
  const indexes = [{ name: 'above', fields: [{ field: 'above' }] }]
  const levels = ['grandchild', 'child', 'root']
  for (const [i, entity] of levels.entries()) {
    const below = levels[i - 1]
    const query = { field: 'above', op: '=', rfield: '$parent._id' }
    const kind = kinds[2 - i]!
    const fields = {
      _id: string,
      above: string,
      ...(below && { below: { type: 'reference', entity: below, query } }),
    }
    const info = { datastore: { backend: kind, datasource: kind }, indexes }
    await service.metadata.create(
      ADMIN,
      { entity, version: '1.0.0' },
      metadataDocument(entity, fields, { info }),
    )
    const above = levels[i + 1]
    const data = Array.from({ length: ROOTS }, (_, n) => ({
      _id: `${entity}${n}`,
      ...(above && { above: `${above}${n}` }),
    }))
    await service.data.insert(ADMIN, { entity }, { data })
  }
  const owned = stack.move()
  return {
    service,
    reads() {
      const told = count
      count = 0
      return told
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

const TREE: JsonObject = {
  projection: [EVERYTHING, { field: 'below', recursive: true }, { field: 'below.*.below', recursive: true }],
}
const BY_GRANDCHILD: JsonObject = {
  query: { field: 'below.*.below.*._id', op: '=', rvalue: 'grandchild7' },
  projection: { field: '_id' },
}

const CASES: readonly (readonly [StoreKind, StoreKind, StoreKind, number])[] = [
  ['sqlite', 'sqlite', 'sqlite', 1],
  ['postgres', 'postgres', 'postgres', 1],
  ['sqlite', 'postgres', 'postgres', 2],
  ['postgres', 'sqlite', 'sqlite', 2],
  ['sqlite', 'sqlite', 'postgres', 2],
  ['sqlite', 'postgres', 'sqlite', 3],
]

for (const [root, child, grandchild, inStatements] of CASES) {
  const pairs = [`${root} ${child}`, `${child} ${grandchild}`]
  // On a cluster, the documents to show of each level are read by themselves.
  const separate = citusUrl() === undefined ? 0 : pairs.filter((pair) => pair === 'postgres postgres').length
  const reads = inStatements + separate
  test(`references: ${root}, ${child}, ${grandchild}: ${reads} reads, however many documents`, async () => {
    await using on = await opened([root, child, grandchild])
    on.reads()
    const shown = documentsOf(await on.service.data.find(ADMIN, { entity: 'root' }, TREE))
    assert.equal(shown.length, ROOTS)
    assert.ok(shown.every((each) => JSON.stringify(each).includes('"grandchild')))
    assert.equal(on.reads(), reads)
    const found = documentsOf(await on.service.data.find(ADMIN, { entity: 'root' }, BY_GRANDCHILD))
    assert.deepEqual(found, [{ _id: 'root7' }])
    assert.equal(on.reads(), inStatements)
  })
}

const testJoins = testUnlessOnCitus('joins')

testJoins('references: on PostgreSQL one read is one statement', async () => {
  await using on = await opened(['postgres', 'postgres', 'postgres'])
  for (const body of [TREE, BY_GRANDCHILD]) {
    const from = recorded.length
    await on.service.data.find(ADMIN, { entity: 'root' }, body)
    const about = recorded.slice(from).filter(({ text }) => /\bdoc_\d/.test(text))
    assert.equal(about.length, 1, about.map(({ text }) => text).join('\n'))
  }
})

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`references: on ${kind} documents are counted once for all numbers of a list`, async () => {
    await using on = await opened([kind, kind, kind])
    const body = (op: string, length: number): JsonObject => ({
      query: { field: 'below#', op, values: Array.from({ length }, (_, i) => i + 1) },
      projection: { field: '_id' },
    })
    const explained = async (op: string, length: number): Promise<JsonObject> => {
      const response = await on.service.data.explain(ADMIN, { entity: 'root' }, body(op, length))
      return (documentsOf(response)[0]![kind] as JsonObject)['query'] as JsonObject
    }
    for (const [op, count] of [
      ['$in', ROOTS],
      ['$nin', 0],
    ] as const) {
      assert.deepEqual((await explained(op, 10_000))['sql'], (await explained(op, 2))['sql'])
      const found = await on.service.data.find(ADMIN, { entity: 'root' }, body(op, 10_000))
      assert.equal(found.matchCount, count)
    }
  })
}

testJoins(
  'references: on PostgreSQL alternatives with indexes are found by the keys that they lead to',
  async () => {
    await using place = await freshPlace('postgres')
    await using service = await openService({
      datasources: [{ name: 'postgres', location: place.location }],
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
    })
    const string = { type: 'string' }
    const query = { field: 'code', op: '=', rfield: '$parent.code' }
    const entities = {
      customer: { code: string, name: string, email: string, note: string },
      order: { code: string, customer: { type: 'reference', entity: 'customer', query } },
    }
    for (const [entity, fields] of Object.entries(entities)) {
      const indexes = ['code', 'name', 'email']
        .filter((field) => field in fields)
        .map((field) => ({ fields: [{ field }] }))
      const info = { datastore: { backend: 'postgres', datasource: 'postgres' }, indexes }
      const target = { entity, version: '1.0.0' }
      await service.metadata.create(ADMIN, target, metadataDocument(entity, fields, { info }))
      await service.data.insert(ADMIN, { entity }, { data: [{ code: '1' }] })
    }
    const isByKeys = async (...fields: readonly string[]): Promise<boolean> => {
      const terms = fields.map((field) => ({ field: `customer.*.${field}`, op: '=', rvalue: 'x' }))
      const query = terms.length === 1 ? terms[0]! : { $or: terms }
      const body = { query, projection: { field: '_id' } }
      const response = await service.data.explain(ADMIN, { entity: 'order' }, body)
      const explained = documentsOf(response)[0]!['postgres'] as { readonly query: { readonly sql: string } }
      return / in \(select r\d+\.id .* union all /.test(explained.query.sql)
    }
    assert.equal(await isByKeys('name'), true)
    assert.equal(await isByKeys('name', 'email'), true)
    assert.equal(await isByKeys('name', 'note'), false, 'one without an index needs all documents')
  },
)

for (const kind of ['sqlite', 'postgres'] as const) {
  test(`references: on ${kind} alternatives about one reference are one condition on its documents`, async () => {
    await using on = await opened([kind, kind, kind])
    const one = { field: 'below.*._id', op: '=', rvalue: 'child7' }
    const deeper = (n: number): JsonObject => ({
      field: 'below.*.below.*._id',
      op: '=',
      rvalue: `grandchild${n}`,
    })
    const subselects = async (query: JsonObject): Promise<number> => {
      const body = { query, projection: { field: '_id' } }
      const response = await on.service.data.explain(ADMIN, { entity: 'root' }, body)
      const explained = (documentsOf(response)[0]![kind] as JsonObject)['query']
      return JSON.stringify(explained).split('(select').length - 1
    }
    const own = { field: '_id', op: '=', rvalue: 'root9' }
    const many = { $or: [one, deeper(8), own, ...[10, 11, 12, 13].map(deeper)] }
    assert.equal(await subselects(many), await subselects({ $or: [one, deeper(8), own, deeper(10)] }))
    const body = { query: many, projection: { field: '_id' }, sort: { _id: '$asc' } }
    const found = documentsOf(await on.service.data.find(ADMIN, { entity: 'root' }, body))
    assert.deepEqual(
      found.map(({ _id }) => _id),
      ['root10', 'root11', 'root12', 'root13', 'root7', 'root8', 'root9'],
    )
    const none = (query: JsonObject): JsonObject => ({ $not: query })
    const other = (n: number): JsonObject => ({ ...deeper(n), op: '!=' })
    const denied = { $and: [none(one), other(8), none(own), ...[10, 11, 12, 13].map(other)] }
    assert.equal(await subselects(denied), await subselects({ $and: [none(one), none(own), other(8)] }))
    const rest = { query: denied, projection: { field: '_id' }, sort: { _id: '$asc' } }
    const left = documentsOf(await on.service.data.find(ADMIN, { entity: 'root' }, rest))
    const numbers = Array.from({ length: ROOTS }, (_, n) => n).filter((n) => n < 7 || n > 13)
    assert.deepEqual(left.map(({ _id }) => _id).toSorted(), numbers.map((n) => `root${n}`).toSorted())
  })

  test(`references: on ${kind} each of several conditions may hold for another document`, async () => {
    await using on = await opened([kind, kind, kind])
    const two = ['child50', 'child51'].map((_id) => ({ _id, above: 'root3' }))
    await on.service.data.insert(ADMIN, { entity: 'child' }, { data: two })
    const found = async (query: JsonObject): Promise<readonly unknown[]> => {
      const body = { query, projection: { field: '_id' } }
      return documentsOf(await on.service.data.find(ADMIN, { entity: 'root' }, body)).map(({ _id }) => _id)
    }
    const is = (rvalue: string): JsonObject => ({ field: 'below.*._id', op: '=', rvalue })
    const both = [is('child50'), is('child51')]
    assert.deepEqual(await found({ $and: both }), ['root3'])
    const isNot = both.map((query) => ({ $not: query }))
    assert.deepEqual(await found({ $and: [is('child3'), { $or: isNot }] }), [])
    assert.deepEqual(await found({ $and: [is('child4'), ...isNot] }), ['root4'])
    assert.deepEqual(await found({ $and: [is('child3'), ...isNot] }), [])
  })

  test(`references: on ${kind} each of two alternatives has the row rules of its own fields`, async () => {
    await using place = await freshPlace(kind)
    await using service = await openService({
      datasources: [{ name: kind, location: place.location }],
      limits: DEFAULT_LIMITS,
      onInternalError: failLoudly,
    })
    const info = { datastore: { backend: kind, datasource: kind } }
    const where = (field: string) => [{ role: 'anyone', where: { field, op: '=', rvalue: 'yes' } }]
    const string = { type: 'string' }
    const guarded = (by: string) => ({ ...string, access: { find: where(by) } })
    const below = {
      above: string,
      showsX: string,
      showsY: string,
      x: guarded('showsX'),
      y: guarded('showsY'),
    }
    const query = { field: 'above', op: '=', rfield: '$parent._id' }
    const above = { _id: string, below: { type: 'reference', entity: 'below', query } }
    for (const [entity, fields] of Object.entries({ below, above })) {
      const target = { entity, version: '1.0.0' }
      await service.metadata.create(ADMIN, target, metadataDocument(entity, fields, { info }))
    }
    await service.data.insert(
      ADMIN,
      { entity: 'above' },
      { data: [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }] },
    )
    const data = [
      { above: 'a', showsX: 'yes', showsY: 'no', x: '1', y: '2' },
      { above: 'b', showsX: 'no', showsY: 'yes', x: '1', y: '2' },
      { above: 'c', showsX: 'no', showsY: 'no', x: '1', y: '2' },
    ]
    const inserted = await service.data.insert(ADMIN, { entity: 'below' }, { data })
    assert.equal(inserted.status, 'COMPLETE')
    const [x, y] = ['x', 'y'].map((field, i) => ({
      field: `below.*.${field}`,
      op: '=',
      rvalue: String(i + 1),
    }))
    const body = { query: { $or: [x, y] }, projection: { field: '_id' }, sort: { _id: '$asc' } }
    const caller = callerWith('reader')
    const found = documentsOf(await service.data.find(caller, { entity: 'above' }, body as JsonObject))
    assert.deepEqual(found, [{ _id: 'a' }, { _id: 'b' }])
  })
}
