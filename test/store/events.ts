/** What a store keeps of watched changes: with the documents and only with them, numbered, in the order of the changes. */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { ServiceError } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import type { Change, StoredDocument, CaptureChange, WritePlan } from '../../src/plan/plan.ts'
import type { Schema } from '../../src/schema/schema.ts'
import type { EventFilter, StoredEvent } from '../../src/store/events.ts'
import type { Database } from '../../src/store/database.ts'
import type { StoreSession } from '../../src/store/store.ts'
import { compiledSchema } from '../support/schema.ts'
import { type OpenStore, SCHEMA, find, index, openStage, write } from './contract.ts'

const BOUNDS = { timeLimitMs: 30_000 }
const { collection } = SCHEMA

/** One event of each change, by the hook `h`. */
export const captureChange: CaptureChange = ({ operation }) => [outboxEntry('h', operation)]

function outboxEntry(hook: string, operation: StoredEvent['operation'], at = Date.now()) {
  return { id: randomUUID(), entity: 't', hook, operation, at, details: `{"by":"${hook}"}` }
}

interface Watching {
  readonly atomic?: boolean
  readonly captureChange?: CaptureChange
}

function place({ atomic = false, captureChange: capture = captureChange }: Watching) {
  return { collection, idType: 'string', atomic, captureChange: capture } as const
}

function byId(id: Json, schema: Schema = SCHEMA) {
  return resolveQuery(
    parseQuery({ field: '_id', op: '=', rvalue: id }, '', DEFAULT_LIMITS),
    rootScope(schema),
  )
}

export function insertion(documents: readonly JsonObject[], watching: Watching = {}): WritePlan {
  return { kind: 'insert', ...place(watching), documents }
}

/** Sets `s` of one document. */
export function setting(id: string, s: string, watching: Watching = {}): WritePlan {
  const change = (stored: StoredDocument): Change => ({
    kind: 'write',
    document: { ...documentOf(stored), s },
  })
  return { kind: 'update', ...place(watching), query: byId(id), change }
}

/** Adds one to `i` of one document. */
export function counting(id: string, watching: Watching = {}): WritePlan {
  const change = (stored: StoredDocument): Change => {
    const document = documentOf(stored)
    return { kind: 'write', document: { ...document, i: Number(document['i']) + 1 } }
  }
  return { kind: 'update', ...place(watching), query: byId(id), change }
}

function documentOf({ text }: StoredDocument): JsonObject {
  return parseTrusted(text) as JsonObject
}

export function saving(documents: readonly JsonObject[], watching: Watching = {}): WritePlan {
  const items = documents.map((document) => ({
    query: byId(document['_id']!),
    change: (): Change => ({ kind: 'write', document }),
  }))
  return { kind: 'save', ...place(watching), items }
}

export function deletion(id: string, watching: Watching = {}): WritePlan {
  return { kind: 'delete', ...place(watching), query: byId(id) }
}

/** Everything from the beginning, in pages. */
export async function allEvents(
  store: Database,
  filter: EventFilter = {},
  limit = 100,
): Promise<readonly StoredEvent[]> {
  const events: StoredEvent[] = []
  for (let since = 0; ;) {
    const page = await store.events.readEvents({ since, limit, filter }, BOUNDS)
    events.push(...page.events)
    if (page.scannedTo === since) return events
    since = page.scannedTo
  }
}

/** Everything up to an event that comes after all that was done so far, without that one. */
async function settledEvents(store: Database, done: Database = store): Promise<readonly StoredEvent[]> {
  const _id = `last-${randomUUID()}`
  await write(
    done,
    insertion([{ _id }], { captureChange: () => [{ ...outboxEntry('last', 'insert'), entity: 'last' }] }),
  )
  for (const deadline = Date.now() + 60_000; ; await pause(5)) {
    const events = await allEvents(store)
    if (events.some(({ document }) => document === _id)) return events.filter(({ hook }) => hook !== 'last')
    assert.ok(Date.now() < deadline, 'an event does not come to light')
  }
}

function changesIn(events: readonly StoredEvent[]): readonly string[] {
  return events.map(({ operation, document }) => `${operation} ${document}`).toSorted()
}

export function eventContract(kind: string, open: OpenStore): void {
  keepingContract(kind, open)
  takingBackContract(kind, open)
  readingContract(kind, open)
  lifeContract(kind, open)
}

function keepingContract(kind: string, open: OpenStore): void {
  test(`${kind}: events: each change is kept with both states of the document, as they are stored`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await write(store, insertion([{ _id: 'a', s: 'ü "\\\u2028' }]))
    await write(store, setting('a', 'y'))
    await write(store, saving([{ _id: 'a', s: 'z' }]))
    await write(store, saving([{ _id: 'b', s: 'new' }]))
    await write(store, deletion('a'))
    const events = await settledEvents(store)
    const states = ['{"_id":"a","s":"ü \\"\\\\\u2028"}', '{"_id":"a","s":"y"}', '{"_id":"a","s":"z"}']
    assert.deepEqual(
      events
        .filter(({ document }) => document === 'a')
        .map((each) => [each.operation, each.before, each.after]),
      [
        ['insert', null, states[0]],
        ['update', states[0], states[1]],
        ['update', states[1], states[2]],
        ['delete', states[2], null],
      ],
    )
    assert.deepEqual(
      events
        .filter(({ document }) => document === 'b')
        .map(({ operation, before, after }) => [operation, before, after]),
      [['insert', null, '{"_id":"b","s":"new"}']],
    )
    for (const { entity, hook, details, at } of events) {
      assert.deepEqual([entity, hook, details], ['t', 'h', '{"by":"h"}'])
      assert.ok(Math.abs(Date.now() - at) < 60_000)
    }
  })

  test(`${kind}: events: many documents at a time each have theirs`, async () => {
    for (const indexes of [[], [index(['s'], true)]]) {
      await using stage = await openStage(open, indexes)
      const { store } = stage
      const ids = Array.from({ length: 30 }, (_, i) => `d${i}`)
      await write(store, insertion(ids.map((_id) => ({ _id, s: _id, i: 0 }))))
      await write(store, saving([...ids.slice(20), 'n1', 'n2'].map((_id) => ({ _id, s: `${_id}!`, i: 0 }))))
      const query = resolveQuery(
        parseQuery({ field: 'i', op: '=', rvalue: 0 }, '', DEFAULT_LIMITS),
        rootScope(SCHEMA),
      )
      const change = (stored: StoredDocument): Change => {
        const document = documentOf(stored)
        return { kind: 'write', document: { ...document, s: `${document['s'] as string}+`, i: 1 } }
      }
      await write(store, { kind: 'update', ...place({}), query, change })
      const one = parseQuery({ field: 'i', op: '=', rvalue: 1 }, '', DEFAULT_LIMITS)
      await write(store, { kind: 'delete', ...place({}), query: resolveQuery(one, rootScope(SCHEMA)) })
      const events = await settledEvents(store)
      const [old, saved, fresh] = [ids.slice(0, 20), ids.slice(20), ['n1', 'n2']]
      const expected = [
        ...[...old, ...saved, ...fresh].flatMap((id) => [`insert ${id}`, `update ${id}`, `delete ${id}`]),
        ...saved.map((id) => `update ${id}`),
      ]
      assert.deepEqual(changesIn(events), expected.toSorted())
      checkChains(events, new Map())
    }
  })

  test(`${kind}: events: of a change that several hooks watch there are several, of others none`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const twice: CaptureChange = ({ operation }) => [
      outboxEntry('one', operation),
      outboxEntry('two', operation),
    ]
    await write(store, insertion([{ _id: 'a' }, { _id: 'b' }], { captureChange: twice }))
    await write(store, insertion([{ _id: 'd' }], { captureChange: twice }))
    await write(store, saving([{ _id: 'e' }], { captureChange: twice }))
    await write(store, setting('a', 'x', { captureChange: () => [] }))
    const { captureChange: _, ...unwatched } = insertion([{ _id: 'c' }]) as WritePlan & { kind: 'insert' }
    await write(store, unwatched)
    await write(store, setting('b', 'x', { captureChange: twice }))
    await write(store, deletion('a', { captureChange: twice }))
    const events = await settledEvents(store)
    assert.equal(new Set(events.map(({ id }) => id)).size, 12)
    assert.deepEqual(
      events.map(({ hook, operation, document }) => `${document} ${operation} ${hook}`).toSorted(),
      ['a delete', 'a insert', 'b insert', 'b update', 'd insert', 'e insert'].flatMap((each) => [
        `${each} one`,
        `${each} two`,
      ]),
    )
  })

  test(`${kind}: events: the capture receives the change itself`, async () => {
    await using stage = await openStage(open)
    const seen: Json[] = []
    const listening: CaptureChange = (change) => {
      const before = 'before' in change ? change.before.text : null
      seen.push([change.operation, before, 'after' in change ? change.after : null])
      return captureChange(change)
    }
    await write(stage.store, insertion([{ _id: 'a', s: 'x' }], { captureChange: listening }))
    await write(stage.store, setting('a', 'y', { captureChange: listening }))
    await write(stage.store, deletion('a', { captureChange: listening }))
    assert.deepEqual(seen, [
      ['insert', null, { _id: 'a', s: 'x' }],
      ['update', '{"_id":"a","s":"x"}', { _id: 'a', s: 'y' }],
      ['delete', '{"_id":"a","s":"y"}', null],
    ])
  })

  test(`${kind}: events: a number as _id is reported as it is written`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const schema = compiledSchema('t', { _id: { type: 'integer' }, i: { type: 'integer' } })
    const shared = { collection, idType: 'integer', atomic: false, captureChange } as const
    await write(store, {
      kind: 'insert',
      ...shared,
      documents: [
        { _id: -12, i: 1 },
        { _id: 7, i: 1 },
      ],
    })
    const change = (): Change => ({ kind: 'write', document: { _id: -12, i: 2 } })
    await write(store, { kind: 'update', ...shared, query: byId(-12, schema), change })
    await write(store, { kind: 'delete', ...shared, query: byId(-12, schema) })
    assert.deepEqual(changesIn(await settledEvents(store)), [
      'delete -12',
      'insert -12',
      'insert 7',
      'update -12',
    ])
  })
}

/** Each event begins where the one before of its document ended, and the last one ends where the document is. */
export function checkChains(events: readonly StoredEvent[], stored: ReadonlyMap<string, string>): void {
  const states = new Map<string, string | null>()
  for (const { seq, document, operation, before, after } of events) {
    const what = `event ${seq}, ${operation} of ${document}`
    assert.equal(before, states.get(document) ?? null, what)
    assert.deepEqual(
      [before === null, after === null],
      [operation === 'insert', operation === 'delete'],
      what,
    )
    states.set(document, after)
  }
  const there = [...states].filter(([, after]) => after !== null) as [string, string][]
  assert.deepEqual(new Map(there.toSorted()), new Map([...stored].toSorted()))
}

function takingBackContract(kind: string, open: OpenStore): void {
  const failing: Change = { kind: 'refuse', faults: [new ServiceError('crud:NoAccess', 'no')] }
  const thrown = new Error('the report fails')

  test(`${kind}: events: of what was not stored there are none`, async () => {
    await using stage = await openStage(open, [index(['s'], true)])
    const { store } = stage
    await write(
      store,
      insertion([
        { _id: 'a', s: 'x' },
        { _id: 'b', s: 'y' },
      ]),
    )
    await write(
      store,
      insertion([
        { _id: 'c', s: 'z' },
        { _id: 'a', s: 'q' },
        { _id: 'd', s: 'y' },
      ]),
    )
    await write(store, insertion([{ _id: 'e' }, { _id: 'a' }], { atomic: true }))
    await write(store, setting('a', 'y'))
    await write(store, setting('a', 'y', { atomic: true }))
    await write(
      store,
      saving([
        { _id: 'f', s: 'f' },
        { _id: 'b', s: 'x' },
        { _id: 'g', s: 'x' },
      ]),
    )
    await write(
      store,
      saving(
        [
          { _id: 'h', s: 'h' },
          { _id: 'b', s: 'x' },
        ],
        { atomic: true },
      ),
    )
    for (const kept of [failing, { kind: 'keep' }, { kind: 'skip' }] as const) {
      await write(store, { kind: 'update', ...place({}), query: byId('a'), change: () => kept })
      await write(store, { kind: 'save', ...place({}), items: [{ query: byId('a'), change: () => kept }] })
      await write(store, { kind: 'save', ...place({}), items: [{ query: byId('k'), change: () => kept }] })
    }
    await write(store, deletion('nobody'))
    const events = await settledEvents(store)
    assert.deepEqual(changesIn(events), ['insert a', 'insert b', 'insert c', 'insert f'])
    await checkStored(store, events)
  })

  test(`${kind}: events: what a report takes back, or a teller that fails, leaves none`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await write(
      store,
      insertion([
        { _id: 'a', i: 0 },
        { _id: 'b', i: 0 },
      ]),
    )
    const plans = (watching: Watching = {}): readonly WritePlan[] => [
      insertion([{ _id: 'c' }], watching),
      insertion([{ _id: 'c' }, { _id: 'd' }], watching),
      counting('a', watching),
      saving([{ _id: 'a' }], watching),
      saving([{ _id: 'a' }, { _id: 'e' }], watching),
      deletion('a', watching),
    ]
    const failingReport = () => () => {
      throw thrown
    }
    for (const plan of plans()) await assert.rejects(store.write(plan, failingReport, BOUNDS), thrown)
    const failingTell: CaptureChange = () => {
      throw thrown
    }
    for (const plan of plans({ captureChange: failingTell })) await assert.rejects(write(store, plan), thrown)
    assert.deepEqual(changesIn(await settledEvents(store)), ['insert a', 'insert b'])
  })

  test(`${kind}: events: a transaction keeps them all, or none`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const work = async (session: StoreSession): Promise<void> => {
      await write(
        session,
        insertion([
          { _id: 'a', i: 0 },
          { _id: 'b', i: 0 },
        ]),
      )
      await write(session, counting('a'))
      await write(session, insertion([{ _id: 'c' }, { _id: 'a' }], { atomic: true }))
      await write(session, deletion('b'))
    }
    await assert.rejects(
      store.transact(async (session) => {
        await work(session)
        throw thrown
      }),
      thrown,
    )
    assert.deepEqual(await settledEvents(store), [])
    await store.transact(work)
    const events = await settledEvents(store)
    assert.deepEqual(changesIn(events), ['delete b', 'insert a', 'insert b', 'update a'])
    await checkStored(store, events)
  })
}

/** The documents that are there, and the events, show the same. */
async function checkStored(store: Database, events: readonly StoredEvent[]): Promise<void> {
  const { documents } = await find(store)
  const stored = documents
    .filter(({ id }) => !id.startsWith('last-'))
    .map(({ id, text }) => [id, text] as const)
  checkChains(events, new Map(stored))
}

function readingContract(kind: string, open: OpenStore): void {
  test(`${kind}: events: those of one document come in the order of its changes, whatever clocks say`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const ids = ['a', 'b', 'c']
    let at = Date.now()
    const watching: Watching = { captureChange: ({ operation }) => [outboxEntry('h', operation, at--)] }
    await Promise.all(
      ids.map(async (id) => {
        for (let round = 0; round < 4; round++) {
          await write(store, insertion([{ _id: id, i: 0 }], watching))
          await Promise.all(Array.from({ length: 12 }, () => write(store, counting(id, watching))))
          if (round < 3) await write(store, deletion(id, watching))
        }
      }),
    )
    const events = await settledEvents(store)
    assert.equal(events.length, 3 * (4 * 13 + 3))
    await checkStored(store, events)
  })

  test(`${kind}: events: numbers rise, and a page ends where the next one begins`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    for (let i = 0; i < 25; i++) await write(store, insertion([{ _id: `d${i}` }]))
    const events = await settledEvents(store)
    assert.ok(events.every(({ seq }, i) => i === 0 || seq > events[i - 1]!.seq))
    const again = await allEvents(store, {}, 4)
    assert.deepEqual(again.slice(0, 25), events, 'ids and numbers are the same whenever they are read')
    const page = await store.events.readEvents({ since: events[2]!.seq, limit: 3, filter: {} }, BOUNDS)
    assert.deepEqual(page, { events: events.slice(3, 6), scannedTo: events[5]!.seq })
    const { last } = await store.events.eventBounds()
    assert.deepEqual(await store.events.readEvents({ since: last, limit: 3, filter: {} }, BOUNDS), {
      events: [],
      scannedTo: last,
    })
    const beyond = await store.events.readEvents({ since: last + 5, limit: 3, filter: {} }, BOUNDS)
    assert.deepEqual(beyond, { events: [], scannedTo: last + 5 })
  })

  test(`${kind}: events: a filter chooses by entity, hook and operation, and reports how far it scanned`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const by =
      (entity: string, hook: string): CaptureChange =>
      ({ operation }) => [{ ...outboxEntry(hook, operation), entity }]
    await write(store, insertion([{ _id: 'a', i: 0 }], { captureChange: by('t', 'h') }))
    await write(store, counting('a', { captureChange: by('t', 'g') }))
    await write(store, insertion([{ _id: 'b', i: 0 }], { captureChange: by('u', 'h') }))
    await write(store, deletion('b', { captureChange: by('u', 'h') }))
    const common = Array.from({ length: 60 }, (_, i) => ({ _id: `d${i}` }))
    await write(store, insertion(common, { captureChange: by('t', 'common') }))
    const all = await settledEvents(store)
    const filters: readonly (readonly [EventFilter, number])[] = [
      [{ entity: 't' }, 62],
      [{ entity: 'u' }, 2],
      [{ hook: 'h' }, 3],
      [{ hook: 'common' }, 60],
      [{ operation: 'update' }, 1],
      [{ entity: 'u', operation: 'delete' }, 1],
      [{ entity: 't', hook: 'h' }, 1],
      [{ entity: 'nobody' }, 0],
    ]
    for (const [filter, count] of filters) {
      const found = await allEvents(store, filter, 3)
      assert.equal(found.length, count, JSON.stringify(filter))
      assert.deepEqual(found, await allEvents(store, filter, 1000), JSON.stringify(filter))
    }
    const none = await store.events.readEvents({ since: 0, limit: 2, filter: { entity: 'nobody' } }, BOUNDS)
    assert.deepEqual(none, { events: [], scannedTo: all[19]!.seq })
  })

  test(`${kind}: events: an answer of large documents ends early and goes on`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const s = 'x'.repeat(5_000_000)
    for (const _id of ['a', 'b', 'c', 'd', 'e']) await write(store, insertion([{ _id, s }]))
    await settledEvents(store)
    const page = await store.events.readEvents({ since: 0, limit: 100, filter: {} }, BOUNDS)
    assert.ok(page.events.length >= 3 && page.events.length < 5, String(page.events.length))
    assert.equal(page.scannedTo, page.events.at(-1)!.seq)
    assert.equal((await allEvents(store)).length, 6)
  })

  test(`${kind}: events: whoever listens is called soon after there are more`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const called = Promise.withResolvers<void>()
    let isReadable = Promise.withResolvers<void>()
    store.events.onEvents(() => {
      called.resolve()
      isReadable.resolve()
    })
    await write(store, insertion([{ _id: 'a' }]))
    await called.promise
    for (const deadline = Date.now() + 60_000; (await allEvents(store)).length === 0;) {
      await isReadable.promise
      isReadable = Promise.withResolvers()
      assert.ok(Date.now() < deadline)
    }
  })
}

function lifeContract(kind: string, open: OpenStore): void {
  test(`${kind}: events: a store opened again goes on counting, also when all events are gone`, async () => {
    const place = await open.freshPlace()
    await using _ = place
    {
      await using stage = await openStage({ ...open, freshPlace: async () => borrowed(place) })
      assert.deepEqual(await stage.store.events.eventBounds(), { first: 1, last: 0 })
      await write(stage.store, insertion([{ _id: 'a' }, { _id: 'b' }]))
      await settledEvents(stage.store)
    }
    let before: readonly StoredEvent[] = []
    {
      await using store = await open.openAt(place.location)
      before = await allEvents(store)
      assert.equal(before.length, 3)
      const bounds = await store.events.eventBounds()
      assert.deepEqual(bounds, { first: before[0]!.seq, last: before[2]!.seq })
      const all = { keptSince: Infinity, keepCount: 0, notAfter: bounds.last }
      assert.equal(await store.events.trimEvents(all), 3)
      assert.deepEqual(await store.events.eventBounds(), { first: bounds.last + 1, last: bounds.last })
      const { scannedTo } = await store.events.readEvents({ since: 0, limit: 10, filter: {} }, BOUNDS)
      assert.equal(scannedTo, bounds.last)
    }
    await using store = await open.openAt(place.location)
    await write(store, insertion([{ _id: 'c' }]))
    const [event] = await settledEvents(store)
    assert.ok(event!.seq > before[2]!.seq)
  })

  test(`${kind}: events: trimming takes the oldest, by age or by number, and never what is still needed`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const aged =
      (at: number): CaptureChange =>
      ({ operation }) => [outboxEntry('h', operation, at)]
    for (let i = 0; i < 20; i++)
      await write(store, insertion([{ _id: `d${i}` }], { captureChange: aged(1000 + i) }))
    const events = await settledEvents(store)
    const [first, last] = [events[0]!.seq, (await store.events.eventBounds()).last]
    const keepAll = { keptSince: 0, keepCount: 1000, notAfter: last }
    assert.equal(await store.events.trimEvents(keepAll), 0)
    assert.equal(await store.events.trimEvents({ ...keepAll, keptSince: 1005, notAfter: events[2]!.seq }), 3)
    assert.equal(await store.events.trimEvents({ ...keepAll, keptSince: 1005 }), 2)
    assert.equal((await store.events.eventBounds()).first, first + 5)
    assert.equal(await store.events.trimEvents({ ...keepAll, keepCount: 10, notAfter: events[7]!.seq }), 3)
    assert.equal(await store.events.trimEvents({ ...keepAll, keepCount: 10 }), 3)
    assert.equal((await allEvents(store)).length, 10)
    assert.equal(await store.events.trimEvents({ keptSince: Infinity, keepCount: 0, notAfter: 0 }), 0)
    assert.deepEqual((await allEvents(store))[0], events[11])
  })

  test(`${kind}: events: trimming many goes on while others write`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const documents = Array.from({ length: 2500 }, (_, i) => ({ _id: `d${i}` }))
    await write(store, insertion(documents))
    await settledEvents(store)
    const { last } = await store.events.eventBounds()
    const trimming = store.events.trimEvents({ keptSince: Infinity, keepCount: 1000, notAfter: last - 1 })
    await write(store, insertion([{ _id: 'meanwhile' }]))
    assert.equal(await trimming, 2500)
    assert.deepEqual(changesIn(await settledEvents(store)), ['insert meanwhile'])
  })
}

/** A place that outlives the stage. */
function borrowed({ location }: { readonly location: string }) {
  return { location, async [Symbol.asyncDispose]() {} }
}
