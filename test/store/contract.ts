/** The definition of correct for a store: the same suite runs on every kind. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery, resolveSort } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import { parseSort } from '../../src/lang/sort.ts'
import type { IndexDefinition, IndexField } from '../../src/schema/schema.ts'
import type { TypeName } from '../../src/schema/types.ts'
import type { Outcome, StoredDocument, WritePlan } from '../../src/plan/plan.ts'
import type { EntityChange, MetadataChange } from '../../src/store/metadata-records.ts'
import type { Database } from '../../src/store/database.ts'
import type { Report, StoreSession } from '../../src/store/store.ts'
import { compiledSchema } from '../support/schema.ts'
import { json } from '../support/service.ts'
import type { Place } from '../support/store-kind.ts'

/** One kind of store: an empty place for it, and the store at a place, which is opened again and again. */
export interface OpenStore {
  readonly freshPlace: () => Promise<Place>
  readonly openAt: (location: string) => Promise<Database>
}

export const SCHEMA = compiledSchema('t', {
  s: { type: 'string' },
  s2: { type: 'string' },
  i: { type: 'integer' },
  bd: { type: 'bigdecimal' },
  bi: { type: 'biginteger' },
  b: { type: 'boolean' },
})
const { collection } = SCHEMA
/** The fields have columns. */
const PATHS = ['s', '$text.s', '$text.s2', '$number.i', '$big.bd', '$big.bi', '$boolean.b']

/** A store at a place of its own. */
export interface Stage extends AsyncDisposable {
  readonly store: Database
  readonly location: string
}

export async function openStage(open: OpenStore, indexes: readonly IndexDefinition[] = []): Promise<Stage> {
  const place = await open.freshPlace()
  const { location } = place
  const store = await open.openAt(location)
  await store.metadata.changeMetadata(await change(store, { prepare: { collection, indexes, paths: PATHS } }))
  return {
    store,
    location,
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

export async function change(
  store: Database,
  ...parts: readonly Partial<EntityChange>[]
): Promise<MetadataChange> {
  const { epoch } = await store.metadata.readMetadata()
  const history = { at: 'now', principal: 'me', action: 'change', before: null, after: '{}' }
  const whole = { entity: 't', info: '{"name":"t"}', schemas: [], history }
  const entities = (parts.length === 0 ? [{}] : parts).map((part) => ({ ...whole, ...part }))
  return { expectedEpoch: epoch, entities }
}

export function index(fields: readonly (string | Partial<IndexField>)[], unique = false): IndexDefinition {
  const types: Readonly<Record<string, TypeName>> = {
    bd: 'bigdecimal',
    bi: 'biginteger',
    i: 'integer',
    b: 'boolean',
  }
  return {
    unique,
    fields: fields.map((field) => {
      const { path, ...rest } = typeof field === 'string' ? { path: field } : { path: 's', ...field }
      return { path, type: types[path] ?? 'string', descending: false, caseInsensitive: false, ...rest }
    }),
  }
}

export interface Written {
  readonly isCommitted: boolean
  readonly outcomes: readonly Outcome[]
}

export async function write(store: StoreSession, plan: WritePlan): Promise<Written> {
  let outcomes: Outcome[] = []
  const begin = (): Report => {
    const reported: Outcome[] = []
    outcomes = reported
    return (outcome) => reported.push(outcome)
  }
  const isCommitted = await store.write(plan, begin, BOUNDS)
  return { isCommitted, outcomes }
}

export async function insert(store: StoreSession, text: string, atomic = false): Promise<readonly Outcome[]> {
  const documents = json(text) as readonly JsonObject[]
  const written = await write(store, { kind: 'insert', collection, idType: 'string', documents, atomic })
  const hasFailure = written.outcomes.some(({ kind }) => kind === 'duplicate')
  assert.equal(written.isCommitted, !(atomic && hasFailure))
  return written.outcomes
}

async function kinds(outcomes: Promise<readonly Outcome[]>): Promise<readonly string[]> {
  return (await outcomes).map(({ kind }) => kind)
}

const BOUNDS = { timeLimitMs: 30_000 }

interface Asked {
  readonly query?: Json
  readonly sort?: Json
  readonly from?: number
  readonly to?: number
  readonly counted?: boolean
}

export async function find(
  store: StoreSession,
  { query, sort = [], from = 0, to, counted = true }: Asked = {},
): Promise<{ readonly documents: readonly StoredDocument[]; readonly matchCount: number }> {
  const scope = rootScope(SCHEMA)
  const documents: StoredDocument[] = []
  const { matchCount } = await store.find(
    {
      collection,
      ...(query !== undefined && { query: resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), scope) }),
      sort: resolveSort(parseSort(sort, ''), scope),
      from,
      ...(to !== undefined && { to }),
      counted,
      idType: 'string',
    },
    (document) => documents.push(document),
    BOUNDS,
  )
  return { documents, matchCount }
}

async function ids(store: StoreSession, asked: Asked = {}): Promise<readonly string[]> {
  return (await find(store, asked)).documents.map(({ id }) => id)
}

async function refused(work: Promise<unknown>, code: string): Promise<void> {
  await assert.rejects(work, (error) => error instanceof ServiceError && error.code === code)
}

export function storeContract(kind: string, open: OpenStore): void {
  insertContract(kind, open)
  changeContract(kind, open)
  findContract(kind, open)
  uniqueContract(kind, open)
  metadataContract(kind, open)
  lifeContract(kind, open)
}

function insertContract(kind: string, open: OpenStore): void {
  test(`${kind}: insert: documents come back exactly as they were written`, async () => {
    await using stage = await openStage(open)
    const text = '{"_id":"a","bd":1.10,"bi":123456789012345678901234567890,"s":"\\u2028\\"\\\\😀"}'
    const [outcome] = await insert(stage.store, `[${text}]`)
    assert.ok(outcome?.kind === 'inserted')
    assert.equal(outcome.document.text, JSON.stringify(json(text)))
    const { documents } = await find(stage.store)
    assert.deepEqual(documents, [outcome.document])
  })

  test(`${kind}: insert: a repeated _id is a duplicate, the others are stored`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, '[{"_id":"a"}]')
    const outcomes = kinds(insert(stage.store, '[{"_id":"b"},{"_id":"a"},{"_id":"b"},{"_id":"c"}]'))
    assert.deepEqual(await outcomes, ['inserted', 'duplicate', 'duplicate', 'inserted'])
    assert.deepEqual(await ids(stage.store), ['a', 'b', 'c'])
  })

  test(`${kind}: insert: an atomic plan stores all or nothing`, async () => {
    await using stage = await openStage(open)
    const failing = kinds(insert(stage.store, '[{"_id":"a"},{"_id":"a"}]', true))
    assert.deepEqual(await failing, ['inserted', 'duplicate'])
    assert.deepEqual(await ids(stage.store), [])
    assert.deepEqual(await kinds(insert(stage.store, '[{"_id":"a"},{"_id":"b"}]', true)), [
      'inserted',
      'inserted',
    ])
    assert.deepEqual(await ids(stage.store), ['a', 'b'])
  })

  test(`${kind}: insert: an atomic plan that fails leaves concurrent plans alone`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, '[{"_id":"a"}]')
    const outcomes = await Promise.all([
      kinds(insert(stage.store, '[{"_id":"b"}]')),
      kinds(insert(stage.store, '[{"_id":"x"},{"_id":"a"}]', true)),
      kinds(insert(stage.store, '[{"_id":"c"}]')),
    ])
    assert.deepEqual(outcomes, [['inserted'], ['inserted', 'duplicate'], ['inserted']])
    assert.deepEqual(await ids(stage.store), ['a', 'b', 'c'])
  })

  test(`${kind}: insert: versions rise with every write`, async () => {
    await using stage = await openStage(open)
    const versions: number[] = []
    for (let i = 0; i < 20; i++) {
      const [outcome] = await insert(stage.store, `[{"_id":"${i}"}]`)
      if (outcome!.kind === 'inserted') versions.push(outcome!.document.version)
    }
    assert.equal(versions.length, 20)
    assert.ok(versions.every((version, i) => i === 0 || version > versions[i - 1]!))
  })

  test(`${kind}: sequences: no value is given twice, whoever asks at once`, async () => {
    await using stage = await openStage(open)
    const sequence = { name: 'q', initialValue: 9_007_199_254_740_990n, increment: 3n }
    const drawn = await Promise.all(
      Array.from({ length: 200 }, (_, i) => stage.store.nextValues(sequence, 1 + (i % 3))),
    )
    const values = drawn.flat()
    assert.equal(new Set(values).size, values.length)
    const least = values.reduce((a, b) => (a < b ? a : b))
    const greatest = values.reduce((a, b) => (a > b ? a : b))
    assert.equal(least, sequence.initialValue)
    assert.equal(greatest, sequence.initialValue + 3n * BigInt(values.length - 1))
  })

  test(`${kind}: sequences: the step of an existing sequence wins, and it ends before it overflows`, async () => {
    await using stage = await openStage(open)
    const next = (initialValue: bigint, increment: bigint, count: number) =>
      stage.store.nextValues({ name: 'q', initialValue, increment }, count)
    assert.deepEqual(await next(5n, -2n, 2), [5n, 3n])
    assert.deepEqual(await next(100n, 7n, 2), [1n, -1n])
    const last = { name: 'end', initialValue: 9_223_372_036_854_775_806n, increment: 1n }
    await refused(stage.store.nextValues(last, 5), 'crud:LimitExceeded')
  })

  for (const initialValue of [2n ** 63n, -(2n ** 63n) - 1n]) {
    test(`${kind}: sequences: raised to ${initialValue}, beyond 64 bits, it is refused and does not change`, async () => {
      await using stage = await openStage(open)
      const raise = () => stage.store.raiseSequence({ name: 'far', initialValue, increment: 1n })
      await refused(raise(), 'crud:LimitExceeded')
      const sequence = { name: 'far', initialValue: 7n, increment: 1n }
      assert.deepEqual(await stage.store.nextValues(sequence, 1), [7n])
      await refused(raise(), 'crud:LimitExceeded')
      assert.deepEqual(await stage.store.nextValues(sequence, 1), [8n])
    })
  }

  for (const { rule, increment, raises, next } of [
    { rule: 'a new one begins there', increment: 5n, raises: [40n], next: 40n },
    { rule: 'the furthest of several counts', increment: 5n, raises: [40n, 90n, 60n], next: 90n },
    { rule: 'a descending one goes down only', increment: -1n, raises: [-7n, -3n, -9n, -8n], next: -9n },
  ]) {
    test(`${kind}: sequences: raised: ${rule}`, async () => {
      await using stage = await openStage(open)
      for (const initialValue of raises)
        await stage.store.raiseSequence({ name: 'r', initialValue, increment })
      const later = { name: 'r', initialValue: 1n, increment: 3n }
      assert.deepEqual(await stage.store.nextValues(later, 2), [next, next + increment])
    })
  }
}

function resolved(query: Json) {
  return resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), rootScope(SCHEMA))
}

const WHERE_I_1 = { field: 'i', op: '=', rvalue: 1 }
const PLACE = { collection, idType: 'string', atomic: false } as const

/** Adds ten to `i`, whatever else the document holds. */
function tenMore({ text }: StoredDocument): JsonObject {
  const document = parseTrusted(text) as JsonObject
  return { ...document, i: Number(document['i']) + 10 }
}

function changeContract(kind: string, open: OpenStore): void {
  const three = '[{"_id":"a","i":1,"s":"x"},{"_id":"b","i":1,"s":"y"},{"_id":"c","i":2,"s":"z"}]'

  test(`${kind}: update: documents that match become what the change says, with a higher version`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, three)
    const before = await find(stage.store)
    const change = (stored: StoredDocument) => ({ kind: 'write', document: tenMore(stored) }) as const
    const { outcomes } = await write(stage.store, {
      kind: 'update',
      ...PLACE,
      query: resolved(WHERE_I_1),
      change,
    })
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['updated', 'updated'],
    )
    const after = await find(stage.store)
    assert.deepEqual(
      after.documents.map(({ text }) => (parseTrusted(text) as JsonObject)['i']),
      [11, 11, 2],
    )
    assert.ok(after.documents[0]!.version > before.documents[0]!.version)
    assert.equal(after.documents[2]!.version, before.documents[2]!.version)
  })

  test(`${kind}: update: documents that are kept, skipped or refused are not written`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, three)
    const before = await find(stage.store)
    const fault = new ServiceError('crud:Required', 'no')
    const change = ({ id }: StoredDocument) => {
      if (id === 'a') return { kind: 'keep' } as const
      return id === 'b' ? ({ kind: 'skip' } as const) : ({ kind: 'refuse', faults: [fault] } as const)
    }
    const { outcomes } = await write(stage.store, {
      kind: 'update',
      ...PLACE,
      query: resolved({ $and: [] }),
      change,
    })
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['kept', 'refused'],
    )
    assert.deepEqual(await find(stage.store), before)
  })

  test(`${kind}: update: a change into a duplicate is that document's, atomic it takes all back`, async () => {
    await using stage = await openStage(open, [index(['s'], true)])
    await insert(stage.store, three)
    const before = await find(stage.store)
    const change = (stored: StoredDocument) =>
      ({
        kind: 'write',
        document: { ...(parseTrusted(stored.text) as JsonObject), i: 7, s: 'same' },
      }) as const
    const plan = { kind: 'update', ...PLACE, query: resolved(WHERE_I_1), change } as const
    const failed = await write(stage.store, { ...plan, atomic: true })
    assert.equal(failed.isCommitted, false)
    assert.deepEqual(await find(stage.store), before)
    const { isCommitted, outcomes } = await write(stage.store, plan)
    assert.equal(isCommitted, true)
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['updated', 'duplicate'],
    )
  })

  test(`${kind}: update: concurrent changes of one document never lose each other's effect`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, '[{"_id":"a","i":1}]')
    const change = (stored: StoredDocument) => ({ kind: 'write', document: tenMore(stored) }) as const
    const query = resolved({ $and: [] })
    await Promise.all(
      Array.from({ length: 50 }, () => write(stage.store, { kind: 'update', ...PLACE, query, change })),
    )
    const [document] = (await find(stage.store)).documents
    assert.equal((parseTrusted(document!.text) as JsonObject)['i'], 501)
  })

  test(`${kind}: save: writes over what its identity finds, or inserts`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, three)
    const item = (id: string) => ({
      query: resolved({ field: '_id', op: '=', rvalue: id }),
      change: () => ({ kind: 'write', document: { _id: id, s: 'saved' } }) as const,
    })
    const { outcomes } = await write(stage.store, { kind: 'save', ...PLACE, items: [item('a'), item('new')] })
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['updated', 'inserted'],
    )
    assert.deepEqual(await ids(stage.store, { query: { field: 's', op: '=', rvalue: 'saved' } }), [
      'a',
      'new',
    ])
  })

  test(`${kind}: delete: removes what matches and nothing else`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, three)
    const { outcomes } = await write(stage.store, { kind: 'delete', ...PLACE, query: resolved(WHERE_I_1) })
    assert.deepEqual(
      outcomes.map(({ kind }) => kind),
      ['deleted', 'deleted'],
    )
    assert.deepEqual(await ids(stage.store), ['c'])
  })

  test(`${kind}: write: what the report throws takes everything back`, async () => {
    await using stage = await openStage(open)
    const plan = { kind: 'insert', ...PLACE, documents: [{ _id: 'a' }, { _id: 'b' }] } as const
    const enough = new Error('enough')
    const report = ({ kind: outcome }: Outcome): void => {
      if (outcome === 'inserted') throw enough
    }
    await assert.rejects(
      stage.store.write(plan, () => report, BOUNDS),
      enough,
    )
    assert.deepEqual(await ids(stage.store), [])
  })

  test(`${kind}: transact: all steps are one, seen by each other and taken back together`, async () => {
    await using stage = await openStage(open)
    const enough = new Error('enough')
    const failing = stage.store.transact(async (session) => {
      await insert(session, '[{"_id":"a"}]')
      assert.deepEqual(await ids(session), ['a'])
      throw enough
    })
    await assert.rejects(failing, enough)
    assert.deepEqual(await ids(stage.store), [])
    const done = await stage.store.transact(async (session) => {
      await insert(session, '[{"_id":"a"}]')
      return (await insert(session, '[{"_id":"b"}]')).length
    })
    assert.equal(done, 1)
    assert.deepEqual(await ids(stage.store), ['a', 'b'])
  })

  test(`${kind}: stream: gives the documents of the page in order`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, three)
    const plan = { collection, sort: [], from: 1, counted: false, idType: 'string' } as const
    const seen: string[] = []
    for await (const { id } of stage.store.stream(plan, BOUNDS)) {
      if (seen.length === 0) await insert(stage.store, '[{"_id":"z"}]')
      seen.push(id)
    }
    assert.deepEqual(seen, ['b', 'c'])
  })
}

function findContract(kind: string, open: OpenStore): void {
  const twelve = JSON.stringify(
    Array.from({ length: 12 }, (_, i) => ({ _id: String.fromCharCode(97 + i), i: i % 3, s: `s${i}` })),
  )

  test(`${kind}: find: pages are parts of one order, and count all matches`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, twelve)
    const sort = [{ i: '$desc' }]
    const all = await ids(stage.store, { sort })
    assert.deepEqual(all.join(''), 'cfilbehkadgj')
    for (const [from, to] of [
      [0, 3],
      [4, 7],
      [8, 11],
      [10, 50],
    ] as const) {
      const page = await find(stage.store, { sort, from, to })
      assert.deepEqual(
        page.documents.map(({ id }) => id),
        all.slice(from, to + 1),
      )
      assert.equal(page.matchCount, 12)
    }
  })

  test(`${kind}: find: an empty page still counts`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, twelve)
    const query = { field: 'i', op: '=', rvalue: 1 }
    for (const asked of [{ from: 0, to: -1 }, { from: 5, to: 2 }, { from: 100 }, { from: 100, to: 200 }]) {
      assert.deepEqual(await find(stage.store, { query, ...asked }), { documents: [], matchCount: 4 })
    }
    assert.equal((await find(stage.store, { query: { field: 'i', op: '=', rvalue: 9 } })).matchCount, 0)
  })

  test(`${kind}: find: by _id, alone and many at once`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, twelve)
    const byId = (id: string, more: Asked = {}) =>
      find(stage.store, { query: { field: '_id', op: '=', rvalue: id }, ...more })
    const found = await Promise.all(['a', 'zz', 'b', 'a'].map((id) => byId(id)))
    assert.deepEqual(
      found.map(({ matchCount, documents }) => [matchCount, documents[0]?.id]),
      [
        [1, 'a'],
        [0, undefined],
        [1, 'b'],
        [1, 'a'],
      ],
    )
    assert.deepEqual(await byId('a', { from: 1 }), { documents: [], matchCount: 1 })
  })

  test(`${kind}: find: what the taker throws ends the find`, async () => {
    await using stage = await openStage(open)
    await insert(stage.store, twelve)
    const plan = { collection, sort: [], from: 0, counted: true, idType: 'string' } as const
    const enough = new Error('enough')
    await assert.rejects(
      stage.store.find(
        plan,
        () => {
          throw enough
        },
        BOUNDS,
      ),
      enough,
    )
    assert.equal((await find(stage.store)).matchCount, 12, 'the store goes on')
  })

  test(`${kind}: find: a collection that nobody made is empty`, async () => {
    await using stage = await openStage(open)
    const plan = {
      collection: { ...collection, name: 'none' },
      sort: [],
      from: 0,
      counted: true,
      idType: 'string',
    } as const
    assert.deepEqual(await stage.store.find(plan, () => assert.fail(), BOUNDS), { matchCount: 0 })
  })

  test(`${kind}: explain: counts as find does and names the index that serves`, async () => {
    await using stage = await openStage(open, [index(['i'])])
    // enough of them that no engine would rather read them all
    const many = Array.from({ length: 4000 }, (_, i) => ({ _id: `d${i}`, i: i % 1000, s: `s${i}` }))
    await insert(stage.store, JSON.stringify(many))
    const query = resolveQuery(
      parseQuery({ field: 'i', op: '=', rvalue: 1 }, '', DEFAULT_LIMITS),
      rootScope(SCHEMA),
    )
    const plan = { collection, query, sort: [], from: 0, to: 1, counted: true, idType: 'string' } as const
    const explanation = await stage.store.explain(plan, BOUNDS)
    assert.equal(explanation.matchCount, 4)
    assert.match(JSON.stringify(explanation.plan), /"field":"i"/)
    assert.ok(explanation.query.parameters.map(String).includes('1'), 'the value stands apart from the text')
  })
}

function uniqueContract(kind: string, open: OpenStore): void {
  const rows: readonly (readonly [
    rule: string,
    index: IndexDefinition,
    documents: string,
    outcome: string,
  ])[] = [
    ['equal values clash', index(['s'], true), '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]', 'duplicate'],
    ['case matters', index(['s'], true), '[{"_id":"a","s":"x"},{"_id":"b","s":"X"}]', 'inserted'],
    [
      'documents that lack the field are ignored',
      index(['s'], true),
      '[{"_id":"a"},{"_id":"b"}]',
      'inserted',
    ],
    [
      'documents that lack every field are ignored',
      index(['s', 's2'], true),
      '[{"_id":"a"},{"_id":"b"}]',
      'inserted',
    ],
    [
      'documents that lack some fields are held to the rest',
      index(['s', 's2'], true),
      '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]',
      'duplicate',
    ],
    [
      'the same value in another field is no clash',
      index(['s', 's2'], true),
      '[{"_id":"a","s":"x"},{"_id":"b","s2":"x"}]',
      'inserted',
    ],
    [
      'lacking a field differs from the empty text',
      index(['s', 's2'], true),
      '[{"_id":"a","s":"x"},{"_id":"b","s":"x","s2":""}]',
      'inserted',
    ],
    [
      'all fields together decide',
      index(['s', 's2'], true),
      '[{"_id":"a","s":"x","s2":"1"},{"_id":"b","s":"x","s2":"2"}]',
      'inserted',
    ],
    [
      'decimals clash whatever their scale',
      index(['bd'], true),
      '[{"_id":"a","bd":1.1},{"_id":"b","bd":1.10}]',
      'duplicate',
    ],
    [
      'integers beyond 2^53 stay apart',
      index(['i'], true),
      '[{"_id":"a","i":9007199254740993},{"_id":"b","i":9007199254740992}]',
      'inserted',
    ],
    [
      'big integers stay apart',
      index(['bi'], true),
      '[{"_id":"a","bi":123456789012345678901234567890},{"_id":"b","bi":123456789012345678901234567891}]',
      'inserted',
    ],
    [
      'ignoring case, texts that differ in case clash',
      index([{ path: 's', caseInsensitive: true }], true),
      '[{"_id":"a","s":"Äx"},{"_id":"b","s":"äX"}]',
      'duplicate',
    ],
    [
      'ignoring case, a dotless i is no i',
      index([{ path: 's', caseInsensitive: true }], true),
      '[{"_id":"a","s":"ı"},{"_id":"b","s":"i"}]',
      'inserted',
    ],
    [
      'the direction of the key makes no difference',
      index([{ path: 's', descending: true }, 'i'], true),
      '[{"_id":"a","s":"x","i":1},{"_id":"b","s":"x","i":1}]',
      'duplicate',
    ],
  ]
  for (const [rule, definition, documents, outcome] of rows) {
    test(`${kind}: unique: ${rule}`, async () => {
      await using stage = await openStage(open, [definition])
      assert.deepEqual(await kinds(insert(stage.store, documents)), ['inserted', outcome])
    })
  }

  test(`${kind}: unique: an index over documents that repeat is refused, and nothing of the change stays`, async () => {
    await using stage = await openStage(open, [index(['i'])])
    const { store } = stage
    await insert(store, '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]')
    const before = await store.metadata.readMetadata()
    const prepare = { collection, indexes: [index(['s2'], true), index(['s'], true)], paths: ['new'] }
    const schemas = [{ version: '9.9.9', schema: '{}' }]
    await refused(
      store.metadata.changeMetadata(await change(store, { info: '{"changed":1}', schemas, prepare })),
      'metadata:InvalidIndex',
    )
    assert.deepEqual(await store.metadata.readMetadata(), before)
    assert.equal((await store.metadata.readMetadataHistory('t')).length, 1)
    assert.deepEqual(await kinds(insert(store, '[{"_id":"c","s2":"y"},{"_id":"d","s2":"y"}]')), [
      'inserted',
      'inserted',
    ])
  })

  test(`${kind}: unique: an index that goes sets its documents free`, async () => {
    await using stage = await openStage(open, [index(['s'], true)])
    const { store } = stage
    await store.metadata.changeMetadata(
      await change(store, { prepare: { collection, indexes: [], paths: [] } }),
    )
    assert.deepEqual(await kinds(insert(store, '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]')), [
      'inserted',
      'inserted',
    ])
  })
}

function metadataContract(kind: string, open: OpenStore): void {
  test(`${kind}: metadata: a change is applied whole and raises the epoch`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const before = await store.metadata.readMetadata()
    const prepare = { collection, indexes: [index(['s'], true)], paths: ['s', 'i'] }
    const schemas = [
      { version: '2.0.0', schema: '{"v":2}' },
      { version: '1.0.0', schema: '{"v":1}' },
    ]
    await store.metadata.changeMetadata(await change(store, { schemas, prepare }))
    const after = await store.metadata.readMetadata()
    assert.ok(after.epoch > before.epoch)
    assert.deepEqual(
      after.entities.map(({ entity }) => entity),
      ['t'],
    )
    assert.deepEqual(
      after.schemas.map(({ version }) => version),
      ['2.0.0', '1.0.0'],
      'in the order they were made',
    )
    assert.deepEqual(
      after.collections.map(({ paths }) => [...paths].sort()),
      [[...PATHS, 'i'].toSorted()],
    )
    assert.deepEqual(await kinds(insert(store, '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]')), [
      'inserted',
      'duplicate',
    ])
  })

  test(`${kind}: metadata: a change of several entities is applied whole, or not at all`, async () => {
    await using stage = await openStage(open, [index(['i'])])
    const { store } = stage
    await insert(store, '[{"_id":"a","s":"x"},{"_id":"b","s":"x"}]')
    const before = await store.metadata.readMetadata()
    const other = { ...collection, entity: 'other' }
    const making = {
      entity: 'other',
      prepare: { collection: other, indexes: [index(['s'], true)], paths: ['s'] },
    }
    const failing = { prepare: { collection, indexes: [index(['s2']), index(['s'], true)], paths: ['s2'] } }
    for (const parts of [
      [making, failing],
      [failing, making],
    ]) {
      await refused(store.metadata.changeMetadata(await change(store, ...parts)), 'metadata:InvalidIndex')
      assert.deepEqual(await store.metadata.readMetadata(), before)
    }
    const fitting = { prepare: { collection, indexes: [index(['s']), index(['i'])], paths: ['s', 'i'] } }
    await store.metadata.changeMetadata(await change(store, making, fitting))
    const after = await store.metadata.readMetadata()
    assert.equal(after.epoch, before.epoch + 1)
    assert.deepEqual(
      after.entities.map(({ entity }) => entity),
      ['other', 't'],
    )
    assert.equal((await store.metadata.readMetadataHistory('other')).length, 1)
  })

  test(`${kind}: metadata: a change made from an old state is refused`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const stale = await change(store, { info: '{"stale":1}' })
    await store.metadata.changeMetadata(await change(store, { info: '{"fresh":1}' }))
    await refused(store.metadata.changeMetadata(stale), 'metadata:UpdateInvalidatesMetadata')
    assert.equal((await store.metadata.readMetadata()).entities[0]!.info, '{"fresh":1}')
  })

  test(`${kind}: metadata: of two changes at once one is refused`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const both = [await change(store, { info: '{"a":1}' }), await change(store, { info: '{"b":1}' })]
    const results = await Promise.allSettled(both.map((each) => store.metadata.changeMetadata(each)))
    const accepted = both.filter((_, i) => results[i]!.status === 'fulfilled')
    assert.equal(accepted.length, 1)
    const [kept] = (await store.metadata.readMetadata()).entities
    assert.equal(kept!.info, accepted[0]!.entities[0]!.info)
  })

  test(`${kind}: metadata: an entity that is removed leaves its documents and its history`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await insert(store, '[{"_id":"a"}]')
    await store.metadata.changeMetadata(await change(store, { info: null }))
    const { entities, schemas } = await store.metadata.readMetadata()
    assert.deepEqual([entities, schemas], [[], []])
    assert.deepEqual(await ids(store), ['a'])
    assert.equal((await store.metadata.readMetadataHistory('t')).length, 2)
  })

  test(`${kind}: metadata: a write to an entity that was removed with its documents is refused`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await insert(store, '[{"_id":"a"}]')
    await store.metadata.changeMetadata(
      await change(store, { info: null, removed: { collection, isDropped: true } }),
    )
    const refusal = { code: 'crud:UnknownEntity', message: 'the entity "t" was removed meanwhile' }
    await assert.rejects(insert(store, '[{"_id":"b"}]'), refusal)
    await assert.rejects(
      store.transact((session) => insert(session, '[{"_id":"b"}]')),
      refusal,
    )
    assert.deepEqual(await ids(store), [])
  })

  test(`${kind}: metadata: history records who did what, in order`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const history = {
      at: 'later',
      principal: 'ann',
      action: 'setStatus',
      version: '1.0.0',
      before: '{"x":1}',
      after: null,
    }
    await store.metadata.changeMetadata(await change(store, { history }))
    assert.deepEqual((await store.metadata.readMetadataHistory('t')).at(-1), history)
    assert.deepEqual(await store.metadata.readMetadataHistory('other'), [])
  })

  test(`${kind}: metadata: entities with a shared collection keep their documents apart`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    const other = { ...collection, entity: 'other' }
    await store.metadata.changeMetadata(
      await change(store, { entity: 'other', prepare: { collection: other, indexes: [], paths: [] } }),
    )
    await insert(store, '[{"_id":"a"}]')
    const documents = [{ _id: 'a' }]
    const { outcomes } = await write(store, {
      kind: 'insert',
      collection: other,
      idType: 'string',
      documents,
      atomic: false,
    })
    assert.equal(outcomes[0]!.kind, 'inserted')
    assert.deepEqual(await ids(store), ['a'])
  })
}

function lifeContract(kind: string, open: OpenStore): void {
  test(`${kind}: reopening finds everything`, async () => {
    await using place = await open.freshPlace()
    const definition = { collection, indexes: [index(['s'], true)], paths: ['s'] }
    let before: unknown
    {
      await using store = await open.openAt(place.location)
      await store.metadata.changeMetadata(
        await change(store, { prepare: definition, schemas: [{ version: '1.0.0', schema: '{}' }] }),
      )
      await insert(store, '[{"_id":"a","s":"x","bd":1.10}]')
      await store.nextValues({ name: 'q', initialValue: 1n, increment: 1n }, 5)
      before = [
        await store.metadata.readMetadata(),
        await store.metadata.readMetadataHistory('t'),
        await find(store),
      ]
    }
    await using store = await open.openAt(place.location)
    assert.deepEqual(
      [await store.metadata.readMetadata(), await store.metadata.readMetadataHistory('t'), await find(store)],
      before,
    )
    assert.deepEqual(await store.nextValues({ name: 'q', initialValue: 1n, increment: 1n }, 1), [6n])
    assert.deepEqual(await kinds(insert(store, '[{"_id":"b","s":"x"}]')), ['duplicate'])
    const { documents } = await find(store)
    assert.equal(JSON.stringify(parseTrusted(documents[0]!.text)), '{"_id":"a","s":"x","bd":1.10}')
  })

  test(`${kind}: closing waits for what was begun`, async () => {
    await using place = await open.freshPlace()
    const first = await open.openAt(place.location)
    await first.metadata.changeMetadata(
      await change(first, { prepare: { collection, indexes: [], paths: [] } }),
    )
    const writing = insert(first, '[{"_id":"a"}]')
    await first[Symbol.asyncDispose]()
    assert.deepEqual(await kinds(writing), ['inserted'])
    await using second = await open.openAt(place.location)
    assert.deepEqual(await ids(second), ['a'])
  })
}
