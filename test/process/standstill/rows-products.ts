/** Rows about work that multiplies: patterns over texts, arrays held against arrays, loops inside of loops. */
import assert from 'node:assert/strict'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'
import type { Outcome } from './client.ts'
import { BY_ID, GREEDY, ID, INTEGER, INTEGERS, type Row, STRING, find, times, update } from './row.ts'
import type { WatchedService } from './service.ts'

const LIMIT_MS = 500
const execution = { maxTimeMs: LIMIT_MS }
const TIMEOUT = '504 store-crud:Timeout'
const XS: JsonObject = { type: 'array', items: { type: 'object', fields: { x: INTEGER, y: INTEGER } } }

const PATTERNS: readonly (readonly [id: string, pattern: string])[] = [
  ['4a', '[a-m][a-z ]{100}[0-9]'],
  ['4b', '[a-m][a-z ]{999}[0-9]'],
]

/** Every second number, so that those between are nowhere. */
const EVENS = times(6_000, (i) => 2 * i)
const ODDS = EVENS.map((each) => each + 1)

export const PRODUCT_ROWS: readonly Row[] = [
  ...PATTERNS.flatMap(([id, regex]): Row[] => [
    {
      id,
      what: `the pattern ${regex} over 100 texts of 10 KB`,
      // an engine that is quick enough may find that there is none
      expected: { answers: [TIMEOUT, '200', '400 query-api:InvalidQuery'], limitMs: LIMIT_MS },
      prepare: (on) => storeTexts(on, `r${id}`),
      send: async (on) => [
        await find(on, `r${id}`, { query: { field: 's', regex }, projection: ID, execution }),
      ],
      check: (_, { outcomes: [answer] }) => nothingFound(answer!),
    },
    {
      id: `${id}p`,
      what: `the pattern ${regex} in an array projection`,
      expected: { answers: [TIMEOUT, '200', '400 query-api:InvalidQuery'], limitMs: LIMIT_MS },
      prepare: (on) => storeTexts(on, `r${id}p`),
      async send(on) {
        const projection = { field: 'list', match: { field: '$this', regex }, projection: ID }
        return [await find(on, `r${id}p`, { query: BY_ID('list'), projection, execution })]
      },
    },
  ]),
  {
    id: '4c',
    what: 'a pattern where the engine cannot answer it: beside a case folding of its own',
    expected: { answers: [TIMEOUT, '200', '400 query-api:InvalidQuery'], limitMs: LIMIT_MS },
    prepare: (on) => storeTexts(on, 'r4c'),
    async send(on) {
      const query = { field: 's', regex: '(?i)\\b[a-m](?:[a-z ]|\\pL){100}\\b[0-9]', caseInsensitive: true }
      return [await find(on, 'r4c', { query, projection: ID, execution })]
    },
    check: (_, { outcomes: [answer] }) => nothingFound(answer!),
  },
  {
    id: '5',
    what: 'match in an array projection with nested elemMatch over $parent, 1,000 elements',
    expected: { answers: [TIMEOUT], limitMs: LIMIT_MS },
    prepare: (on) => storeElements(on, 'r5', 1),
    async send(on) {
      const inner = { array: '$parent.a', elemMatch: { field: 'x', op: '=', rvalue: -1 } }
      const match = { array: '$parent.a', elemMatch: inner }
      const projection = { field: 'a', match, projection: { field: 'x' } }
      return [await find(on, 'r5', { query: BY_ID('d0'), projection, execution })]
    },
  },
  {
    id: '5e',
    what: 'a stream of 800 small documents, each with 15 elements to match against 990 terms',
    expected: { answers: ['200'], limitMs: 20_000 },
    async prepare(on) {
      await on.define('r5e', { arr: { type: 'array', items: { type: 'object', fields: { x: INTEGER } } } })
      const arr = times(15, (x) => ({ x }))
      await on.store(
        'r5e',
        times(800, (i) => ({ _id: `d${i}`, arr })),
      )
    },
    async send(on) {
      const $or = times(990, (i) => ({ field: 'x', op: '=', rvalue: 100_000 + i }))
      const body = { projection: { field: 'arr', include: true, match: { $or } } }
      return [await on.ask('POST', '/data/find/r5e?stream=true', { body, caller: GREEDY, withinMs: 30_000 })]
    },
    check: (_, { outcomes: [answer] }) => assert.match(answer!.text, /"matchCount":/),
  },
  // those of `$or` become one condition on the documents at the end
  ...(
    [
      ['$or', '200'],
      ['$and', '400 crud:LimitExceeded'],
    ] as const
  ).map(([how, answer]): Row => ({
    id: `5f${how}`,
    what: `960 conditions of ${how} through five references`,
    expected: { answers: [answer], limitMs: 10_000 },
    async prepare(on) {
      const query = { field: '_id', op: '=', rfield: '$parent.p' }
      const entity = `r5f_${how.slice(1)}`
      const r = { type: 'reference', entity, versionValue: '1.0.0', query }
      await on.define(entity, { a: STRING, p: STRING, r })
      await on.store(entity, [{ _id: '1', a: 'x', p: '1' }])
    },
    async send(on) {
      const field = `${'r.*.'.repeat(5)}a`
      const terms = times(960, (i) => ({ field, op: '=', rvalue: `v${i}` }))
      return [await find(on, `r5f_${how.slice(1)}`, { query: { [how]: terms }, projection: ID })]
    },
  })),
  {
    id: '5b',
    what: 'the same in a query',
    // PostgreSQL sees that the inner parts are the same for every element
    expected: { answers: [TIMEOUT, '200'], limitMs: LIMIT_MS },
    prepare: (on) => storeElements(on, 'r5b', 1),
    async send(on) {
      const inner = { array: '$parent.a', elemMatch: { field: 'x', op: '=', rvalue: -1 } }
      const query = { array: 'a', elemMatch: { array: '$parent.a', elemMatch: inner } }
      return [await find(on, 'r5b', { query, projection: ID, execution })]
    },
  },
  {
    id: '6',
    what: 'a slow find inside an atomic bulk, while another caller writes',
    expected: { answers: ['200 store-crud:Timeout', '200', TIMEOUT], limitMs: 1_500 },
    async prepare(on) {
      await on.define('r6', { a: INTEGERS, b: INTEGERS })
      await on.define('r6w', { n: INTEGER })
      await on.store('r6', [{ a: EVENS, b: ODDS }])
    },
    async send(on) {
      const query = { field: 'a.*', op: '=', rfield: 'b.*' }
      const request = { entity: 'r6', query, projection: ID, execution: { maxTimeMs: 1_500 } }
      const body = { atomic: true, requests: [{ seq: 1, op: 'find', request }] }
      const slow = on.ask('POST', '/data/bulk', { body, caller: GREEDY })
      await new Promise((resolve) => setTimeout(resolve, 100))
      const written = await on.ask('PUT', '/data/insert/r6w', {
        body: { data: [{ n: 1 }] },
        caller: 'writer',
      })
      return [await slow, written]
    },
    check(_, { outcomes: [slow, written] }) {
      assert.match(slow!.text, /store-crud:Timeout/)
      assert.ok(written!.ms < 1_000, `a write waited ${written!.ms} ms for a read`)
    },
  },
  {
    id: '7',
    what: '$append to 50,000 equal elements',
    expected: { answers: ['200'] },
    async prepare(on) {
      await on.define('r7', { a: INTEGERS })
      await on.store('r7', [{ _id: 'd', a: times(50_000, () => 0) }])
    },
    send: async (on) => [await update(on, 'r7', { query: BY_ID('d'), update: { $append: { a: 0 } } })],
    check: (_, { outcomes: [answer] }) => assert.match(answer!.text, /"modifiedCount":1/),
  },
  {
    id: '8',
    what: '$foreach in $foreach, 10 documents of 1,000 elements',
    expected: { answers: [TIMEOUT], limitMs: 200 },
    prepare: (on) => storeElements(on, 'r8', 10),
    async send(on) {
      const inner = { $foreach: { '$parent.a': '$all', $update: { $add: { y: 1 } } } }
      const body = { query: { $and: [] }, update: { $foreach: { a: '$all', $update: inner } } }
      return [await update(on, 'r8', { ...body, execution: { maxTimeMs: 200 } })]
    },
    async check(on) {
      const unchanged = { array: 'a', elemMatch: { field: 'y', op: '=', rvalue: 0 } }
      const { text } = await find(on, 'r8', { query: unchanged, projection: ID })
      assert.match(text, /"matchCount":10/)
    },
  },
  {
    id: '8b',
    what: 'aggregates of values beside the elements of a large array',
    stores: ['sqlite'],
    // documents, or their long texts, once for each element would take gigabytes
    expected: { answers: ['200', '413'], limitMs: 10_000, peakMb: 700 },
    async prepare(on) {
      await on.define('r8b', { t: STRING, price: { type: 'bigdecimal' }, a: XS })
      const a = times(20_000, (x) => ({ x: x % 10, y: 0 }))
      await on.store('r8b', [{ _id: 'd', t: 't'.repeat(1_000_000), price: 1.5, a }])
    },
    async send(on) {
      const outcomes = []
      for (const s of [{ $sum: 'price' }, { $min: 't' }]) {
        const body = { groupBy: ['a.*.x'], values: { s } }
        outcomes.push(await on.ask('POST', '/data/aggregate/r8b', { body, caller: GREEDY, withinMs: 30_000 }))
      }
      return outcomes
    },
    check: (_, { outcomes: [sum] }) => assert.equal(sum!.status, 200),
  },
  {
    id: '8c',
    what: 'small patches of a document with a large value without schema',
    expected: { answers: ['200'], limitMs: 10_000, peakMb: 700 },
    async prepare(on) {
      await on.define('r8c', { any: { type: 'any' }, dates: { type: 'array', items: { type: 'date' } } })
      await on.store('r8c', [{ _id: 'd', any: Object.fromEntries(times(100_000, (i) => [`key${i}`, i])) }])
    },
    async send(on) {
      const outcomes = []
      for (const body of [{ any: { one: 1 } }, {}])
        outcomes.push(await on.ask('PATCH', '/documents/r8c/d', { body, caller: GREEDY, withinMs: 30_000 }))
      return outcomes
    },
  },
  {
    id: '8d',
    what: 'the history of a large document',
    stores: ['sqlite'],
    expected: { answers: ['200'], limitMs: 10_000, peakMb: 700 },
    async prepare(on) {
      await on.define('r8d', { any: { type: 'any' } }, { info: { history: true } })
      await on.store('r8d', [{ _id: 'd', any: Object.fromEntries(times(200_000, (i) => [`key${i}`, i])) }])
    },
    send: async (on) => [await on.ask('GET', '/data/history/r8d/d', { caller: GREEDY, withinMs: 30_000 })],
  },
]

async function storeTexts(on: WatchedService, entity: string): Promise<void> {
  await on.define(entity, { s: STRING, list: { type: 'array', items: STRING } })
  // letters that do not repeat, or an engine would soon know all that there is to know
  const chance = chanceFrom(SEED)
  const letter = (): string => 'abcdefghijklmnopqrstuvwxyz '[chance(27)]!
  const texts = times(100, () => times(10_000, letter).join(''))
  await on.store(
    entity,
    texts.map((s, i) => ({ _id: `d${i}`, s })),
  )
  await on.store(entity, [{ _id: 'list', list: texts }])
}

async function storeElements(on: WatchedService, entity: string, count: number): Promise<void> {
  await on.define(entity, { a: XS })
  const a = times(1_000, (x) => ({ x, y: 0 }))
  await on.store(
    entity,
    times(count, (i) => ({ _id: `d${i}`, a })),
  )
}

function nothingFound({ status, text }: Outcome): void {
  if (status === 200) assert.match(text, /"matchCount":0/)
}
