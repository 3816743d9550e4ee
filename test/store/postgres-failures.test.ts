/** How the store on PostgreSQL behaves when things go wrong: slow statements, lost connections, others' changes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import type { JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import type { ReadPlan, UpdatePlan } from '../../src/plan/plan.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Bounds } from '../../src/store/bounds.ts'
import type { Store } from '../../src/store/store.ts'
import { citusUrl } from '../support/citus.ts'
import { freshDatabase, rowsOf, startPostgres } from '../support/postgres.ts'
import { openRelay } from '../support/relay.ts'
import { ADMIN, metadataDocument, openServiceAt } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'
import { SCHEMA, type Stage, change, find, index, insert, openStage } from './contract.ts'

const BOUNDED = { timeout: 200_000 }
const PATIENT: Bounds = { timeLimitMs: 30_000 }
const { collection } = SCHEMA

const open = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location: string) => openPostgresStore({ url: location }),
}

function stageWith(parameters: string): Promise<Stage> {
  return openStage({ ...open, openAt: async (url) => openPostgresStore({ url: `${url}&${parameters}` }) })
}

const EVERYTHING: ReadPlan = { collection, sort: [], from: 0, counted: true, idType: 'string' }

function queryOf(query: JsonObject) {
  return resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), rootScope(SCHEMA))
}

/** Adds one to `i` of one document. */
function adding(store: Store, id: string, bounds = PATIENT): Promise<boolean> {
  return addingTo(store, { field: '_id', op: '=', rvalue: id }, bounds)
}

function addingTo(store: Store, query: JsonObject, bounds: Bounds): Promise<boolean> {
  const plan: UpdatePlan = {
    kind: 'update',
    collection,
    idType: 'string',
    atomic: false,
    query: queryOf(query),
    change: ({ text }) => {
      const document = parseTrusted(text) as JsonObject
      return { kind: 'write', document: { ...document, i: Number(document['i']) + 1 } }
    },
  }
  return store.write(plan, () => () => undefined, bounds)
}

async function valueOf(store: Store, id: string): Promise<number> {
  const { documents } = await find(store, { query: { field: '_id', op: '=', rvalue: id } })
  return Number((parseTrusted(documents[0]!.text) as JsonObject)['i'])
}

/** Somebody else's session, in the middle of a transaction. */
async function outsider(location: string, statement: (table: string) => string) {
  const url = new URL(location)
  const schema = url.searchParams.get('schema')!
  const client = new pg.Client({
    connectionString: location.replace(/\?.*/, ''),
    options: `-c search_path=${schema}`,
  })
  await client.connect()
  const { rows } = await client.query<{ name: string }>(
    `select 'doc_' || no || '_' || generation || '_c' as name from smalt_collection where entity = 't'`,
  )
  await client.query('begin')
  await client.query(statement(rows[0]!.name))
  return { end: () => client.end(), [Symbol.asyncDispose]: () => client.end() }
}

const lockAll = (table: string): string => `lock table ${table} in access exclusive mode`
const lockRow = (table: string): string => `update ${table} set version = version where id = 'a'`

/** How many statements of stores wait in this place. */
async function waiting(location: string): Promise<number> {
  const [row] = await rowsOf(
    location,
    (schema) => `select count(distinct l.pid)::int as n from pg_locks l join pg_stat_activity a using (pid)
      join pg_class c on c.oid = l.relation join pg_namespace n on n.oid = c.relnamespace
      where n.nspname = '${schema}' and a.application_name = 'smalt' and a.state = 'active'
        and a.wait_event_type = 'Lock'`,
  )
  return Number(row!['n'])
}

/** On a cluster, who waits for a row waits on the node of the row. */
async function isRowAwaited(location: string): Promise<boolean> {
  if (citusUrl() === undefined) return (await waiting(location)) > 0
  return (await rowsOf(location, () => 'select from citus_lock_waits')).length > 0
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 60_000; !(await isTrue()); await sleep(5))
    assert.ok(Date.now() < deadline)
}

const OPERATIONS: Readonly<Record<string, (store: Store, bounds: Bounds) => Promise<unknown>>> = {
  find: (store, bounds) => store.find(EVERYTHING, () => undefined, bounds),
  'find by id': (store, bounds) =>
    store.find(
      { ...EVERYTHING, query: queryOf({ field: '_id', op: '=', rvalue: 'a' }) },
      () => undefined,
      bounds,
    ),
  explain: (store, bounds) => store.explain(EVERYTHING, bounds),
  update: (store, bounds) => adding(store, 'a', bounds),
  insert: (store, bounds) => {
    const documents = [{ _id: 'late', i: 1 }]
    const plan = { kind: 'insert', collection, idType: 'string', documents, atomic: false } as const
    return store.write(plan, () => () => undefined, bounds)
  },
  stream: async (store, bounds) => {
    for await (const _ of store.stream(EVERYTHING, bounds));
  },
}

/** Of an operation that is stopped. On a cluster nobody knows how far a node has come with a single statement. */
function codeWhenStopped(name: string, code: string): string {
  return name === 'insert' && citusUrl() !== undefined ? 'store-crud:OutcomeUnknown' : code
}

for (const [name, operation] of Object.entries(OPERATIONS)) {
  test(
    `${name}: over its time it is stopped in the database too, and nothing of it stays`,
    BOUNDED,
    async () => {
      await using stage = await openStage(open)
      await insert(stage.store, '[{"_id":"a","i":1}]')
      // ends with its lock also if the test fails, else the schema could not be dropped
      await using other = await outsider(stage.location, lockAll)
      const timedOut = { code: codeWhenStopped(name, 'store-crud:Timeout') }
      await assert.rejects(operation(stage.store, { timeLimitMs: 100 }), timedOut)
      assert.equal(await waiting(stage.location), 0)
      const controller = new AbortController()
      const running = operation(stage.store, { ...PATIENT, getSignal: () => controller.signal })
      const ended = assert.rejects(running, { code: codeWhenStopped(name, 'crud:Unavailable') })
      await until(async () => (await waiting(stage.location)) === 1)
      controller.abort()
      await ended
      // a statement that several requests share is cancelled without waiting for it
      await until(async () => (await waiting(stage.location)) === 0)
      await other.end()
      const { documents } = await find(stage.store)
      assert.deepEqual(
        documents.map(({ id }) => id),
        ['a'],
      )
      await operation(stage.store, PATIENT)
    },
  )
}

test('write: stopped at any moment it reports correctly whether it happened', BOUNDED, async (t) => {
  await using stage = await openStage(open)
  const documents = Array.from({ length: 250 }, (_, i) => ({ _id: `d${i}`, i: 0 }))
  await insert(stage.store, JSON.stringify(documents))
  let done = 0
  for (let i = 0; i < 120; i++) {
    const bounds = { timeLimitMs: 1 + (i % 40) }
    const all = { field: 'i', op: '>=', rvalue: 0 }
    const isDone = await addingTo(stage.store, all, bounds).catch((error: unknown) => {
      assert.equal((error as { code?: string }).code, 'store-crud:Timeout', String(error))
      return false
    })
    if (isDone) done++
    const { matchCount } = await find(stage.store, { query: { field: 'i', op: '=', rvalue: done } })
    assert.equal(matchCount, documents.length, `after ${i}`)
  }
  t.diagnostic(`${done} of 120 in time`)
})

test('find: writers that wait for each other leave room for lookups', BOUNDED, async () => {
  await using stage = await stageWith('pool=2')
  await insert(stage.store, '[{"_id":"a","i":0},{"_id":"b","i":0}]')
  const other = await outsider(stage.location, lockRow)
  const writing = Promise.all([1, 2].map(() => adding(stage.store, 'a')))
  await until(() => isRowAwaited(stage.location))
  for (let i = 0; i < 20; i++) assert.equal(await valueOf(stage.store, 'b'), 0)
  await stage.store.ping()
  await other.end()
  assert.deepEqual(await writing, [true, true])
  assert.equal(await valueOf(stage.store, 'a'), 2)
})

test(
  'write: as many as there are connections draw from a sequence without waiting for each other',
  BOUNDED,
  async () => {
    await using stage = await stageWith('pool=1')
    const sequence = { name: 's', initialValue: 1n, increment: 1n }
    const values = await Promise.all(
      [1, 2, 3].map(() => stage.store.transact(async (session) => await session.nextValues(sequence, 2))),
    )
    assert.equal(new Set(values.flat()).size, 6)
  },
)

test('store: a server restarted between two requests is not noticed', BOUNDED, async () => {
  await using server = await startPostgres({ durable: true })
  await using stage = await openStage({
    freshPlace: async () => ({ location: server.url, [Symbol.asyncDispose]: async () => undefined }),
    openAt: open.openAt,
  })
  await insert(stage.store, '[{"_id":"a","i":0}]')
  for (const signal of ['SIGINT', 'SIGQUIT'] as const) {
    await server.kill(signal)
    await server.restart()
    assert.equal(await valueOf(stage.store, 'a'), 0)
    assert.equal((await find(stage.store)).matchCount, 1)
    await server.kill(signal)
    await server.restart()
    const [outcome] = await insert(stage.store, `[{"_id":"${signal}","i":0}]`)
    assert.equal(outcome!.kind, 'inserted')
    await stage.store.nextValues({ name: 's', initialValue: 1n, increment: 1n }, 1)
    assert.equal(await adding(stage.store, signal), true)
    await insert(stage.store, `[{"_id":"${signal}"}]`)
    await stage.store.write(
      {
        kind: 'delete',
        collection,
        idType: 'string',
        atomic: false,
        query: queryOf({ field: '_id', op: '=', rvalue: signal }),
      },
      () => () => undefined,
      PATIENT,
    )
  }
})

test(
  'ping: a database that is not there, or not open to the user, is unavailable, without details',
  BOUNDED,
  async () => {
    await using place = await freshDatabase()
    for (const wrong of [
      (url: URL) => (url.pathname = '/nosuchdatabase'),
      (url: URL) => (url.username = 'nosuchuser'),
      (url: URL) => (url.port = '1'),
    ]) {
      const url = new URL(place.url)
      wrong(url)
      await using store = openPostgresStore({ url: url.href })
      await assert.rejects(store.ping(), (error: Error & { code?: string }) => {
        assert.equal(error.code, 'crud:Unavailable', String(error))
        assert.doesNotMatch(error.message, /nosuch|127\.0|:1\b|ECONN/)
        return true
      })
    }
  },
)

test('store: what another process did to a table is learned on the way', BOUNDED, async () => {
  for (const [name, operation] of Object.entries(OPERATIONS)) {
    await using stage = await openStage(open)
    await insert(stage.store, '[{"_id":"a","i":1,"s":"x"}]')
    await using other = openPostgresStore({ url: stage.location })
    const prepare = { collection, indexes: [index(['s'], true)], paths: ['s'] }
    await other.metadata.changeMetadata(await change(other, { prepare }))
    await operation(stage.store, PATIENT)
    assert.equal((await find(stage.store)).matchCount, name === 'insert' ? 2 : 1, name)
    await other.metadata.changeMetadata(await change(other, { prepare: { ...prepare, indexes: [] } }))
    assert.equal(await valueOf(stage.store, 'a'), name === 'update' ? 2 : 1)
  }
})

test(
  'stream: readers who stop early, and those who stay without reading, hold no connection',
  BOUNDED,
  async () => {
    await using stage = await openStage(open)
    const documents = Array.from({ length: 2_000 }, (_, i) => ({ _id: `d${i}`, i }))
    await insert(stage.store, JSON.stringify(documents))
    for (let i = 0; i < 30; i++) for await (const _ of stage.store.stream(EVERYTHING, PATIENT)) break
    const streams = Array.from({ length: 30 }, () =>
      stage.store.stream(EVERYTHING, PATIENT)[Symbol.asyncIterator](),
    )
    const firsts = streams.map((each) => each.next())
    await Promise.race(firsts)
    for (let i = 0; i < 20; i++) assert.equal((await find(stage.store, { to: 0 })).matchCount, 2_000)
    await insert(stage.store, '[{"_id":"new"}]')
    assert.ok((await Promise.all(firsts)).every(({ done }) => done === false))
    for (const each of streams) await each.return?.()
    let count = 0
    for await (const _ of stage.store.stream(EVERYTHING, PATIENT)) count++
    assert.equal(count, 2_001)
  },
)

test(
  'stream: a connection that is lost is replaced, and no document is skipped or repeated',
  BOUNDED,
  async () => {
    await using direct = await openStage(open)
    const documents = Array.from({ length: 2_000 }, (_, i) => ({ _id: `d${i}`, i }))
    await insert(direct.store, JSON.stringify(documents))
    await using relay = await openRelay(direct.location)
    for (const text of ['limit ', 'id = any(']) {
      // A store that has prepared nothing yet, so that the text is on the wire.
      await using store = openPostgresStore({ url: relay.url })
      await store.ping()
      relay.cutAt(text, 'after')
      const found: string[] = []
      for await (const { id } of store.stream(EVERYTHING, PATIENT)) found.push(id)
      assert.deepEqual(found, documents.map(({ _id }) => _id).sort(), text)
    }
  },
)

for (const [when, isDone] of [
  ['before', false],
  ['after', true],
] as const) {
  test(
    `write: a connection lost ${when} the commit got through leaves the outcome unknown`,
    BOUNDED,
    async () => {
      await using direct = await openStage(open)
      await insert(direct.store, '[{"_id":"a","i":0}]')
      await using relay = await openRelay(direct.location)
      await using store = openPostgresStore({ url: relay.url })
      await store.ping()
      const unknown = { code: 'store-crud:OutcomeUnknown' }
      const all = { field: 'i', op: '>=', rvalue: 0 }
      relay.cutAt('commit', when)
      await assert.rejects(addingTo(store, all, PATIENT), unknown)
      assert.equal(await valueOf(direct.store, 'a'), isDone ? 1 : 0)
      relay.cutAt('insert into doc_', when)
      await assert.rejects(insert(store, '[{"_id":"b","i":0}]'), unknown)
      const { matchCount } = await find(direct.store, { query: { field: '_id', op: '=', rvalue: 'b' } })
      assert.equal(matchCount, isDone ? 1 : 0)
      relay.cutAt('update doc_', when)
      assert.equal(await addingTo(store, all, PATIENT), true, 'before the commit it is simply begun again')
      assert.equal(await valueOf(direct.store, 'a'), isDone ? 2 : 1)
      // A store that has prepared nothing yet, so that the text is on the wire.
      await using fresh = openPostgresStore({ url: relay.url })
      await fresh.ping()
      relay.cutAt('update doc_', when)
      await assert.rejects(adding(fresh, 'a'), unknown, 'one document is written without a transaction')
      assert.equal(await valueOf(direct.store, 'a'), isDone ? 3 : 1)
    },
  )
}

test('store: a server that falls silent is given up, and used again when it speaks', BOUNDED, async () => {
  await using direct = await openStage(open)
  await insert(direct.store, '[{"_id":"a","i":0}]')
  await using relay = await openRelay(direct.location)
  await using store = openPostgresStore({ url: relay.url })
  assert.equal(await valueOf(store, 'a'), 0)
  relay.freeze()
  const began = performance.now()
  const soon = { timeLimitMs: 200 }
  const results = await Promise.allSettled([
    store.find(EVERYTHING, () => undefined, soon),
    valueOf(store, 'a'),
    adding(store, 'a', soon),
    store.ping(),
  ])
  const took = performance.now() - began
  for (const result of results) {
    assert.equal(result.status, 'rejected')
    assert.match(String(result.reason.code), /crud:Unavailable|store-crud:OutcomeUnknown/)
  }
  assert.ok(took < 13_000, `${took} ms`)
  relay.thaw()
  assert.equal(await valueOf(store, 'a'), 0)
  assert.equal(await adding(store, 'a'), true)
})

test('indexes: why one cannot be built is reported, also if it cannot be dropped', BOUNDED, async () => {
  await using database = await startPostgres({ superuser: 'postgres' })
  const superuser = new pg.Client(database.local)
  await superuser.connect()
  try {
    await using service = await openServiceAt(database.url)
    const info = (indexes: readonly JsonObject[]): JsonObject => ({ datastore: {}, indexes })
    const define = (indexes: readonly JsonObject[]) =>
      metadataDocument('item', { name: { type: 'string' } }, { info: info(indexes) })
    await service.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, define([]))
    const data = [{ name: 'same' }, { name: 'same' }]
    assert.equal((await service.data.insert(ADMIN, { entity: 'item' }, { data })).status, 'COMPLETE')
    await superuser.query(`create function refuse() returns event_trigger language plpgsql
      as $$ begin raise exception 'nothing is dropped today'; end $$;
      create event trigger no_drops on ddl_command_start when tag in ('DROP INDEX') execute function refuse()`)
    const unique = [{ name: 'names', unique: true, fields: [{ field: 'name' }] }]
    const { entityInfo } = define(unique)
    const change = () => service.metadata.updateInfo(ADMIN, 'item', entityInfo)
    await assert.rejects(change(), { code: 'metadata:InvalidIndex' })
    await superuser.query('drop event trigger no_drops')
    // which first drops what was left
    await assert.rejects(change(), { code: 'metadata:InvalidIndex' })
    const { rows } = await superuser.query(
      `select 1 from smalt.smalt_index i join smalt.smalt_collection c on c.no = i.collection where c.entity = 'item'`,
    )
    assert.deepEqual(rows, [])
  } finally {
    await superuser.end()
  }
})
