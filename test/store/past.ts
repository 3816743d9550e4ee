/** What a store keeps of the past: every version with the change that made it, and answers as of any moment. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import type { Change, ReadPlan, StoredDocument, WritePlan } from '../../src/plan/plan.ts'
import type { IndexDefinition } from '../../src/schema/schema.ts'
import type { HistoryVersion } from '../../src/store/history.ts'
import type { Database } from '../../src/store/database.ts'
import type { StoreSession } from '../../src/store/store.ts'
import { textOf } from '../support/service.ts'
import type { Place } from '../support/store-kind.ts'
import { SCHEMA, index, write } from './contract.ts'

/** A kind of store whose clock the test may set, in microseconds. */
export interface OpenWithClock {
  readonly freshPlace: () => Promise<Place>
  readonly openAt: (location: string, now?: () => number) => Promise<Database>
}

const BOUNDS = { timeLimitMs: 30_000 }
const { collection } = SCHEMA

interface Stage extends AsyncDisposable {
  readonly store: Database
  readonly clock: { now: number }
  readonly prepare: (history: boolean) => Promise<void>
  /** The store as whoever opens it next finds it. */
  readonly reopen: () => Promise<Database>
}

async function openStage(open: OpenWithClock, indexes: readonly IndexDefinition[] = []): Promise<Stage> {
  const place = await open.freshPlace()
  const clock = { now: 100 }
  const openStore = async (): Promise<Database> => {
    const opened = await open.openAt(place.location, () => clock.now)
    await opened.metadata.readMetadata()
    return opened
  }
  let store = await openStore()
  const prepare = (history: boolean): Promise<void> =>
    store.metadata.prepareCollection({ collection, indexes, paths: ['s'], history })
  await prepare(true)
  return {
    store,
    clock,
    prepare,
    async reopen() {
      await store[Symbol.asyncDispose]()
      return (store = await openStore())
    },
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

const place = (principal: string, atomic = false) =>
  ({ collection, idType: 'string', atomic, principal }) as const

export function insertion(documents: readonly JsonObject[], by = 'ann', atomic = false): WritePlan {
  return { kind: 'insert', ...place(by, atomic), documents }
}

/** Sets `s` of what matches. */
export function setting(query: Json, s: string, by = 'ben', atomic = false): WritePlan {
  const change = (stored: StoredDocument): Change => ({
    kind: 'write',
    document: { ...documentOf(stored), s },
  })
  return { kind: 'update', ...place(by, atomic), query: resolved(query), change }
}

export function saving(document: JsonObject, by = 'cat'): WritePlan {
  const change = (): Change => ({ kind: 'write', document })
  return { kind: 'save', ...place(by), items: [{ query: resolved(byId(document['_id'] as string)), change }] }
}

export function deletion(query: Json, by = 'dan'): WritePlan {
  return { kind: 'delete', ...place(by), query: resolved(query) }
}

export function byId(id: string): Json {
  return { field: '_id', op: '=', rvalue: id }
}

const ALL: Json = { field: '_id', op: '!=', rvalue: null }

function resolved(query: Json) {
  return resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), rootScope(SCHEMA))
}

function documentOf({ text }: StoredDocument): JsonObject {
  return parseTrusted(text) as JsonObject
}

/** At this time by the clock. */
async function writeAt(stage: Stage, now: number, plan: WritePlan) {
  stage.clock.now = now
  return await write(stage.store, plan)
}

/** `_id`, `s` and version of what a find gives. */
async function seenAt(
  store: StoreSession,
  asOf: number | undefined,
  more: Partial<ReadPlan> = {},
): Promise<readonly string[]> {
  const seen: string[] = []
  const plan: ReadPlan = {
    collection,
    sort: [],
    from: 0,
    counted: true,
    idType: 'string',
    ...(asOf !== undefined && { asOf }),
    ...more,
  }
  const take = (stored: StoredDocument): void => {
    seen.push(`${stored.id}=${textOf(documentOf(stored)['s'])}@${about(stored.version)}`)
  }
  const { matchCount } = await store.find(plan, take, BOUNDS)
  assert.equal(matchCount, more.to === undefined ? seen.length : matchCount)
  return seen
}

/** Versions as `version operation principal s`. */
async function versionsOf(store: Database, id: string): Promise<readonly string[]> {
  const versions: HistoryVersion[] = []
  for await (const version of store.readHistory({ collection, id, idType: 'string' }, BOUNDS))
    versions.push(version)
  return versions.map(({ version, change, document }) => {
    const made = change ? `${change.operation} ${change.principal}` : 'unknown'
    return `${about(version)} ${made} ${textOf(documentOf(document)['s'])}`
  })
}

/** A store may have to begin again, which takes a later version. */
function about(version: number): number {
  return version % 1_000 < 5 ? version - (version % 1_000) : version
}

async function refused(work: () => Promise<unknown>, message: RegExp): Promise<void> {
  const isIt = (error: unknown): boolean =>
    error instanceof ServiceError && error.code === 'crud:NoHistory' && message.test(error.message)
  await assert.rejects(work, isIt)
}

export function pastContract(kind: string, open: OpenWithClock): void {
  versionContract(kind, open)
  momentContract(kind, open)
  togetherContract(kind, open)
  switchContract(kind, open)
}

function versionContract(kind: string, open: OpenWithClock): void {
  for (const [name, indexes] of [
    ['without indexes', []],
    ['with a unique index', [index(['i'], true)]],
  ] as const) {
    test(`${kind}: past: insert, update, save and delete leave a version each, ${name}`, async () => {
      await using stage = await openStage(open, indexes)
      const { store } = stage
      await writeAt(stage, 1_000, insertion([{ _id: 'a', s: 'one', i: 1 }]))
      await writeAt(stage, 2_000, setting(byId('a'), 'two'))
      await writeAt(stage, 3_000, saving({ _id: 'a', s: 'three', i: 2 }))
      await writeAt(stage, 4_000, deletion(byId('a')))
      await writeAt(stage, 5_000, saving({ _id: 'a', s: 'five', i: 1 }))
      await writeAt(stage, 6_000, setting(ALL, 'six', 'eve'))
      assert.deepEqual(await versionsOf(store, 'a'), [
        '1000 insert ann one',
        '2000 update ben two',
        '3000 update cat three',
        '4000 delete dan three',
        '5000 insert cat five',
        '6000 update eve six',
      ])
      assert.deepEqual(await versionsOf(store, 'b'), [])
    })
  }

  test(`${kind}: past: several documents of one write, each with its own past`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const [a, b, c] = [
      { _id: 'a', s: 'a' },
      { _id: 'b', s: 'b' },
      { _id: 'c', s: 'c' },
    ] as const
    await writeAt(stage, 1_000, insertion([a, b]))
    await writeAt(stage, 2_000, setting(ALL, 'x'))
    await writeAt(stage, 3_000, deletion(ALL))
    await writeAt(stage, 4_000, insertion([c, a]))
    assert.deepEqual(await versionsOf(store, 'a'), [
      '1000 insert ann a',
      '2000 update ben x',
      '3000 delete dan x',
      '4000 insert ann a',
    ])
    assert.deepEqual(await versionsOf(store, 'c'), ['4000 insert ann c'])
    assert.deepEqual(await seenAt(store, 2_999), ['a=x@2000', 'b=x@2000'])
    assert.deepEqual(await seenAt(store, 3_999), [])
  })

  test(`${kind}: past: a document that stays as it is, and one that is refused, leave nothing`, async () => {
    await using stage = await openStage(open, [index(['s'], true)])
    const { store } = stage
    await writeAt(
      stage,
      1_000,
      insertion([
        { _id: 'a', s: 'one' },
        { _id: 'b', s: 'two' },
      ]),
    )
    const change = (): Change => ({ kind: 'keep' })
    const keep: WritePlan = { kind: 'update', ...place('eve'), query: resolved(ALL), change }
    await writeAt(stage, 2_000, keep)
    await writeAt(
      stage,
      3_000,
      insertion([
        { _id: 'a', s: 'three' },
        { _id: 'c', s: 'one' },
      ]),
    )
    await writeAt(stage, 4_000, setting(byId('a'), 'two'))
    assert.deepEqual(await versionsOf(store, 'a'), ['1000 insert ann one'])
    assert.deepEqual(await versionsOf(store, 'c'), [])
  })

  test(`${kind}: past: versions rise when the clock is set back, also across a delete`, async () => {
    await using stage = await openStage(open)
    const { clock } = stage
    await writeAt(stage, 9_000, insertion([{ _id: 'a', s: 'one' }]))
    await writeAt(stage, 9_500, deletion(byId('a')))
    clock.now = 1_000
    const later = await stage.reopen()
    await write(later, insertion([{ _id: 'a', s: 'two' }]))
    await write(later, setting(byId('a'), 'three'))
    assert.deepEqual(await versionsOf(later, 'a'), [
      '9000 insert ann one',
      '9500 delete dan one',
      '9501 insert ann two',
      '9502 update ben three',
    ])
    assert.deepEqual(await seenAt(later, 9_500), [])
    assert.deepEqual(await seenAt(later, 9_501), ['a=two@9501'])
  })

  test(`${kind}: past: an _id that is a number is found as such`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const numbered = { ...place('ann'), idType: 'integer' } as const
    await writeAt(stage, 1_000, {
      kind: 'insert',
      ...numbered,
      documents: [
        { _id: 5, s: 'five' },
        { _id: 12, s: 'x' },
      ],
    })
    const versions = []
    for await (const each of store.readHistory({ collection, id: 5, idType: 'integer' }, BOUNDS))
      versions.push(each)
    assert.deepEqual(
      versions.map(({ version, document }) => [version, document.id]),
      [[1_000, '5']],
    )
    assert.deepEqual(await seenAt(store, 2_000, { idType: 'integer' }), ['5=five@1000', '12=x@1000'])
  })
}

function momentContract(kind: string, open: OpenWithClock): void {
  test(`${kind}: asOf: queries, orders, pages and counts are those of the moment`, async () => {
    await using stage = await openStage(open, [index(['s']), index(['i'])])
    const { store } = stage
    const documents = ['a', 'b', 'c', 'd'].map((_id, i) => ({ _id, s: `s${i}`, i }))
    await writeAt(stage, 1_000, insertion(documents))
    await writeAt(stage, 2_000, setting({ field: 'i', op: '>', rvalue: 1 }, 'new'))
    await writeAt(stage, 3_000, deletion(byId('a')))
    await writeAt(stage, 4_000, insertion([{ _id: 'e', s: 'new', i: 9 }]))
    const isNew = resolved({ field: 's', op: '=', rvalue: 'new' })
    assert.deepEqual(await seenAt(store, 1_000), ['a=s0@1000', 'b=s1@1000', 'c=s2@1000', 'd=s3@1000'])
    assert.deepEqual(await seenAt(store, 1_999, { query: isNew }), [])
    assert.deepEqual(await seenAt(store, 2_010, { query: isNew }), ['c=new@2000', 'd=new@2000'])
    assert.deepEqual(await seenAt(store, 3_500, { from: 1, to: 1 }), ['c=new@2000'])
    assert.deepEqual(await seenAt(store, 2_500, { query: resolved(byId('a')) }), ['a=s0@1000'])
    assert.deepEqual(await seenAt(store, 3_500, { query: resolved(byId('a')) }), [])
    assert.deepEqual(await seenAt(store, 5_000, { query: isNew }), ['c=new@2000', 'd=new@2000', 'e=new@4000'])
    const streamed: string[] = []
    const plan = { collection, query: isNew, sort: [], from: 0, counted: false, idType: 'string' } as const
    for await (const { id } of store.stream({ ...plan, asOf: 2_500 }, BOUNDS)) streamed.push(id)
    assert.deepEqual(streamed, ['c', 'd'])
    const { matchCount } = await store.explain({ ...plan, asOf: 2_500 }, BOUNDS)
    assert.equal(matchCount, 2)
  })

  test(`${kind}: asOf: versions of one microsecond after the other, of a clock that stands still`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await writeAt(stage, 1_100, insertion([{ _id: 'a', s: '0' }]))
    for (let n = 1; n <= 5; n++) await writeAt(stage, 1_100, setting(byId('a'), `${n}`))
    for (let n = 0; n <= 5; n++) assert.deepEqual(await seenAt(store, 1_100 + n), [`a=${n}@${1_100 + n}`])
  })
}

function togetherContract(kind: string, open: OpenWithClock): void {
  test(`${kind}: past: what an atomic plan takes back leaves no past`, async () => {
    await using stage = await openStage(open, [index(['s'], true)])
    const { store } = stage
    await writeAt(
      stage,
      1_000,
      insertion([
        { _id: 'a', s: 'one' },
        { _id: 'b', s: 'two' },
      ]),
    )
    const atomic = await writeAt(stage, 2_000, setting(ALL, 'three', 'ben', true))
    assert.equal(atomic.isCommitted, false)
    const inserted = await writeAt(
      stage,
      3_000,
      insertion(
        [
          { _id: 'c', s: 'x' },
          { _id: 'd', s: 'one' },
        ],
        'ann',
        true,
      ),
    )
    assert.equal(inserted.isCommitted, false)
    assert.deepEqual(await versionsOf(store, 'a'), ['1000 insert ann one'])
    assert.deepEqual(await versionsOf(store, 'c'), [])
  })

  test(`${kind}: past: a transaction that is taken back leaves none, one that stays is one moment`, async () => {
    await using stage = await openStage(open)
    const { store, clock } = stage
    await writeAt(
      stage,
      1_000,
      insertion([
        { _id: 'a', s: 'one' },
        { _id: 'b', s: 'one' },
      ]),
    )
    clock.now = 2_000
    const failing = store.transact(async (session) => {
      await write(session, setting(byId('a'), 'lost'))
      await write(session, deletion(byId('b')))
      throw new Error('no')
    })
    await assert.rejects(failing, /no/)
    assert.deepEqual(await seenAt(store, 2_500), ['a=one@1000', 'b=one@1000'])
    clock.now = 3_000
    await store.transact(async (session) => {
      await write(session, setting(byId('a'), 'two'))
      clock.now = 3_500
      await write(session, setting(byId('b'), 'two'))
      await write(session, insertion([{ _id: 'c', s: 'two' }]))
    })
    assert.deepEqual(await seenAt(store, 2_999), ['a=one@1000', 'b=one@1000'])
    assert.deepEqual(await seenAt(store, 3_000), ['a=two@3000', 'b=two@3000', 'c=two@3000'])
    const inside = await store.transact((session) => seenAt(session, 1_500))
    assert.deepEqual(inside, ['a=one@1000', 'b=one@1000'])
  })
}

function switchContract(kind: string, open: OpenWithClock): void {
  test(`${kind}: asOf: a collection that keeps no past refuses it, and so does the time before`, async () => {
    await using stage = await openStage(open)
    const { store, clock, prepare } = stage
    await refused(() => seenAt(store, 99), /known only from/)
    await prepare(false)
    await writeAt(stage, 1_000, insertion([{ _id: 'a', s: 'one' }]))
    await refused(() => seenAt(store, 1_000), /no past versions of t are kept/)
    clock.now = 2_000
    await prepare(true)
    await prepare(true)
    await refused(() => seenAt(store, 1_999), /known only from/)
    assert.deepEqual(await seenAt(store, 2_000), ['a=one@1000'])
    await writeAt(stage, 3_000, setting(byId('a'), 'two'))
    assert.deepEqual(await seenAt(store, 2_999), ['a=one@1000'])
    assert.deepEqual(await versionsOf(store, 'a'), ['1000 unknown one', '3000 update ben two'])
  })

  test(`${kind}: past: switched off it stops and stays; switched on again it begins anew`, async () => {
    await using stage = await openStage(open)
    const { store, clock, prepare } = stage
    await writeAt(stage, 1_000, insertion([{ _id: 'a', s: 'one' }]))
    await writeAt(stage, 2_000, setting(byId('a'), 'two'))
    clock.now = 3_000
    await prepare(false)
    await writeAt(stage, 4_000, setting(byId('a'), 'lost'))
    await writeAt(stage, 5_000, setting(byId('a'), 'five'))
    assert.deepEqual(await versionsOf(store, 'a'), ['1000 insert ann one', '5000 unknown five'])
    await refused(() => seenAt(store, 1_500), /no past versions/)
    clock.now = 6_000
    await prepare(true)
    await writeAt(stage, 7_000, deletion(byId('a')))
    await writeAt(stage, 8_000, insertion([{ _id: 'a', s: 'eight' }]))
    assert.deepEqual(await versionsOf(store, 'a'), [
      '1000 insert ann one',
      '5000 unknown five',
      '7000 delete dan five',
      '8000 insert ann eight',
    ])
    await refused(() => seenAt(store, 1_500), /known only from/)
    assert.deepEqual(await seenAt(store, 6_500), ['a=five@5000'])
    assert.deepEqual(await seenAt(store, 7_500), [])
  })

  test(`${kind}: past: of a collection that is dropped before it is read there is none`, async () => {
    await using stage = await openStage(open)
    const versions = stage.store.readHistory({ collection, id: 'a', idType: 'string' }, BOUNDS)
    await stage.store.metadata.dropCollection(collection)
    await assert.rejects(Array.fromAsync(versions), { code: 'crud:NoHistory' })
  })

  test(`${kind}: past: the beginning is after all that was written before, whatever the clock says`, async () => {
    await using stage = await openStage(open)
    const { clock, prepare } = stage
    await prepare(false)
    await writeAt(stage, 9_000, insertion([{ _id: 'a', s: 'one' }]))
    clock.now = 1_000
    const later = await stage.reopen()
    await later.metadata.prepareCollection({ collection, indexes: [], paths: ['s'], history: true })
    await refused(() => seenAt(later, 9_000), /known only from/)
    assert.deepEqual(await seenAt(later, 9_001), ['a=one@9000'])
  })
}
