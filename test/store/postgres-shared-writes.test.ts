/** Writes of single documents: what they send, that they share statements, and that nobody notices. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ServiceError } from '../../src/base/errors.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import type { Change, UpdatePlan } from '../../src/plan/plan.ts'
import type { Bounds } from '../../src/store/bounds.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import { createSharing } from '../../src/store/postgres/connection/sharing.ts'
import type { Store } from '../../src/store/store.ts'
import { testUnlessOnCitus } from '../support/citus.ts'
import { openRelay } from '../support/relay.ts'
import { freshPlace } from '../support/store-kind.ts'
import { SCHEMA, find, insert, openStage } from './contract.ts'
import { recordStatements } from './record-statements.ts'

const BOUNDED = { timeout: 200_000 }
const PATIENT: Bounds = { timeLimitMs: 30_000 }
const { collection } = SCHEMA
const TABLE = {}
const TIMES = { timeLimitMs: 200, minTimeLimitMs: 2_000, maxWaitMs: 10, maxWaiting: 1_000 }
const recorded = recordStatements()
const open = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (url: string) => openPostgresStore({ url }),
}

const byId = (id: string): JsonObject => ({ field: '_id', op: '=', rvalue: id })

function updating(id: string, change: (document: JsonObject) => Change): UpdatePlan {
  const query = parseQuery(byId(id), '', DEFAULT_LIMITS)
  return {
    kind: 'update',
    collection,
    idType: 'string',
    atomic: false,
    query: resolveQuery(query, rootScope(SCHEMA)),
    change: ({ text }) => change(parseTrusted(text) as JsonObject),
  }
}

const addOne = (document: JsonObject): Change => ({
  kind: 'write',
  document: { ...document, i: Number(document['i']) + 1 },
})

function adding(store: Store, id: string, bounds = PATIENT): Promise<boolean> {
  return store.write(updating(id, addOne), () => () => undefined, bounds)
}

function identities(length: number): readonly string[] {
  return Array.from({ length }, (_, n) => `d${n}`)
}

const testShared = testUnlessOnCitus('sharing')

async function insertAll(store: Store, ids: readonly string[]): Promise<void> {
  await insert(store, JSON.stringify(ids.map((_id) => ({ _id, i: 0, s: 'x' }))))
}

async function valuesOf(store: Store): Promise<ReadonlyMap<string, number>> {
  const { documents } = await find(store)
  return new Map(documents.map(({ id, text }) => [id, Number((parseTrusted(text) as JsonObject)['i'])]))
}

async function sent(work: () => Promise<unknown>): Promise<readonly string[]> {
  const before = recorded.length
  await work()
  return recorded.slice(before).map(({ text }) => text.trim().split(/\s+/).slice(0, 1).join(' '))
}

test('update: by id it takes two statements, and no transaction', BOUNDED, async () => {
  await using stage = await openStage(open)
  await insertAll(stage.store, ['a'])
  assert.deepEqual(await sent(() => adding(stage.store, 'a')), ['select', 'update'])
  assert.deepEqual(await valuesOf(stage.store), new Map([['a', 1]]))
})

testShared('update: of what this process wrote last it takes one statement', BOUNDED, async () => {
  await using stage = await openStage(open)
  await using other = openPostgresStore({ url: stage.location })
  await insertAll(stage.store, ['a'])
  const add = (store: Store) => (): Promise<unknown> => adding(store, 'a')
  assert.deepEqual(await sent(add(stage.store)), ['select', 'update'])
  assert.deepEqual(await sent(add(stage.store)), ['update'])
  await add(other)()
  assert.deepEqual(await sent(add(stage.store)), ['update', 'select', 'update'])
  assert.deepEqual(await valuesOf(stage.store), new Map([['a', 4]]))
})

testShared('update: those of one moment share their statements', BOUNDED, async () => {
  await using stage = await openStage(open)
  const ids = identities(60)
  await insertAll(stage.store, ids)
  const all = (): Promise<unknown> => Promise.all(ids.map((id) => adding(stage.store, id)))
  assert.deepEqual(await sent(all), ['select', 'update'])
  assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, 1])))
})

testShared(
  'find: by id, those of one moment share a statement, and large documents are read alone',
  BOUNDED,
  async () => {
    await using stage = await openStage(open)
    const ids = identities(20)
    const isLarge = (n: number): boolean => n < 3
    await insert(
      stage.store,
      JSON.stringify(ids.map((_id, n) => ({ _id, i: n, s: 'x'.repeat(isLarge(n) ? 100_000 : 1) }))),
    )
    const found: unknown[] = []
    const all = async (): Promise<void> => {
      const finding = [...ids, 'missing'].map((id) => find(stage.store, { query: byId(id) }))
      for (const { documents } of await Promise.all(finding)) found.push(documents.map(({ id }) => id))
    }
    const before = recorded.length
    await all()
    const texts = recorded.slice(before).map(({ text }) => text)
    assert.deepEqual(found, [...ids.map((id) => [id]), []])
    assert.equal(texts.filter((text) => text.includes('= any($1)')).length, 1)
    assert.equal(texts.filter((text) => text.endsWith('where id = $1')).length, 3)
    assert.equal(texts.length, 4)
  },
)

testShared('update: large documents are read and written alone', BOUNDED, async () => {
  await using stage = await openStage(open)
  const ids = identities(4)
  const length = 100_000
  await insert(
    stage.store,
    JSON.stringify(ids.map((_id, n) => ({ _id, i: 0, s: 'x'.repeat(n < 2 ? length : 1) }))),
  )
  const all = (): Promise<unknown> => Promise.all(ids.map((id) => adding(stage.store, id)))
  const statements = (await sent(all)).toSorted()
  assert.deepEqual(statements, ['select', 'select', 'select', 'update', 'update', 'update'])
  assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, 1])))
  const inserting = ids.map((_id) =>
    insert(stage.store, JSON.stringify([{ _id: `new${_id}`, i: 0, s: 'x'.repeat(length) }])),
  )
  assert.deepEqual(
    await sent(() => Promise.all(inserting)),
    Array.from(ids, () => 'insert'),
  )
})

test('update: what writes nothing leaves those that it shares a statement with alone', BOUNDED, async () => {
  await using stage = await openStage(open)
  const ids = identities(6)
  await insertAll(stage.store, ids)
  const results = await Promise.all([
    ...ids.map((id) => adding(stage.store, id)),
    adding(stage.store, 'nobody'),
    stage.store.write(
      updating('d0', () => ({ kind: 'keep' })),
      () => () => undefined,
      PATIENT,
    ),
  ])
  assert.ok(results.every((isCommitted) => isCommitted))
  assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, 1])))
})

test('update: one that the server refuses fails by itself', BOUNDED, async () => {
  await using stage = await openStage(open)
  const ids = identities(6)
  await insertAll(stage.store, ids)
  const results = await Promise.allSettled(
    ids.map((id) =>
      stage.store.write(
        updating(id, (document) =>
          id === 'd3' ? { kind: 'write', document: { ...document, s: 'nul \u0000' } } : addOne(document),
        ),
        () => () => undefined,
        PATIENT,
      ),
    ),
  )
  assert.deepEqual(
    results.map(({ status }) => status),
    ids.map((id) => (id === 'd3' ? 'rejected' : 'fulfilled')),
  )
  assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, id === 'd3' ? 0 : 1])))
})

test('update: 32 clients of two processes that add to one document lose nothing', BOUNDED, async () => {
  await using stage = await openStage(open)
  await using other = openPostgresStore({ url: stage.location })
  await insertAll(stage.store, ['a', 'b'])
  const clients = Array.from({ length: 32 }, async (_, n) => {
    for (let i = 0; i < 10; i++) {
      assert.equal(await adding(n % 2 === 0 ? stage.store : other, i % 5 === 0 ? 'b' : 'a'), true)
    }
  })
  await Promise.all(clients)
  assert.deepEqual(
    await valuesOf(stage.store),
    new Map([
      ['a', 256],
      ['b', 64],
    ]),
  )
})

test('update: one that waits for a row delays nobody else', BOUNDED, async () => {
  await using stage = await openStage(open)
  const ids = identities(20)
  await insertAll(stage.store, ids)
  const url = new URL(stage.location)
  const client = new pg.Client({
    connectionString: stage.location.replace(/\?.*/, ''),
    options: `-c search_path=${url.searchParams.get('schema')}`,
  })
  await client.connect()
  try {
    const { rows } = await client.query<{ name: string }>(
      `select 'doc_' || no || '_' || generation || '_c' as name from smalt_collection where entity = 't'`,
    )
    await client.query(`begin; update ${rows[0]!.name} set version = version where id = 'd0'`)
    const [locked, ...others] = ids.map((id) => adding(stage.store, id))
    assert.ok((await Promise.all(others)).every((isCommitted) => isCommitted))
    await Promise.all(ids.slice(1).map((id) => adding(stage.store, id)))
    await client.query('commit')
    assert.equal(await locked, true)
  } finally {
    await client.end()
  }
  assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, id === 'd0' ? 1 : 2])))
})

for (const [when, value] of [
  ['before', 0],
  ['after', 1],
] as const) {
  testShared(
    `update: a connection lost ${when} a shared one got through is unknown to all`,
    BOUNDED,
    async () => {
      await using direct = await openStage(open)
      const ids = identities(5)
      await insertAll(direct.store, ids)
      await using relay = await openRelay(direct.location)
      await using store = openPostgresStore({ url: relay.url })
      await store.ping()
      relay.cutAt('update doc_', when)
      const results = await Promise.allSettled(ids.map((id) => adding(store, id)))
      for (const result of results) {
        assert.equal(result.status, 'rejected')
        assert.equal((result.reason as { code: string }).code, 'store-crud:OutcomeUnknown')
      }
      assert.deepEqual(await valuesOf(direct.store), new Map(ids.map((id) => [id, value])))
    },
  )
}

test('sharing: whoever waits for one table delays nobody at another', async () => {
  const sharing = createSharing<object, string, string>({
    together: async (_, items) => items,
    mayRepeat: () => false,
    ...TIMES,
  })
  const locked = Promise.withResolvers<string>()
  const busy = {}
  const run = (table: object, alone: () => Promise<string>): Promise<string> =>
    sharing.run({ table, item: 'x', bounds: PATIENT, alone })
  let elsewhere = 0
  for (let i = 0; i < 10; i++) {
    void run(busy, () => locked.promise)
    await new Promise((resolve) => setImmediate(resolve))
  }
  for (let i = 0; i < 1_000; i++) await run({}, async () => String(elsewhere++))
  assert.equal(elsewhere, 1_000)
  locked.resolve('done')
})

test('sharing: callers take turns, and none has a batch for itself', async () => {
  const batches: (readonly string[])[] = []
  const sharing = createSharing<object, string, string>({
    async together(_, items) {
      batches.push(items)
      return items
    },
    mayRepeat: () => false,
    ...TIMES,
  })
  const run = (caller: string, n: number): Promise<string> =>
    sharing.run({
      table: TABLE,
      item: `${caller}${n}`,
      bounds: { ...PATIENT, caller },
      alone: async () => assert.fail('it is not alone'),
    })
  const many = Array.from({ length: 120 }, (_, n) => run('greedy', n))
  const results = await Promise.all([...many, run('other', 0), run('other', 1)])
  assert.deepEqual(results.slice(-2), ['other0', 'other1'])
  assert.deepEqual(
    batches.map((batch) => batch.filter((item) => item.startsWith('other')).length),
    [2, 0],
  )
})

test('sharing: a short time limit, and a batch that failed, run alone', async () => {
  const ran: string[] = []
  let batches = 0
  let failure = new Error('one of them is refused')
  const sharing = createSharing<object, string, string>({
    together() {
      batches++
      return Promise.reject(failure)
    },
    mayRepeat: () => true,
    ...TIMES,
  })
  const run = (item: string, timeLimitMs: number): Promise<string> =>
    sharing.run({
      table: TABLE,
      item,
      bounds: { timeLimitMs },
      async alone() {
        ran.push(item)
        return item
      },
    })
  const short = [run('a', 100), run('b', 100)]
  assert.deepEqual(ran, ['a', 'b'])
  await Promise.all([...short, run('c', 30_000), run('d', 30_000)])
  assert.deepEqual(ran, ['a', 'b', 'c', 'd'])
  failure = new ServiceError('store-crud:Timeout', 'it waits for a lock')
  await Promise.all([run('e', 30_000), run('f', 30_000)])
  assert.equal(batches, 2, 'a failure of one document is no reason to stop')
  void run('g', 30_000)
  assert.deepEqual(ran.at(-1), 'g', 'for a while nothing is tried together')
})

testShared(
  'insert: those of one moment share a statement, and one whose key repeats is told so',
  BOUNDED,
  async () => {
    await using stage = await openStage(open)
    await insertAll(stage.store, ['d3'])
    const ids = identities(10)
    const insertEach = async (): Promise<readonly (string | undefined)[]> => {
      const outcomes = await Promise.all(
        ids.map((_id) => insert(stage.store, JSON.stringify([{ _id, i: 7, s: `"\\ \n'{},${_id}` }]))),
      )
      return outcomes.map(([outcome]) => outcome?.kind)
    }
    const before = recorded.length
    const kinds = await insertEach()
    assert.deepEqual(
      kinds,
      ids.map((id) => (id === 'd3' ? 'duplicate' : 'inserted')),
    )
    const inserts = recorded.slice(before).filter(({ text }) => /^insert into doc_.* from unnest/s.test(text))
    assert.equal(inserts.length, 1)
    assert.deepEqual(await valuesOf(stage.store), new Map(ids.map((id) => [id, id === 'd3' ? 0 : 7])))
    const query = { field: 's', op: '=', rvalue: `"\\ \n'{},d5` }
    assert.equal((await find(stage.store, { query })).matchCount, 1)
  },
)
