/** Several hooks that watch one change keep one copy of the documents, on every store. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CaptureChange } from '../../src/plan/plan.ts'
import type { StoredEvent } from '../../src/store/events.ts'
import type { Database } from '../../src/store/database.ts'
import { eventually } from '../service/auth/harness.ts'
import type { Place } from '../support/store-kind.ts'
import { type OpenStore, openStage, write } from './contract.ts'
import { allEvents, deletion, insertion, saving, setting } from './events.ts'

const BOUNDS = { timeLimitMs: 30_000 }

export interface OpenEarlier extends OpenStore {
  /** Makes a store that was closed into one that the release before wrote. */
  readonly downgrade: (place: Place) => Promise<void>
  /** How many bytes of documents are kept with events. */
  readonly bytesOfStates: (place: Place) => Promise<number>
}

let nextId = 0

/** Ids rise, as those of the service do: PostgreSQL numbers the events of one change in the order of their ids. */
function risingId(): string {
  return String(nextId++).padStart(12, '0')
}

/** One event by each of so many hooks. */
function capturing(count: number): CaptureChange {
  return ({ operation }) =>
    Array.from({ length: count }, (_, i) => {
      const hook = `h${String(i).padStart(3, '0')}`
      return { id: risingId(), entity: 't', hook, operation, at: 1_000, details: '{}' }
    })
}

async function eventsUpTo(store: Database, count: number): Promise<readonly StoredEvent[]> {
  await eventually(async () => (await store.events.eventBounds()).last >= count, 'events can be read')
  return await allEvents(store)
}

/** An insert of several documents and of one, an update, a save of each kind, and a delete of one and of several. */
async function changeInEveryWay(store: Database, captureChange: CaptureChange): Promise<void> {
  const s = 'x'.repeat(1_000)
  await write(
    store,
    insertion(
      [
        { _id: 'a', s },
        { _id: 'b', s },
      ],
      { captureChange },
    ),
  )
  await write(store, insertion([{ _id: 'c', s }], { captureChange }))
  await write(store, setting('a', 'y', { captureChange }))
  await write(
    store,
    saving(
      [
        { _id: 'a', s },
        { _id: 'd', s },
      ],
      { captureChange },
    ),
  )
  await write(store, deletion('a', { captureChange }))
}

const CHANGES = 7
/** Of the thirteen states before and after, one is short. */
const STATE_BYTES = 9 * 1_018

export function sharedStatesContract(kind: string, open: OpenEarlier): void {
  test(`${kind}: events: those of one change share one copy of the documents`, async () => {
    const place = await open.freshPlace()
    await using _ = place
    await using stage = await openStage({ ...open, freshPlace: async () => borrowed(place) })
    const { store } = stage
    await changeInEveryWay(store, capturing(50))
    const events = await eventsUpTo(store, 50 * CHANGES)
    assert.equal(events.length, 50 * CHANGES)
    const heads = await store.events.readHeads({ after: 0, upTo: events.at(-1)!.seq }, BOUNDS)
    const holders = [...new Set(heads.map(({ holder }) => holder))]
    assert.equal(holders.length, CHANGES)
    const states = await store.events.readStates(holders, BOUNDS)
    for (const [i, { before, after, ...event }] of events.entries()) {
      const { holder, bytes, ...head } = heads[i]!
      assert.deepEqual(head, event)
      assert.deepEqual(states.get(holder), { before, after })
      assert.equal(bytes, Buffer.byteLength(before ?? '') + Buffer.byteLength(after ?? ''))
      assert.deepEqual(
        [before === null, after === null],
        [event.operation === 'insert', event.operation === 'delete'],
      )
    }
    const kept = await open.bytesOfStates(place)
    assert.ok(kept < STATE_BYTES * 1.2, `${kept} bytes`)
  })

  test(`${kind}: events: trimming keeps the documents of events that stay`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await write(store, insertion([{ _id: 'a', s: 'one' }], { captureChange: capturing(30) }))
    await write(store, insertion([{ _id: 'b', s: 'two' }], { captureChange: capturing(250) }))
    const events = await eventsUpTo(store, 280)
    const trim = (notAfter: number) =>
      store.events.trimEvents({ keptSince: Infinity, keepCount: 0, notAfter })
    assert.equal(await trim(events[10]!.seq), 0)
    assert.equal(await trim(events[29]!.seq), 30)
    assert.equal(await trim(events[150]!.seq), 100)
    assert.deepEqual(await allEvents(store), events.slice(130))
    assert.equal(await trim(events.at(-1)!.seq), 150)
    assert.deepEqual(await allEvents(store), [])
  })

  test(`${kind}: events: what the release before kept is read as it was, and goes on`, async () => {
    const place = await open.freshPlace()
    await using _ = place
    let before: readonly StoredEvent[]
    {
      await using stage = await openStage({ ...open, freshPlace: async () => borrowed(place) })
      await changeInEveryWay(stage.store, capturing(1))
      before = await eventsUpTo(stage.store, CHANGES)
    }
    await open.downgrade(place)
    await using store = await open.openAt(place.location)
    assert.deepEqual(await allEvents(store), before)
    await write(store, setting('b', 'z', { captureChange: capturing(3) }))
    const after = await eventsUpTo(store, CHANGES + 3)
    assert.deepEqual(after.slice(0, CHANGES), before)
    assert.deepEqual(
      after.slice(CHANGES).map((event) => [event.hook, event.before?.length, event.after]),
      ['h000', 'h001', 'h002'].map((hook) => [hook, 1_018, '{"_id":"b","s":"z"}']),
    )
  })
}

/** A place that outlives the stage. */
function borrowed({ location }: Place): Place {
  return { location, async [Symbol.asyncDispose]() {} }
}
