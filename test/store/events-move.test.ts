/** A move takes along the events with their numbers, and those to whom they are pushed. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { move } from '../../src/service/move/move.ts'
import type { StoredEvent } from '../../src/store/events.ts'
import { openStore } from '../../src/store/open.ts'
import type { Database } from '../../src/store/database.ts'
import { ADMIN, openServiceAt } from '../support/service.ts'
import { chooseStore, freshPlace } from '../support/store-kind.ts'
import { allEvents } from './events.ts'
import { ENTITY, follow, thingMetadata } from './events-world.ts'

/** The definitions of these sinks name no receiver that could be reached. */
const UNDELIVERED = { onInternalError: () => undefined }

const PATHS = [
  ['sqlite', 'postgres'],
  ['postgres', 'sqlite'],
  ['sqlite', 'sqlite'],
] as const

for (const [from, to] of PATHS) {
  test(
    `move: events and sinks go from ${from} to ${to} with their numbers`,
    { timeout: 200_000 },
    async () => {
      chooseStore(from)
      await using source = await freshPlace(from)
      await using target = await freshPlace(to)
      await fill(source.location)
      const there = await contentsOf(source.location)
      assert.ok(there.events.length > 470)
      assert.ok(there.bounds.first > 1)
      await move({ from: source.location, to: target.location })
      assert.deepEqual(await contentsOf(target.location), there)
      const last = await changeOnce(target.location)
      assert.ok(last.seq > there.bounds.last)
    },
  )
}

/** More than a page of events, two of each change, some of them gone, and a sink that has yet to get one. */
async function fill(location: string): Promise<void> {
  {
    await using service = await openServiceAt(location, UNDELIVERED)
    await service.metadata.create(ADMIN, { entity: ENTITY, version: '1.0.0' }, thingMetadata(['all', 'too']))
    const data = Array.from({ length: 240 }, (_, i) => ({ _id: `t${i}`, n: i }))
    await service.data.insert(ADMIN, { entity: ENTITY }, { data })
    const query = { field: 'n', op: '<', rvalue: 3 }
    await service.data.update(ADMIN, { entity: ENTITY }, { query, update: { $add: { n: 1 } } })
    await service.data.delete(ADMIN, { entity: ENTITY }, { query })
  }
  await using store = await openStore(location)
  const [first] = await follow(store, () => true)
  await store.events.trimEvents({ keptSince: 0, keepCount: 470, notAfter: first!.seq + 2 })
  await store.sinks.create({ name: 'ü"x', definition: '{"a":1}', position: first!.seq })
  const holder = { name: 'ü"x', owner: 'me' }
  assert.ok(await store.sinks.hold({ ...holder, ttlMs: 60_000 }))
  const progress = { position: first!.seq + 1, isDisabled: false, failures: 2, retryAt: 7 }
  const item = { seq: first!.seq + 1, id: 'e', doc: 'd', state: 'dead', attempts: 3, nextAt: 4 } as const
  const entered = [{ ...item, error: 'no', at: 5, event: '{}' }]
  assert.ok(
    await store.sinks.recordResults(holder, { version: 1, progress, entered, changed: [], removed: [] }),
  )
}

async function contentsOf(location: string) {
  await using store = await openStore(location)
  return {
    events: await allEvents(store),
    bounds: await store.events.eventBounds(),
    sinks: await store.sinks.list(),
    dead: await store.sinks.listDead('ü"x', { since: 0, limit: 10 }),
  }
}

async function changeOnce(location: string): Promise<StoredEvent> {
  {
    await using service = await openServiceAt(location, UNDELIVERED)
    const answer = await service.data.insert(ADMIN, { entity: ENTITY }, { data: [{ _id: 'later' }] })
    assert.equal(answer.status, 'COMPLETE')
  }
  await using store: Database = await openStore(location)
  return (await follow(store, () => true)).at(-1)!
}
