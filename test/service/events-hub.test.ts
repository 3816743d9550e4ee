/** One reader of new events serves all who follow. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { EventHub } from '../../src/service/events/hub.ts'
import { RecentEvents } from '../../src/service/events/recent.ts'
import { keepEventsInBounds, trimAll } from '../../src/service/events/retention.ts'
import { openStore } from '../../src/store/open.ts'
import type { EventHead, EventStore } from '../../src/store/events.ts'
import type { Database } from '../../src/store/database.ts'
import { eventually } from './auth/harness.ts'
import { SCHEMA, write } from '../store/contract.ts'
import { allEvents, insertion } from '../store/events.ts'
import { failLoudly } from '../support/service.ts'
import { freshPlace, onEveryStore } from '../support/store-kind.ts'

const OPTIONS = { timeLimitMs: 10_000, onInternalError: failLoudly }

async function openStage() {
  await using opened = new AsyncDisposableStack()
  const { location } = opened.use(await freshPlace())
  const store = opened.use(await openStore(location, { onError: failLoudly }))
  await store.metadata.prepareCollection({ collection: SCHEMA.collection, indexes: [], paths: [] })
  const owned = opened.move()
  return { store, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

let made = 0

/** Makes so many events, and waits until they can be read. */
async function make(store: Database, count: number): Promise<void> {
  const { last } = await store.events.eventBounds()
  const ids = Array.from({ length: count }, () => ({ _id: `d${made++}` }))
  await write(store, insertion(ids))
  await eventually(async () => (await store.events.eventBounds()).last >= last + count, 'they can be read')
}

/** The store, and how often it was read. */
function counted(store: EventStore): { readonly store: EventStore; readonly reads: () => number } {
  let reads = 0
  return {
    reads: () => reads,
    store: {
      readEvents: (request, bounds) => store.readEvents(request, bounds),
      readHeads: (range, bounds) => {
        reads++
        return store.readHeads(range, bounds)
      },
      readStates: (holders, bounds) => store.readStates(holders, bounds),
      eventBounds: () => store.eventBounds(),
      onEvents: (listener) => store.onEvents(listener),
      trimEvents: (limits) => store.trimEvents(limits),
    },
  }
}

onEveryStore(() => {
  test('event hub: 1,000 followers cost as many reads as one', async () => {
    await using stage = await openStage()
    const { store, reads } = counted(stage.store.events)
    await using hub = new EventHub(store, OPTIONS)
    using followers = new DisposableStack()
    const seen = Array.from({ length: 1_000 }, () => 0)
    const ending = new AbortController()
    const { last } = await store.eventBounds()
    const following = seen.map(async (_, i) => {
      followers.use(hub.join())
      for (let position = last; ;) {
        await hub.newsAfter(position, { signals: [ending.signal] })
        if (ending.signal.aborted) return
        const newest = hub.newestAfter(position)
        if (!newest) continue
        seen[i]! += newest.heads.length
        position = newest.to
      }
    })
    await eventually(() => hub.newestAfter(last) !== undefined, 'it has begun')
    const before = reads()
    await make(stage.store, 20)
    await eventually(() => seen.every((count) => count === 20), 'all receive the events')
    assert.ok(reads() - before < 50, String(reads() - before))
    ending.abort()
    await Promise.all(following)
  })

  test('event hub: nothing is read when nobody follows, and whoever joins later begins anew', async () => {
    await using stage = await openStage()
    const { store, reads } = counted(stage.store.events)
    await using hub = new EventHub(store, OPTIONS)
    await make(stage.store, 3)
    assert.equal(reads(), 0)
    const begun = (await store.eventBounds()).last
    const first = hub.join()
    await eventually(() => hub.newestAfter(begun) !== undefined, 'it has begun')
    assert.equal(hub.newestAfter(begun - 1), undefined)
    await make(stage.store, 2)
    await eventually(() => (hub.newestAfter(begun)?.heads.length ?? 0) === 2, 'it has read')
    first[Symbol.dispose]()
    await eventually(() => hub.newestAfter(begun) === undefined, 'it has forgotten')
    const before = reads()
    await make(stage.store, 2)
    assert.equal(reads(), before)
    const later = (await store.eventBounds()).last
    using _second = hub.join()
    await eventually(() => hub.newestAfter(later) !== undefined, 'it has begun again')
    assert.equal(hub.newestAfter(begun), undefined)
  })

  test('event hub: a wait ends when it is closed, when its time is over, and when it is not wanted any more', async () => {
    await using stage = await openStage()
    const hub = new EventHub(stage.store.events, OPTIONS)
    using _joined = hub.join()
    const enough = new AbortController()
    const waits = [
      hub.newsAfter(100, { signals: [], timeoutMs: 20 }),
      hub.newsAfter(100, { signals: [enough.signal] }),
    ]
    enough.abort()
    assert.deepEqual(await Promise.all(waits), [100, 100])
    const waiting = hub.newsAfter(100, { signals: [] })
    await hub[Symbol.asyncDispose]()
    assert.equal(await waiting, undefined)
    assert.equal(await hub.newsAfter(100, { signals: [] }), undefined)
  })

  test('event hub: what it reads while it is closed is awaited, and nothing is read after that', async () => {
    await using stage = await openStage()
    const begun = Promise.withResolvers<void>()
    const held = Promise.withResolvers<void>()
    let asked = 0
    const store: EventStore = {
      ...stage.store.events,
      eventBounds: async () => {
        asked++
        begun.resolve()
        await held.promise
        return await stage.store.events.eventBounds()
      },
    }
    const hub = new EventHub(store, OPTIONS)
    using _joined = hub.join()
    await begun.promise
    let isClosed = false
    const closing = hub[Symbol.asyncDispose]().then(() => (isClosed = true))
    await new Promise(setImmediate)
    assert.equal(isClosed, false)
    held.resolve()
    await closing
    const before = asked
    await make(stage.store, 1)
    assert.equal(asked, before)
  })

  function head(seq: number, details = ''): EventHead {
    const event = { id: String(seq), entity: 'e', hook: 'h', operation: 'insert', document: 'd' } as const
    return { ...event, seq, at: 0, details, holder: seq, bytes: 2 }
  }

  function range(from: number, to: number, details?: string): readonly EventHead[] {
    return Array.from({ length: to - from + 1 }, (_, i) => head(from + i, details))
  }

  test('recent events: the newest thousand stay, and nobody is given some with a gap before them', () => {
    const recent = new RecentEvents()
    recent.begin(10)
    for (let from = 11; from < 5_000; from += 100) recent.add(range(from, from + 99), from + 99)
    const last = recent.scannedTo()!
    const oldest = last - recent.after(last - 1_000)!.heads.length
    assert.equal(oldest, last - 1_000)
    assert.equal(recent.after(10), undefined)
    const found = recent.after(last - 3)!
    assert.deepEqual(
      found.heads.map(({ seq }) => seq),
      [last - 2, last - 1, last],
    )
    assert.deepEqual(recent.after(last), { heads: [], to: last })
    assert.equal(recent.after(last + 5), undefined)
  })

  test('recent events: large ones go before they are a thousand, one that is larger than all at once', () => {
    const recent = new RecentEvents()
    recent.begin(0)
    recent.add(range(1, 100, 'x'.repeat(250_000)), 100)
    assert.equal(recent.after(0), undefined)
    assert.equal(recent.after(90)!.heads.length, 10)
    recent.add([head(101, 'x'.repeat(5_000_000))], 101)
    assert.equal(recent.after(100), undefined)
    assert.deepEqual(recent.after(101), { heads: [], to: 101 })
  })

  test('recent events: numbers that nobody has are passed', () => {
    const recent = new RecentEvents()
    recent.begin(0)
    recent.add([head(2), head(7)], 9)
    assert.deepEqual(
      recent.after(2)!.heads.map(({ seq }) => seq),
      [7],
    )
    assert.equal(recent.after(2)!.to, 9)
    assert.deepEqual(recent.after(8)!.heads, [])
  })

  const DAY_MS = 86_400_000

  test('retention: goes by age and by count, and never past an undelivered event', async () => {
    await using stage = await openStage()
    const { store } = stage
    await make(store, 10)
    const numbers = (await allEvents(store)).map(({ seq }) => seq)
    const left = async (
      days: number,
      keepCount: number,
      deliveredTo?: number,
    ): Promise<readonly number[]> => {
      await trimAll({
        stores: new Map([['default', store]]),
        keeping: { keepDays: 7, keepCount },
        deliveredUpTo: async () => deliveredTo,
        now: () => new Date(Date.now() + days * DAY_MS),
        onInternalError: failLoudly,
      })
      return (await allEvents(store)).map(({ seq }) => seq)
    }
    assert.deepEqual(await left(6, 100), numbers)
    assert.deepEqual(await left(6, 8, numbers[0]), numbers.slice(1))
    assert.deepEqual(await left(6, 8), numbers.slice(2))
    assert.deepEqual(await left(8, 8, numbers[4]), numbers.slice(5))
    assert.deepEqual(await left(8, 8), [])
    await make(store, 1)
    const [next, ...others] = await left(0, 8)
    assert.ok(next! > numbers[9]! && others.length === 0)
  })

  test('retention: a round that is under way is awaited at the end', async () => {
    let isTrimming = false
    const trimEvents = async (): Promise<number> => {
      isTrimming = true
      await new Promise((resolve) => setTimeout(resolve, 100))
      isTrimming = false
      return 0
    }
    const retention = keepEventsInBounds({
      stores: new Map([['default', { events: { trimEvents } }]]),
      keeping: { keepDays: 7, keepCount: 8, roundMs: 10 },
      deliveredUpTo: async () => undefined,
      now: () => new Date(),
      onInternalError: failLoudly,
    })
    await eventually(() => isTrimming, 'it trims')
    await retention[Symbol.asyncDispose]()
    assert.equal(isTrimming, false)
  })
})
