/** Locks of clients: transactions that acquire them at the same time do not wait for each other in vain. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Bookkeeping } from '../../src/store/store.ts'
import type { LockOutcome } from '../../src/store/tables/locks.ts'
import { rowsOf } from '../support/postgres.ts'
import { freshPlace } from '../support/store-kind.ts'
import { type OpenStore, openStage } from './contract.ts'

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
