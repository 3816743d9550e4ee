/** Reader threads are shared: one caller's slow finds leave room for others, and what does not stop is ended. */
import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Work } from '../../src/base/work/work.ts'
import { USUAL_MEMORY } from '../../src/store/sqlite/file/memory.ts'
import { createReaders } from '../../src/store/sqlite/read/readers.ts'
import { attachSqliteStore } from '../../src/store/sqlite/attached-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Bounds } from '../../src/store/bounds.ts'
import type { Store } from '../../src/store/store.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { insert, openStage } from './contract.ts'
import { COUNT, SLOW, fill, longTexts, planOf } from './streams.ts'

const open = {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location: string) => openSqliteStore({ directory: directoryOf(location) }),
}
const TIMEOUT = { code: 'store-crud:Timeout' }
const HUNG_UP = { code: 'crud:Unavailable' }

function slowFind(store: Store, bounds: Bounds): Promise<unknown> {
  return store.find(planOf({ query: SLOW }), () => undefined, bounds)
}

/** How long a find takes that no index serves. */
async function unindexed(store: Store): Promise<number> {
  const start = performance.now()
  const plan = planOf({ query: { field: 'i', op: '=', rvalue: 3 } })
  let found = 0
  await store.find(plan, () => found++, { timeLimitMs: 30_000, caller: 'other' })
  assert.ok(found > 0)
  return performance.now() - start
}

test('find: with all of one caller slow, the unindexed finds of another do not wait for them', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  await fill(store)
  await insert(store, longTexts(300))
  const idleMs = Math.max(await unindexed(store), await unindexed(store))
  const controller = new AbortController()
  const bounds = { timeLimitMs: 30_000, caller: 'greedy', getSignal: () => controller.signal }
  const greedy = Array.from({ length: 20 }, () => assert.rejects(slowFind(store, bounds), HUNG_UP))
  const times: number[] = []
  for (let i = 0; i < 5; i++) times.push(await unindexed(store))
  controller.abort()
  await Promise.all(greedy)
  console.log(
    `unindexed find: ${idleMs.toFixed(0)} ms alone, ${Math.max(...times).toFixed(0)} ms beside slow ones`,
  )
  assert.ok(Math.max(...times) < 4 * idleMs + 2_000, times.join())
})

test('find: one that is over its time inside of a single pattern ends, and its thread is replaced', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  await fill(store)
  await insert(store, longTexts(1, 1_500_000))
  const start = performance.now()
  const late = Array.from({ length: 4 }, () =>
    assert.rejects(slowFind(store, { timeLimitMs: 1_000 }), TIMEOUT),
  )
  // those of others, that run meanwhile, are not harmed
  for (let i = 0; i < 10; i++) await unindexed(store)
  await Promise.all(late)
  assert.ok(performance.now() - start < 10_000, 'the pattern alone takes longer')
  await unindexed(store)
})

test('find: the time of waiting for a thread is not that of the find', async () => {
  await using stage = await openStage(open)
  const { store } = stage
  await fill(store)
  await insert(store, longTexts(1))
  const start = performance.now()
  await slowFind(store, { timeLimitMs: 30_000 })
  const timeLimitMs = 6 * (performance.now() - start)
  // two at a time, so that the last ones wait for longer than they may take
  await Promise.all(Array.from({ length: 24 }, () => slowFind(store, { timeLimitMs, caller: 'one' })))
})

test('find: on a worker thread, page and count are of one moment, whatever others change meanwhile', async () => {
  await using stage = await openStage(open)
  await fill(stage.store)
  const directory = directoryOf(stage.location)
  await using attached = attachSqliteStore({ directory, borrow: () => assert.fail('nothing is written') })
  using other = new DatabaseSync(join(directory, 'smalt.db'))
  let isDropped = false
  const take = (): void => {
    if (!isDropped) other.exec('drop table doc_1')
    isDropped = true
  }
  const plan = { ...planOf({ to: 9 }), counted: true }
  assert.deepEqual(await attached.find(plan, take, { timeLimitMs: 30_000 }), { matchCount: COUNT })
  assert.ok(isDropped)
})

test('readers: on few processors, a caller has one thread while others are active', async () => {
  await using place = await freshPlace('sqlite')
  const file = join(directoryOf(place.location), 'smalt.db')
  mkdirSync(directoryOf(place.location), { recursive: true })
  new DatabaseSync(file).close()
  const text = `with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000) select max(i) from n`
  for (const [processors, isOtherActive, waits] of [
    [2, false, false],
    [2, true, true],
    [4, true, false],
  ] as const) {
    await using readers = createReaders({ file, memory: USUAL_MEMORY, threads: 3, processors })
    const waitedMs: number[] = []
    const read = async (): Promise<void> => {
      const work = new Work({ timeLimitMs: 30_000 })
      work.waited = (ms) => void waitedMs.push(ms)
      const bounds = { timeLimitMs: 30_000, caller: 'greedy', work }
      await readers.read({ statement: { text, values: [] }, bounds }, () => undefined)
    }
    readers.noteCaller('greedy')
    if (isOtherActive) readers.noteCaller('other')
    await Promise.all([read(), read()])
    assert.equal(Math.max(...waitedMs) > 100, waits, `${processors} processors: ${waitedMs.join()} ms`)
  }
})
