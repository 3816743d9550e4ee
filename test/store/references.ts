/** What a store has to know of references: the same suite on every kind, held to the evaluator's answers. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { Json } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { resolveSort } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import { parseSort } from '../../src/lang/sort.ts'
import type { JoinPlan, ReadPlan, StoredDocument } from '../../src/plan/plan.ts'
import type { IndexDefinition, Schema } from '../../src/schema/schema.ts'
import type { Database } from '../../src/store/database.ts'
import { type OpenStore, change, index, write } from './contract.ts'
import {
  ITEM,
  PART,
  REFERENCES,
  SHOP,
  SHOPS,
  documentsOf,
  expectedJoin,
  idOf,
  idTypeOf,
  joinPlan,
  matching,
  resolved,
} from './reference-world.ts'

const BOUNDS = { timeLimitMs: 30_000 }

export function referenceContract(kind: string, open: OpenStore): void {
  for (const [indexed, indexes] of INDEXES) {
    queryContract(`${kind}, ${indexed}`, () => openShops(open, indexes))
    joinContract(`${kind}, ${indexed}`, () => openShops(open, indexes))
  }
  otherContract(kind, open)
}

/** Asks a store all that the contract asks, whatever it answers. */
export async function exerciseReferences(open: OpenStore): Promise<void> {
  for (const [, indexes] of INDEXES) {
    await using shops = await openShops(open, indexes)
    const { store } = shops
    const shared = {
      collection: SHOP.collection,
      sort: [],
      from: 0,
      counted: true,
      idType: 'string',
    } as const
    for (const asked of QUERIES) await find(store, { query: resolved(asked), to: 1 })
    for (const path of REFERENCES) await find(store, { joins: [joinPlan(path)], to: 1 })
    const plan = { ...shared, to: 5, query: resolved(QUERIES[0]!), joins: [NESTED] }
    await store.explain(plan, BOUNDS)
    for await (const { id } of store.stream(plan, BOUNDS)) assert.ok(id)
  }
}

type Indexes = Readonly<Record<'shop' | 'part' | 'item', readonly IndexDefinition[]>>

const integers = (path: string): IndexDefinition => index([{ path, type: 'integer' }])
const NO_INDEXES: Indexes = { shop: [], part: [], item: [] }
const INDEXES: readonly (readonly [name: string, indexes: Indexes])[] = [
  ['without indexes', NO_INDEXES],
  [
    'with indexes',
    {
      shop: [index(['code']), integers('n'), index(['bd']), index(['tags.*'])],
      part: [
        index(['shop']),
        index(['code']),
        index(['kind']),
        integers('n'),
        index(['bd']),
        index([{ path: 'd', type: 'double' }]),
        index(['tags.*']),
      ],
      item: [index([{ path: '_id', type: 'integer' }])],
    },
  ],
  [
    'with some indexes',
    // that of `n` holds texts, as a version that makes texts of it would declare it
    { shop: [index(['code'])], part: [index(['code']), index(['shop', 'code']), index(['n'])], item: [] },
  ],
]

interface Shops extends AsyncDisposable {
  readonly store: Database
}

async function openShops(open: OpenStore, indexes: Indexes, isFilled = true): Promise<Shops> {
  const place = await open.freshPlace()
  const store = await open.openAt(place.location)
  for (const schema of [SHOP, PART, ITEM]) {
    const { collection, entity } = schema
    const prepare = { collection, indexes: indexes[entity as keyof Indexes], paths: ['code'] }
    await store.metadata.changeMetadata(
      await change(store, { entity, info: `{"name":"${entity}"}`, prepare }),
    )
    if (isFilled) await fill(store, schema)
  }
  return {
    store,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

async function fill(store: Database, schema: Schema, documents = documentsOf(schema)): Promise<void> {
  const { outcomes } = await write(store, {
    kind: 'insert',
    collection: schema.collection,
    idType: idTypeOf(schema),
    documents,
    atomic: true,
  })
  assert.ok(outcomes.every(({ kind }) => kind === 'inserted'))
}

type Asked = Partial<Pick<ReadPlan, 'query' | 'sort' | 'from' | 'to' | 'joins'>>

async function find(store: Pick<Database, 'find'>, asked: Asked = {}, schema = SHOP) {
  const documents: StoredDocument[] = []
  const { collection } = schema
  const plan = { collection, sort: [], from: 0, counted: true, idType: idTypeOf(schema), ...asked }
  const { matchCount } = await store.find(plan, (document) => documents.push(document), BOUNDS)
  return { documents, ids: documents.map(({ id }) => id), matchCount }
}

const clause = (field: string, op: string, rvalue: Json): Json => ({ field, op, rvalue })

/** What is asked of every reference. */
const CLAUSES: readonly ((path: string) => Json)[] = [
  (path) => clause(path, '!=', null),
  (path) => clause(path, '=', null),
  (path) => clause(`${path}.*.kind`, '=', 'a'),
  (path) => clause(`${path}.*.kind`, '!=', 'a'),
  (path) => clause(`${path}.*.kind`, '=', null),
  (path) => ({ $not: clause(`${path}.*.code`, '>', 'a') }),
  (path) => clause(`${path}#`, '=', 0),
  (path) => clause(`${path}#`, '>=', 2),
  (path) => clause(`${path}#`, '!=', 1),
  (path) => ({ field: `${path}#`, op: '$in', values: [1, 3] }),
  (path) => ({ field: `${path}.*.code`, op: '$nin', values: ['a', null] }),
  (path) => ({ field: `${path}.*.kind`, regex: '^b', caseInsensitive: true }),
  (path) => ({ $or: [clause(`${path}.*.code`, '<', 'b'), clause('code', '=', 'b')] }),
  (path) => ({ $and: [clause(`${path}.*.kind`, '=', 'a'), clause('n', '>', 1)] }),
  (path) => ({
    array: path,
    elemMatch: { $and: [clause('kind', '=', 'a'), { field: 'code', op: '!=', rfield: '$parent.code' }] },
  }),
  (path) => ({ array: path, elemMatch: { $or: [clause('kind', '=', 'b'), clause('code', '=', null)] } }),
  (path) => ({ field: `${path}.*.code`, op: '=', rfield: 'code' }),
  (path) => ({ field: 'code', op: '<', rfield: `${path}.*.code` }),
]

/** What only some references can be asked. */
const OTHERS: readonly Json[] = [
  clause('byId.*._id', '<', 'p3'),
  clause('itemByInteger.*._id', '>', 2),
  clause('itemByDecimal.*.after.*.code', '=', 'c'),
  clause('byId.*.marks.*.v', '=', 'a'),
  clause('byId.*.tags.*', '=', 'b'),
  clause('byId.*.tags.0', '=', 'a'),
  clause('byId.*.tags#', '>', 1),
  { array: 'byId.*.tags', contains: '$all', values: ['a', 'b'] },
  { array: 'byId.*.tags', contains: '$none', values: ['b', null] },
  clause('byId.*.back.*.code', '=', 'a'),
  clause('byCode.*.siblings.*.back.*.n', '=', 1),
  clause('byId.*.siblings#', '=', 3),
  clause('next.*.byId.*.kind', '=', 'a'),
  clause('next.*.next.*._id', '!=', null),
  clause('rows.*.parts.*.siblings.*.code', '=', 'b'),
  { field: 'byId.*.n', op: '<', rfield: 'byCode.*.n' },
  { field: 'byId.*.code', op: '$in', rfield: 'byCode.*.tags' },
  { field: 'byId.*.code', op: '$nin', rfield: 'tags' },
  {
    array: 'byId',
    elemMatch: { array: 'back', elemMatch: { field: 'code', op: '=', rfield: '$parent.$parent.code' } },
  },
  {
    array: 'byCode',
    elemMatch: {
      array: 'siblings',
      elemMatch: {
        $and: [
          { field: 'n', op: '<=', rfield: '$parent.$parent.n' },
          { field: 'code', op: '!=', rfield: '$parent.code' },
        ],
      },
    },
  },
  {
    array: 'byId',
    elemMatch: { array: 'marks', elemMatch: { field: 'v', op: '=', rfield: '$parent.$parent.code' } },
  },
  { array: 'rows', elemMatch: clause('parts.*.kind', '=', 'a') },
  { array: 'rows', elemMatch: { $and: [clause('parts#', '>', 1), clause('ofShop#', '=', 2)] } },
  { array: 'rows', elemMatch: { field: 'parts.*.shop', op: '=', rfield: '$parent._id' } },
  { array: 'rows.*.cells', elemMatch: { field: 'parts.*.shop', op: '=', rfield: '$parent.$parent._id' } },
  { $not: { array: 'rows', elemMatch: clause('parts', '=', null) } },
]

const QUERIES: readonly Json[] = [
  ...REFERENCES.flatMap((path) => CLAUSES.map((make) => make(path))),
  ...OTHERS,
]

/** The same of documents whose ids are numbers. */
const OF_ITEMS: readonly Json[] = [
  clause('shops.*.code', '=', 's1'),
  clause('shops', '=', null),
  clause('shops#', '>', 1),
  clause('after.*.kind', '=', 'b'),
  clause('after.*.after.*.code', '=', 'a'),
  clause('itself.*.code', '!=', 'a'),
  { field: 'after.*._id', op: '>', rfield: '_id' },
]

/** References of references. */
const NESTED: JoinPlan = joinPlan('byId', [
  joinPlan('siblings', [joinPlan('back', [], PART)], PART),
  joinPlan('back', [joinPlan('rows.*.parts')], PART),
])

function queryContract(kind: string, opened: () => Promise<Shops>): void {
  test(`${kind}: references: every query about other documents is answered as the evaluator does`, async () => {
    await using shops = await opened()
    let filled = 0
    for (const asked of QUERIES) {
      const query = resolved(asked)
      const expected = matching(query)
      const { ids, matchCount } = await find(shops.store, { query })
      assert.deepEqual({ asked, ids, matchCount }, { asked, ids: expected, matchCount: expected.length })
      if (expected.length > 0 && expected.length < SHOPS.length) filled++
    }
    for (const asked of OF_ITEMS) {
      const query = resolved(asked, ITEM)
      const { ids } = await find(shops.store, { query }, ITEM)
      assert.deepEqual({ asked, ids }, { asked, ids: matching(query, ITEM) })
    }
    assert.ok(filled > QUERIES.length / 2, `only ${filled} of ${QUERIES.length} return anything`)
  })

  test(`${kind}: references: sort, range and count of a page stay exact`, async () => {
    await using shops = await opened()
    const query = resolved(clause('byCode', '!=', null))
    const all = matching(query)
    const sort = resolveSort(parseSort({ n: '$desc' }, ''), rootScope(SHOP))
    const whole = await find(shops.store, { query, sort })
    assert.deepEqual(whole.ids.toSorted(), all)
    for (const [from, to] of [[0, 1] as const, [1, 3] as const, [2, 50] as const, [1, 0] as const]) {
      for (const joins of [[], [joinPlan('byCode')]]) {
        const { ids, matchCount } = await find(shops.store, { query, sort, from, to, joins })
        assert.deepEqual({ ids, matchCount }, { ids: whole.ids.slice(from, to + 1), matchCount: all.length })
      }
    }
  })
}

function joinContract(kind: string, opened: () => Promise<Shops>): void {
  test(`${kind}: references: what is joined comes along, sorted, in the words it was stored in`, async () => {
    await using shops = await opened()
    const plans = [...REFERENCES.map((path) => joinPlan(path)), NESTED]
    for (const page of [{}, { from: 0, to: 3 }, { from: 2, to: 4 }]) {
      for (const plan of plans) await checkJoins(shops.store, { ...page, joins: [plan] })
      await checkJoins(shops.store, { ...page, joins: plans })
    }
    const query = resolved(clause('byId.*.kind', '=', 'a'))
    await checkJoins(shops.store, { query, joins: plans })
    await checkJoins(shops.store, { query, to: 0, joins: plans })
    const ofItems = ['shops', 'after', 'itself'].map((path) => joinPlan(path, [], ITEM))
    for (const page of [{}, { to: 2 }]) await checkJoins(shops.store, { ...page, joins: ofItems }, ITEM)
  })

  test(`${kind}: references: streams, transactions and lookups by _id carry what is joined`, async () => {
    await using shops = await opened()
    const { store } = shops
    const joins = [NESTED, joinPlan('rows.*.parts')]
    const plan = {
      collection: SHOP.collection,
      sort: [],
      from: 0,
      counted: true,
      idType: 'string',
      joins,
    } as const
    const { documents } = await find(store, { joins })
    const streamed: StoredDocument[] = []
    for await (const document of store.stream(plan, BOUNDS)) streamed.push(document)
    assert.deepEqual(streamed, documents)
    assert.deepEqual(
      await store.transact((each) => find(each, { joins }).then((found) => found.documents)),
      documents,
    )
    const byId = await find(store, { query: resolved(clause('_id', '=', 's1')), joins })
    assert.deepEqual(byId.documents, documents.slice(0, 1))
  })
}

/** Holds what comes along with a page to what the evaluator finds. */
async function checkJoins(
  store: Database,
  asked: Asked & { readonly joins: readonly JoinPlan[] },
  schema = SHOP,
): Promise<void> {
  const { joins: _, ...plain } = asked
  const stored = new Map([
    ...(await find(store)).documents.map((each) => [each.id, each] as const),
    ...(await find(store, {}, PART)).documents.map((each) => [each.id, each] as const),
    ...(await find(store, {}, ITEM)).documents.map((each) => [each.id, each] as const),
  ])
  const { documents } = await find(store, asked, schema)
  const { ids } = await find(store, plain, schema)
  assert.deepEqual(
    documents.map(({ id }) => id),
    ids,
  )
  for (const document of documents) {
    const expected = asked.joins.map((plan) => expectedJoin(plan, document, stored))
    const joined = document.joined?.map(({ documents: texts, facts }) => ({
      documents: texts,
      facts: facts === null ? null : parseTrusted(facts),
    }))
    assert.deepEqual({ id: document.id, joined }, { id: document.id, joined: expected })
  }
}

function otherContract(kind: string, open: OpenStore): void {
  test(`${kind}: references: where nothing is stored, nothing is joined`, async () => {
    await using shops = await openShops(open, NO_INDEXES, false)
    const { store } = shops
    await fill(store, SHOP)
    const none = SHOPS.map(idOf)
    for (const path of ['byId', 'byCode', 'less', 'ghosts', 'inTags']) {
      const answer = async (asked: Json) => (await find(store, { query: resolved(asked) })).ids
      assert.deepEqual(await answer(clause(path, '!=', null)), [], path)
      assert.deepEqual(await answer(clause(path, '=', null)), none, path)
      assert.deepEqual(await answer(clause(`${path}#`, '=', 0)), none, path)
      assert.deepEqual(await answer(clause(`${path}#`, '>', 0)), [], path)
      const { documents } = await find(store, { joins: [joinPlan(path)] })
      assert.deepEqual(documents[0]!.joined, [{ documents: null, facts: null }], path)
    }
  })

  test(`${kind}: references: an explanation shows the statement with all it reads`, async () => {
    await using shops = await openShops(open, INDEXES[1]![1])
    const query = resolved(clause('byId.*.kind', '=', 'a'))
    const shared = { collection: SHOP.collection, query, sort: [], from: 0, to: 9, counted: true } as const
    const plan = { ...shared, idType: 'string', joins: [joinPlan('byCode')] } as const
    const { query: shown, matchCount } = await shops.store.explain(plan, BOUNDS)
    assert.equal(matchCount, matching(query).length)
    assert.ok(new Set(shown.sql.match(/\bdoc_\d+/g)).size === 2, shown.sql)
  })

  test(`${kind}: references: a question that holds every document against every other is cut off in time`, async () => {
    await using shops = await openShops(open, NO_INDEXES, false)
    const { store } = shops
    const numbers = Array.from({ length: 5000 }, (_, i) => i)
    await fill(
      store,
      SHOP,
      numbers.map((i) => ({ _id: `s${i}`, n: i })),
    )
    await fill(
      store,
      PART,
      numbers.map((i) => ({ _id: `p${i}`, n: i + 5000 })),
    )
    const plan = {
      collection: SHOP.collection,
      sort: [],
      from: 0,
      to: 9,
      counted: true,
      idType: 'string',
    } as const
    const endless = { ...plan, query: resolved(clause('less', '!=', null)) }
    const bounds = { timeLimitMs: 100 }
    const isTimeout = (error: unknown): boolean =>
      error instanceof ServiceError && error.code === 'store-crud:Timeout'
    await assert.rejects(
      store.find(endless, () => undefined, bounds),
      isTimeout,
    )
    const joins = [joinPlan('less')]
    await assert.rejects(
      store.find({ ...plan, to: 4999, joins }, () => undefined, bounds),
      isTimeout,
    )
    // those who come after them do not wait until they would have ended
    for (const _ of [1, 2]) {
      let streamed = 0
      for await (const { id } of store.stream({ ...plan, to: 4999 }, { timeLimitMs: 5_000 }))
        streamed += id.length
      assert.ok(streamed > 5000)
    }
  })

  test(`${kind}: references: a store says whether it can push down a query`, async () => {
    await using shops = await openShops(open, NO_INDEXES, false)
    const { store } = shops
    const regex = (field: string, pattern: string) => resolved({ field, regex: pattern })
    assert.equal(store.answers(regex('byId.*.kind', '^a')), true)
    assert.equal(store.answers(regex('code', String.raw`\bx\b`)), store.kind === 'sqlite')
    assert.equal(store.answers(regex('byId.*.kind', String.raw`\bx\b`)), store.kind === 'sqlite')
    assert.equal(await store.transact(async (each) => each.answers(regex('byId.*.kind', '^a'))), true)
  })
}
