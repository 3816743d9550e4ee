/** Connections are shared: one caller's slow statements leave room for others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConnections } from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { freshPlace } from '../support/store-kind.ts'

const SLEEP = { text: 'select pg_sleep(30)', values: [] }
const ONE = { text: 'select 1', values: [] }

test('connections: a caller whose statements all are slow leaves some to others', async () => {
  await using place = await freshPlace('postgres')
  const failures: unknown[] = []
  await using connections = openConnections(readLocation(place.location), (error) => failures.push(error))
  const controller = new AbortController()
  const bounds = { timeLimitMs: 30_000, caller: 'greedy', getSignal: () => controller.signal }
  const sleeping = Array.from({ length: 40 }, () =>
    assert.rejects(connections.query(SLEEP, bounds), { code: 'crud:Unavailable' }),
  )
  const leases = Promise.allSettled(Array.from({ length: 12 }, () => connections.lease(bounds)))
  for (let i = 0; i < 20; i++) {
    assert.equal((await connections.query(ONE, { timeLimitMs: 30_000, caller: 'other' })).length, 1)
  }
  using lease = await connections.lease({ timeLimitMs: 30_000, caller: 'other' })
  assert.equal((await lease.connection.query(ONE)).length, 1)
  controller.abort()
  await Promise.all(sleeping)
  for (const each of await leases) if (each.status === 'fulfilled') each.value[Symbol.dispose]()
  assert.deepEqual(failures, [])
})
