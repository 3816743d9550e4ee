import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSIONS } from '../../../src/access/caller.ts'
import { ServiceError } from '../../../src/base/errors.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { lock } from '../../../src/service/locks.ts'
import type { Database } from '../../../src/store/database.ts'
import type { Locks } from '../../../src/store/tables/locks.ts'

const CALLER = { principal: 'p', roles: new Set<string>(), permissions: new Set(PERMISSIONS), claims: {} }
const BODY = { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r' }

/** Locks that are always free, and of which nobody knows how many are held until the test says so. */
function countingLocks() {
  const counts: PromiseWithResolvers<number>[] = []
  let counted = 0
  const locks: Locks = {
    async change({ account }) {
      if (account?.maxLocks !== undefined) counted++
      return { count: 1 }
    },
    held() {
      counts.push(Promise.withResolvers<number>())
      return counts.at(-1)!.promise
    },
  }
  const store = {} as Database
  const limits = { ...DEFAULT_LIMITS, locks: 80 }
  return {
    counts,
    acquire: () => lock({ store, limits }, { caller: CALLER, body: BODY, locks }),
    /** How many acquires had their locks counted. */
    counted: () => counted,
  }
}

test('lock: a count that ends late does not renew an allowance that is used up', async () => {
  const { acquire, counts, counted } = countingLocks()
  const first = acquire()
  const late = acquire()
  await new Promise(setImmediate)
  counts[0]!.resolve(0)
  await first
  // an eighth of what is left
  for (let i = 0; i < 10; i++) await acquire()
  assert.equal(counted(), 2)
  counts[1]!.resolve(0)
  await late
  const next = acquire()
  await new Promise(setImmediate)
  assert.equal(counted(), 3)
  counts[2]!.resolve(80)
  await next
})

test('lock: where locks cannot be counted any more, the lock is acquired, and the next acquire counts', async () => {
  const { acquire, counts, counted } = countingLocks()
  for (const i of [0, 1]) {
    const acquired = acquire()
    await new Promise(setImmediate)
    counts[i]!.reject(new ServiceError('store-crud:Timeout', 'too late'))
    assert.equal(await acquired, true)
    assert.equal(counted(), i + 1)
  }
})
