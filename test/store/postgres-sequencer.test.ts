/** Numbers of events when things go wrong: processes that end at any step, databases that are away, locks of others. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import type { StoredEvent } from '../../src/store/events.ts'
import { openPostgresStore } from '../../src/store/postgres/store.ts'
import type { Database } from '../../src/store/database.ts'
import { rowsOf, startPostgres } from '../support/postgres.ts'
import { type Relay, openRelay } from '../support/relay.ts'
import { freshPlace } from '../support/store-kind.ts'
import { find, openStage, write } from './contract.ts'
import { allEvents, checkChains, counting, deletion, insertion } from './events.ts'

const BOUNDED = { timeout: 200_000 }

const open = {
  freshPlace: () => freshPlace('postgres'),
  openAt: async (location: string) => openPostgresStore({ url: location }),
}

/** So many events, as soon as they can be read. */
async function eventsOf(store: Database, count: number): Promise<readonly StoredEvent[]> {
  for (const deadline = Date.now() + 60_000; ; await pause(10)) {
    const events = await allEvents(store)
    if (events.length >= count) return events
    assert.ok(Date.now() < deadline, `only ${events.length} of ${count} events come to light`)
  }
}

async function check(store: Database, count: number): Promise<readonly StoredEvent[]> {
  const events = await eventsOf(store, count)
  assert.equal(events.length, count)
  assert.equal(new Set(events.map(({ id }) => id)).size, count)
  assert.ok(events.every(({ seq }, i) => i === 0 || seq > events[i - 1]!.seq))
  const { documents } = await find(store)
  checkChains(events, new Map(documents.map(({ id, text }) => [id, text])))
  return events
}

const STEPS = [
  'pg_try_advisory_lock',
  'from smalt_outbox where seq is null',
  'set reserved = reserved',
  'update smalt_outbox as stored',
  'select count(*) from smalt_outbox',
  'set published',
  'pg_advisory_unlock',
]

for (const step of STEPS) {
  for (const when of ['before', 'after'] as const) {
    test(
      `events: a connection that breaks ${when} "${step}" loses none, and numbers none twice`,
      BOUNDED,
      async () => {
        const relays: Relay[] = []
        await using stage = await openStage({
          ...open,
          openAt: async (url) => {
            relays.push(await openRelay(url))
            return openPostgresStore({ url: relays[0]!.url })
          },
        })
        const { store } = stage
        relays[0]!.cutAt(step, when)
        await write(store, insertion([{ _id: 'a', i: 0 }]))
        await write(store, counting('a'))
        const first = await check(store, 2)
        await write(store, counting('a'))
        await write(store, deletion('a'))
        const all = await check(store, 4)
        assert.deepEqual(all.slice(0, 2), first)
        await relays[0]![Symbol.asyncDispose]()
      },
    )
  }
}

test(
  'events: numbers that were taken and never published are published, or never given',
  BOUNDED,
  async () => {
    await using stage = await openStage(open)
    const { store, location } = stage
    await write(store, insertion([{ _id: 'a', i: 0 }]))
    await check(store, 1)
    // as a process leaves it that ends after it numbered one of two
    await rowsOf(
      location,
      (schema) => `with taken as (update ${schema}.smalt_event_state set reserved = reserved + 10)
      insert into ${schema}.smalt_outbox(doc, id, seq, entity, hook, operation, document, at, version, details, after)
      values ('b', 'x', 5, 't', 'h', 'insert', 'b', 0, 1, '{}', '{}'), ('c', 'y', null, 't', 'h', 'insert', 'c', 0, 1, '{}', '{}')`,
    )
    const events = await eventsOf(store, 3)
    assert.deepEqual(
      events.map(({ seq, document }) => [seq, document]),
      [
        [1, 'a'],
        [5, 'b'],
        [12, 'c'],
      ],
    )
    assert.deepEqual(await store.events.eventBounds(), { first: 1, last: 12 })
  },
)

/** More than a look at some events of the document would show. */
const CHANGES = 100

test('events: an insert that waited while the document changed follows the delete', BOUNDED, async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  await write(store, insertion([{ _id: 'a', i: 0 }]))
  for (let i = 0; i < CHANGES; i++) await write(store, counting('a'))
  await check(store, 1 + CHANGES)
  // the version of the insert is older than the one that was numbered meanwhile
  await rowsOf(
    location,
    (schema) => `with numbered as (select max(version) as version from ${schema}.smalt_outbox where doc = 'a')
      insert into ${schema}.smalt_outbox(doc, id, entity, hook, operation, document, at, seen, version, details, before, after)
      select 'a', 'x', 't', 'h', 'insert', 'a', 0, null, version - 1, '{}', null, '{}' from numbered
      union all select 'a', 'y', 't', 'h', 'delete', 'a', 1, version, null, '{}', '{}', null from numbered`,
  )
  const events = await eventsOf(store, 3 + CHANGES)
  assert.deepEqual(
    events.slice(-2).map(({ operation }) => operation),
    ['delete', 'insert'],
  )
})

test(
  'events: after numbers that were never published, an event that keeps documents for others stays in front of them',
  BOUNDED,
  async () => {
    await using stage = await openStage(open)
    const { store, location } = stage
    await rowsOf(
      location,
      (schema) => `with taken as (update ${schema}.smalt_event_state set reserved = reserved + 10)
      insert into ${schema}.smalt_outbox(doc, id, entity, hook, operation, document, at, version, details, after, holder)
      values ('a', 'x3', 't', 'h3', 'insert', 'a', 0, 1, '{}', null, 'x1'),
        ('a', 'x2', 't', 'h2', 'insert', 'a', 0, 1, '{}', null, 'x1'), ('a', 'x1', 't', 'h1', 'insert', 'a', 0, 1, '{}', '{}', null)`,
    )
    const events = await eventsOf(store, 3)
    assert.deepEqual(
      events.map(({ id }) => id),
      ['x1', 'x2', 'x3'],
    )
  },
)

test('events: what a process left without numbers, the next one numbers', BOUNDED, async () => {
  await using stage = await openStage(open)
  const { location } = stage
  const client = await lockHolder(location)
  {
    await using store = openPostgresStore({ url: location })
    await write(store, insertion([{ _id: 'a', i: 0 }]))
    await write(store, counting('a'))
  }
  const unnumbered = (): Promise<readonly object[]> =>
    rowsOf(location, (schema) => `select id from ${schema}.smalt_outbox where seq is null`)
  assert.equal((await unnumbered()).length, 2)
  await client.end()
  await using next = openPostgresStore({ url: location })
  next.events.onEvents(() => undefined)
  await check(next, 2)
})

test('events: a store that closes numbers what it wrote', BOUNDED, async () => {
  await using stage = await openStage(open)
  const { location } = stage
  {
    await using store = openPostgresStore({ url: location })
    for (let i = 0; i < 20; i++) await write(store, insertion([{ _id: `d${i}` }]))
  }
  const rows = await rowsOf(
    location,
    (schema) => `select seq from ${schema}.smalt_outbox where seq is not null`,
  )
  assert.equal(rows.length, 20)
})

test('events: while another process numbers, nobody waits for it to write', BOUNDED, async () => {
  await using stage = await openStage(open)
  const { store, location } = stage
  const client = await lockHolder(location)
  for (let i = 0; i < 20; i++) await write(store, insertion([{ _id: `d${i}` }]))
  assert.deepEqual(await allEvents(store), [])
  await client.end()
  await check(store, 20)
})

test('events: others are heard of', BOUNDED, async () => {
  await using stage = await openStage(open)
  await using other = openPostgresStore({ url: stage.location })
  const heard: number[] = []
  other.metadata.onMetadataChange(() => undefined)
  other.events.onEvents(() => heard.push(Date.now()))
  let written = 0
  // the other one is not notified of what is published before it listens
  for (; heard.length === 0; await pause(50)) await write(stage.store, insertion([{ _id: `d${written++}` }]))
  await check(other, written)
})

test('events: a database that was away is followed again', BOUNDED, async () => {
  await using server = await startPostgres({ durable: true })
  const url = `${server.url}?schema=away`
  await using stage = await openStage({
    freshPlace: async () => ({ location: url, async [Symbol.asyncDispose]() {} }),
    openAt: open.openAt,
  })
  const { store } = stage
  await write(store, insertion([{ _id: 'a', i: 0 }]))
  await check(store, 1)
  await server.kill('SIGQUIT')
  await assert.rejects(write(store, counting('a')))
  await assert.rejects(store.events.eventBounds())
  await server.restart()
  for (const deadline = Date.now() + 60_000; ; await pause(50)) {
    if (
      await write(store, counting('a')).then(
        () => true,
        () => Date.now() > deadline,
      )
    )
      break
  }
  await check(store, 2)
})

/** Somebody who numbers for as long as the connection lasts. */
async function lockHolder(location: string): Promise<pg.Client> {
  const url = new URL(location)
  const schema = url.searchParams.get('schema')!
  url.search = ''
  const client = new pg.Client({ connectionString: url.href })
  await client.connect()
  const name = `smalt: events of ${schema}`
  for (;;) {
    const { rows } = await client.query('select pg_try_advisory_lock(hashtextextended($1, 0)) as ours', [
      name,
    ])
    if ((rows[0] as { readonly ours: boolean }).ours) return client
  }
}
