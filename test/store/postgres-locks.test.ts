/** Locks of clients: transactions that acquire them at the same time do not wait for each other in vain. */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Work } from '../../src/base/work/work.ts'
import type { Bounds } from '../../src/store/bounds.ts'
import { BusyError } from '../../src/store/postgres/connection/failures.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Bookkeeping, TransactionSession } from '../../src/store/store.ts'
import type { LockOutcome } from '../../src/store/tables/locks.ts'
import { rowsOf } from '../support/postgres.ts'
import { ADMIN, openServiceAt } from '../support/service.ts'
import { freshPlace } from '../support/store-kind.ts'
import { type OpenStore, openStage } from './contract.ts'
import { withClient } from './raw-client.ts'

const NAME = `locks-${process.pid}`
const open: OpenStore = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location) => openPostgresStore({ url: `${location}&application_name=${NAME}` }),
}

/** As a request of this caller acquires it, whose locks are counted. */
function acquire(locks: Bookkeeping['locks'], caller: string, resource: string): Promise<LockOutcome> {
  const account = { caller, maxLocks: 100 }
  return locks.change({ operation: 'acquire', domain: 'd', resource, owner: caller, ttlMs: 60_000, account })
}

/** More than one acquire deletes: e10, e11, … */
async function expire(location: string): Promise<void> {
  await rowsOf(
    location,
    (schema) => `insert into ${schema}.smalt_lock(domain, resource, owner, count, ttl, expires, caller)
      select 'd', 'e' || i, 'o', 1, 1, i, '' from generate_series(10, 24) as i`,
  )
}

async function untilOneWaits(location: string): Promise<void> {
  const waiting = `select from pg_stat_activity
    where application_name = '${NAME}' and cardinality(pg_blocking_pids(pid)) > 0`
  while ((await rowsOf(location, () => waiting)).length === 0) await sleep(5)
}

test('acquire: it does not wait for a transaction that deletes expired locks', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await expire(location)
  await store.transact(
    async ({ bookkeeping: { locks } }) => {
      await acquire(locks, 'a', 'r1')
      const acquired = await Promise.race([
        acquire(store.locks, 'b', 'r2'),
        sleep(5_000, undefined, { ref: false }),
      ])
      assert.deepEqual(acquired, { count: 1 })
    },
    { seesLatest: true },
  )
  assert.equal((await rowsOf(location, (schema) => `select from ${schema}.smalt_lock`)).length, 2)
})

test('acquire: transactions of different callers do not wait for each other in a circle', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await expire(location)
  const runs = { first: 0, second: 0 }
  const seesLatest = true
  let second: Promise<unknown> | undefined
  await store.transact(
    async ({ bookkeeping: { locks } }) => {
      runs.first++
      await acquire(locks, 'a', 'r')
      second ??= store.transact(
        async (session) => {
          runs.second++
          await acquire(session.bookkeeping.locks, 'b', 'e10')
        },
        { seesLatest },
      )
      await untilOneWaits(location)
      await acquire(locks, 'a', 'e24')
    },
    { seesLatest },
  )
  await second
  assert.deepEqual(runs, { first: 1, second: 1 }, 'a transaction is repeated after a deadlock')
})

const SHORT: Bounds = { timeLimitMs: 300 }
const TIMEOUT = { code: 'store-crud:Timeout', message: /longer than 300 ms/ }
/** Far less than statements without a limit of a request may take. */
const SOON_MS = 4_000

async function timeOut(...requests: readonly Promise<unknown>[]): Promise<void> {
  const began = performance.now()
  await Promise.all(requests.map((each) => assert.rejects(each, TIMEOUT)))
  assert.ok(performance.now() - began < SOON_MS)
}

test('lock: requests wait for another transaction of their caller no longer than they may', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await using service = await openServiceAt(location)
  const context = (key: string) => ({
    work: new Work({ timeLimitMs: 300 }),
    idempotency: { key, fingerprint: 'f' },
  })
  const body = { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'other' }
  const underWay = async ({ bookkeeping: { locks } }: TransactionSession): Promise<void> => {
    // Whatever it acquires, its locks are counted.
    await acquire(locks, createHash('sha256').update(ADMIN.principal).digest('base64'), 'r')
    await timeOut(
      service.once.lock(ADMIN, body, context('k1')),
      service.once.lock(ADMIN, body, context('k2')),
      service.data.lock(ADMIN, body, { work: new Work({ timeLimitMs: 300 }) }),
    )
  }
  await store.transact(underWay, { seesLatest: true })
  assert.equal((await service.once.lock(ADMIN, body, context('k1'))).status, 200)
})

test('lock, sequence: a request waits for a row no longer than it may', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  const sequence = { name: 's', initialValue: 1n, increment: 1n }
  await acquire(store.locks, 'a', 'r')
  await store.nextValues(sequence, 1)
  const schema = new URL(location).searchParams.get('schema')!
  await withClient(async (client) => {
    await client.query(
      `begin; update ${schema}.smalt_lock set ttl = ttl; update ${schema}.smalt_sequence set next = 9`,
    )
    const request = { domain: 'd', resource: 'r', owner: 'a', ttlMs: 60_000 }
    await timeOut(
      store.locks.change({ ...request, operation: 'ping' }, SHORT),
      store.locks.change({ ...request, operation: 'acquire' }, SHORT),
      store.nextValues(sequence, 1, SHORT),
      store.transact((session) => session.nextValues(sequence, 1, SHORT)),
    )
  })
})

test('transact: one that is repeated waits for its turn no longer than it may, and leaves no lock behind', async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  const queue = `hashtextextended('smalt: transactions of ${new URL(location).searchParams.get('schema')!}', 0)`
  const collide = async (): Promise<never> => {
    throw new BusyError('another transaction interfered')
  }
  await withClient(async (client) => {
    await client.query(`select pg_advisory_lock(${queue})`)
    await timeOut(store.transact(collide, { bounds: SHORT }))
    await client.query(`select pg_advisory_unlock(${queue})`)
    const { rows } = await client.query(`select pg_try_advisory_lock(${queue}) as is_free`)
    assert.deepEqual(rows, [{ is_free: true }])
  })
})
