/** Concurrent work must not show: no page is passed on twice, no lock lost, no insert given up. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { LockOperation } from '../../src/store/tables/locks.ts'
import type { Database } from '../../src/store/database.ts'
import { toEarlierLayout } from '../support/earlier-layout.ts'
import { rowsOf } from '../support/postgres.ts'
import { freshPlace } from '../support/store-kind.ts'
import { type OpenStore, SCHEMA, change, find, index, insert, openStage } from './contract.ts'
import { withClient } from './raw-client.ts'

const BOUNDED = { timeout: 400_000 }
const { collection } = SCHEMA
/** By which the sessions of these tests are found. */
const NAME = `races-${process.pid}`
const open: OpenStore = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location) => openPostgresStore({ url: `${location}&application_name=${NAME}` }),
}

async function prepare(store: Database, indexes: readonly ReturnType<typeof index>[]): Promise<void> {
  await store.metadata.changeMetadata(await change(store, { prepare: { collection, indexes, paths: ['s'] } }))
}

test('find: a table renamed between page and count gives no document twice', BOUNDED, async () => {
  await using stage = await openStage(open)
  await using other = openPostgresStore({ url: stage.location })
  await insert(stage.store, '[{"_id":"a","i":1},{"_id":"b","i":2},{"_id":"c","i":3}]')
  const state = { isOver: false }
  const finders = Array.from({ length: 4 }, async () => {
    while (!state.isOver) {
      const { documents, matchCount } = await find(stage.store, { to: 1 })
      assert.deepEqual([documents.map(({ id }) => id), matchCount], [['a', 'b'], 3])
    }
  })
  for (let i = 0; i < 8; i++) await prepare(other, i % 2 === 0 ? [index(['i'], true)] : [])
  state.isOver = true
  await Promise.all(finders)
})

test('insert: one that deadlocks with a transaction is begun again', BOUNDED, async () => {
  await using stage = await openStage(open)
  for (let i = 0; i < 5; i++) {
    const [a, b] = [`{"_id":"a${i}"}`, `{"_id":"b${i}"}`]
    const atomic = stage.store.transact(async (session) => {
      await insert(session, `[${b}]`)
      return await insert(session, `[${a}]`)
    })
    const [, plain] = await Promise.all([atomic, insert(stage.store, `[${a},${b}]`)])
    const { matchCount } = await find(stage.store)
    assert.equal(matchCount, (i + 1) * 2, JSON.stringify(plain))
  }
})

test('index: a unique one takes texts longer than a key, whatever their characters', BOUNDED, async () => {
  await using stage = await openStage(open)
  const long = `a${'😀'.repeat(150)}`
  await insert(stage.store, JSON.stringify([{ _id: 'a', s: long }]))
  await prepare(stage.store, [index(['s'], true)])
  const [again] = await insert(stage.store, JSON.stringify([{ _id: 'b', s: long }]))
  assert.equal(again!.kind, 'duplicate')
})

test('lock: released and acquired by its owner at once, it is held once', BOUNDED, async () => {
  await using stage = await openStage(open)
  for (let i = 0; i < 100; i++) {
    const step = (operation: LockOperation) =>
      stage.store.locks.change({
        operation,
        domain: 'd',
        resource: `r${i}`,
        owner: 'o',
        ttlMs: 60_000,
      })
    await step('acquire')
    await Promise.all([step('release'), step('acquire')])
    const { count } = await step('count')
    assert.equal(count, 1, `round ${i}`)
  }
})

/** Sessions that wait for an advisory lock, or have asked for one since then. */
function triesSince(moment: Date): string {
  return `select from pg_stat_activity
    where application_name = '${NAME}' and query like 'select %advisory_lock(%'
      and (wait_event_type = 'Lock' or query_start > '${moment.toISOString()}')`
}

test('index: a process that waits for the columns lets others build indexes', BOUNDED, async () => {
  await using stage = await openStage(open)
  await insert(stage.store, '[{"_id":"a","t":"x"}]')
  const rows = (makeText: (schema: string) => string) => rowsOf(stage.location, makeText)
  const [filling] = await rows(
    (schema) =>
      `select hashtextextended('smalt: filling of ${schema}/' || no, 0) as lock from ${schema}.smalt_collection`,
  )
  await withClient(async (client) => {
    // Another process fills the columns.
    await client.query(`select pg_advisory_lock(${String(filling!['lock'])})`)
    const preparing = prepare(stage.store, [index(['t'])])
    while ((await rows((schema) => `select from ${schema}.smalt_index`)).length === 0) await sleep(10)
    // Whoever prepares the index finds that the lock is taken.
    const moment = new Date()
    while ((await rows(() => triesSince(moment))).length === 0) await sleep(10)
    const schema = new URL(stage.location).searchParams.get('schema')!
    await client.query(`create index concurrently on ${schema}.smalt_epoch(last_number)`)
    await client.query(`select pg_advisory_unlock(${String(filling!['lock'])})`)
    await preparing
  })
})

const TRIES = `select query_start::text as at from pg_stat_activity
  where application_name = '${NAME}' and query like 'select pg_try_advisory_lock(%'`

interface WaitingBuild<T> {
  readonly work: () => Promise<T>
  /** Queries that have a row when the work is done, and when an index of it is built. */
  readonly done: (schema: string) => string
  readonly built: (schema: string) => string
}

/** Begins work while another process builds an index on the table, which ends when the work has waited for it. */
async function whileOthersBuild<T>(location: string, { work, done, built }: WaitingBuild<T>): Promise<T> {
  const isDone = async (): Promise<boolean> => (await rowsOf(location, done)).length > 0
  const [{ lock } = {}] = await rowsOf(
    location,
    (schema) =>
      `select hashtextextended('smalt: index on ${schema}/' || no, 0) as lock from ${schema}.smalt_collection`,
  )
  let working: Promise<T> | undefined
  await withClient(async (client) => {
    await client.query(`select pg_advisory_lock(${String(lock)})`)
    working = work()
    // Who waits asks again and again.
    const tries = new Set<string>()
    while (tries.size < 10 && !(await isDone())) {
      for (const { at } of await rowsOf(location, () => TRIES)) tries.add(String(at))
    }
    assert.equal(await isDone(), false)
    assert.deepEqual(await rowsOf(location, built), [], 'nothing is built meanwhile')
    await client.query(`select pg_advisory_unlock(${String(lock)})`)
    while (!(await isDone())) await sleep(10)
  })
  return await working!
}

test('index: a new one waits until other processes have built theirs on the table', BOUNDED, async () => {
  await using stage = await openStage(open)
  await insert(stage.store, '[{"_id":"a","t":"x"}]')
  await whileOthersBuild(stage.location, {
    work: () => prepare(stage.store, [index(['t'])]),
    done: (schema) => `select from ${schema}.smalt_index where state = 'ready'`,
    built: (schema) =>
      `select indexname from pg_indexes where schemaname = '${schema}' and indexname like 'idx\\_%'`,
  })
})

test('index: a table of an earlier release waits the same way to get its own again', BOUNDED, async () => {
  await using place = await freshPlace('postgres')
  {
    await using store = await open.openAt(place.location)
    await prepare(store, [index(['t'])])
    await insert(store, '[{"_id":"a","t":"x"}]')
  }
  await toEarlierLayout(place.location)
  await using _store = await whileOthersBuild(place.location, {
    async work() {
      const store = await open.openAt(place.location)
      // its first use connects it
      await store.metadata.readMetadata()
      return store
    },
    done: (schema) =>
      `select where not exists (select from information_schema.columns where table_schema = '${schema}' and column_name = 'body')`,
    built: (schema) =>
      `select indexname from pg_indexes where schemaname = '${schema}' and indexname like 'idx\\_%\\_c'`,
  })
})
