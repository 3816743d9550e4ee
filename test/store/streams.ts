/** What every store's streams fulfil: the order of finds, documents as they are, and nothing held for a slow reader. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { parseQuery } from '../../src/lang/parse/parse-query.ts'
import { resolveQuery, resolveSort } from '../../src/lang/resolve/resolve.ts'
import { rootScope } from '../../src/lang/resolve/scope.ts'
import { parseSort } from '../../src/lang/sort.ts'
import type { ReadPlan, StoredDocument } from '../../src/plan/plan.ts'
import type { Store } from '../../src/store/store.ts'
import { SEED } from '../support/seed.ts'
import { chanceFrom } from '../support/seeded.ts'
import { type OpenStore, SCHEMA, find, insert, openStage, write } from './contract.ts'

const BOUNDS = { timeLimitMs: 30_000 }
export const COUNT = 2_600
const { collection } = SCHEMA

interface Asked {
  readonly query?: JsonObject
  readonly sort?: Json
  readonly from?: number
  readonly to?: number
}

export function planOf({ query, sort = [], from = 0, to }: Asked): ReadPlan {
  const scope = rootScope(SCHEMA)
  return {
    collection,
    ...(query && { query: resolveQuery(parseQuery(query, '', DEFAULT_LIMITS), scope) }),
    sort: resolveSort(parseSort(sort, ''), scope),
    from,
    ...(to !== undefined && { to }),
    counted: false,
    idType: 'string',
  }
}

async function streamed(store: Store, asked: Asked = {}): Promise<readonly StoredDocument[]> {
  return await Array.fromAsync(store.stream(planOf(asked), BOUNDS))
}

/** Many of them share a value, and some have none. */
export async function fill(store: Store, count = COUNT): Promise<void> {
  const documents = Array.from({ length: count }, (_, k) => ({
    _id: `d${String((k * 7_919) % count).padStart(5, '0')}`,
    ...(k % 5 !== 0 && { i: k % 7 }),
    ...(k % 3 !== 0 && { s: `s${k % 11}` }),
    ...(k % 4 !== 0 && { bd: (k % 13) + 0.25 }),
    b: k % 2 === 0,
  }))
  await insert(store, JSON.stringify(documents))
}

const ORDERS: readonly Asked[] = [
  {},
  { from: 1_200, to: 2_399 },
  { from: 2_599 },
  { from: 5_000 },
  { from: 5, to: 3 },
  { sort: { i: '$asc' } },
  { sort: { i: '$desc' }, from: 10 },
  { sort: [{ s: '$desc' }, { i: '$asc' }], to: 1_700 },
  { sort: [{ bd: '$asc' }, { b: '$desc' }] },
  { query: { field: 'b', op: '=', rvalue: true }, sort: { bd: '$desc' } },
  { query: { field: 's', op: '!=', rvalue: 's1' } },
  { query: { field: 's', regex: '^s(1|2)' }, sort: { s: '$asc' } },
]

export function streamContract(kind: string, open: OpenStore): void {
  test(`${kind}: stream: gives what a find gives, in its order, however many stretches it takes`, async () => {
    await using stage = await openStage(open)
    await fill(stage.store)
    for (const asked of ORDERS) {
      const ids = (await find(stage.store, { ...asked, counted: false })).documents.map(({ id }) => id)
      const given = (await streamed(stage.store, asked)).map(({ id }) => id)
      assert.deepEqual(given, ids, JSON.stringify(asked))
    }
  })

  test(`${kind}: stream: every document is as it is when it is read, and matches then`, async () => {
    await using stage = await openStage(open)
    const { store } = stage
    await fill(store)
    const all = (await find(store)).documents.map(({ id }) => id)
    const plan = planOf({ query: { field: 'b', op: '!=', rvalue: null } })
    const reader = store.stream(plan, BOUNDS)[Symbol.asyncIterator]()
    const first = (await reader.next()).value as StoredDocument
    assert.equal(first.id, all[0])
    const [gone, unmatched, changed, later] = [all[1_100]!, all[1_101]!, all[1_102]!, all[2_000]!]
    const place = { collection, idType: 'string', atomic: false } as const
    const byId = (id: string) => ({ ...planOf({ query: { field: '_id', op: '=', rvalue: id } }).query! })
    await write(store, { kind: 'delete', ...place, query: byId(gone) })
    const set = (id: string, document: JsonObject) =>
      write(store, {
        kind: 'update',
        ...place,
        query: byId(id),
        change: () => ({ kind: 'write', document: { _id: id, ...document } }),
      })
    await set(unmatched, { s: 'no b' })
    await set(changed, { s: 'changed', b: true })
    await set(later, { s: 'changed', b: true })
    await insert(store, '[{"_id":"d02000-new","b":true},{"_id":"a before all","b":true}]')
    const rest: StoredDocument[] = []
    for (let next = await reader.next(); !next.done; next = await reader.next()) rest.push(next.value)
    const expected = all.slice(1).filter((id) => id !== gone && id !== unmatched)
    const given = rest.map(({ id }) => id)
    assert.deepEqual(
      given.filter((id) => id !== 'd02000-new'),
      expected,
    )
    assert.equal(new Set(given).size, given.length, 'none comes twice')
    for (const { id, text } of rest) if (id === changed || id === later) assert.match(text, /changed/)
  })

  test(`${kind}: stream: large documents come a few at a time`, async () => {
    await using stage = await openStage(open)
    const s = 'x'.repeat(1_500_000)
    for (let k = 0; k < 12; k++) await insert(stage.store, JSON.stringify([{ _id: `d${k}`, s }]))
    const given = await streamed(stage.store, { sort: { _id: '$desc' } })
    assert.deepEqual(
      given.map(({ id }) => id),
      (await find(stage.store, { sort: { _id: '$desc' } })).documents.map(({ id }) => id),
    )
    assert.ok(given.every(({ text }) => text.length > s.length))
  })

  test(`${kind}: stream: ends when the collection is dropped`, async () => {
    await using stage = await openStage(open)
    await fill(stage.store)
    const reader = stage.store.stream(planOf({}), BOUNDS)
    const given: StoredDocument[] = []
    for await (const document of reader) {
      if (given.push(document) === 1) await stage.store.metadata.dropCollection(collection)
    }
    assert.ok(given.length < COUNT, 'those that were read before')
  })

  for (const count of [12, 200]) {
    test(`${kind}: stream: with ${count} that nobody reads, others find and stream`, async () => {
      await using stage = await openStage(open)
      await fill(stage.store)
      const unread = Array.from({ length: count }, () =>
        stage.store.stream(planOf({}), BOUNDS)[Symbol.asyncIterator](),
      )
      for (const each of await Promise.all(unread.map((reader) => reader.next())))
        assert.equal(each.done, false)
      const query = { field: 's', op: '=', rvalue: 's1' }
      const { matchCount } = await find(stage.store, { query })
      assert.equal((await streamed(stage.store, { query })).length, matchCount)
      await insert(stage.store, '[{"_id":"new"}]')
      for (const reader of unread) await reader.return?.()
    })
  }
}

const letter = chanceFrom(SEED)

/** Texts in which nothing repeats, and a query that looks at each of them for long. */
export function longTexts(count: number, length = 10_000): string {
  // letter by letter as bytes: millions of texts of one letter each would take seconds to join
  const text = (): string => {
    const letters = Buffer.alloc(length)
    for (let i = 0; i < length; i++) letters[i] = 97 + letter(26)
    return letters.toString('latin1')
  }
  return JSON.stringify(Array.from({ length: count }, (_, k) => ({ _id: `a${k}`, s: text() })))
}
export const SLOW: JsonObject = { field: 's', regex: '[a-m][a-z ]{100}[0-9]' }
