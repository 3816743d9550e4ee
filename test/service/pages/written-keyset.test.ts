/** Pages by a keyset that a client wrote itself: an index finds their beginning, and they are what the query says. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { withClient } from '../../store/raw-client.ts'
import { citusUrl } from '../../support/citus.ts'
import { rowsOf } from '../../support/postgres.ts'
import { ADMIN, documentsOf } from '../../support/service.ts'
import { openTenant } from '../../support/shared-service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

const FIELDS: JsonObject = {
  tenant: { type: 'string' },
  date: { type: 'date' },
  rank: { type: 'integer' },
  price: { type: 'bigdecimal' },
  title: { type: 'string' },
  flag: { type: 'boolean' },
}
const index = (...fields: readonly string[]): JsonObject => ({ fields: fields.map((field) => ({ field })) })
const INDEXES: Json = [index('date', 'rank'), index('tenant', 'price'), index('rank'), index('title')]

const MANY = 4_000
const LONG = '𝔹'.repeat(140)
const day = (i: number): string => `202601${String(1 + (i % 28)).padStart(2, '0')}T00:00:00.000+0000`
const DOCUMENTS: readonly JsonObject[] = Array.from({ length: MANY }, (_, i) => ({
  _id: `d${String((i * 7919) % MANY).padStart(5, '0')}`,
  tenant: `t${i % 9}`,
  date: i % 7 === 0 ? null : day(i),
  ...(i % 5 !== 0 && { rank: (i * 31) % 400 }),
  price: JSON.rawJSON(`${(i % 500) - 250}.50`),
  title: `${i % 2 === 0 ? LONG : ''}\uffee${String(i % 600).padStart(3, '0')}`,
  flag: i % 3 === 0,
}))

const is = (field: string, op: string, rvalue: Json): JsonObject => ({ field, op, rvalue })
const all = (...terms: readonly JsonObject[]): JsonObject => ({ $and: terms })
const any = (...terms: readonly JsonObject[]): JsonObject => ({ $or: terms })
const D = day(13)
const T = `${LONG}\uffee300`
const PRICE = JSON.rawJSON('-200.50')
const AFTER_ID = is('_id', '>', 'd01000')

interface Case {
  readonly about: string
  readonly query: JsonObject
  readonly sort: Json
  /** What the condition of the index has to contain: explain shows columns on SQLite, and values on PostgreSQL. */
  readonly bounds: readonly { readonly sqlite: RegExp; readonly postgres: RegExp }[]
}

const BEFORE_D = { sqlite: /c\d+<\?\)/, postgres: /<= '20260114/ }
const FROM_D = { sqlite: />\?/, postgres: />= '20260114/ }

const CASES: readonly Case[] = [
  {
    about: 'descending',
    query: any(is('date', '<', D), all(is('date', '=', D), AFTER_ID)),
    sort: { date: '$desc' },
    bounds: [BEFORE_D],
  },
  {
    about: 'ascending, the tie first',
    query: any(all(AFTER_ID, is('date', '=', D)), is('date', '>', D)),
    sort: { date: '$asc' },
    bounds: [FROM_D],
  },
  {
    about: 'two fields',
    query: any(
      is('date', '<', D),
      all(is('date', '=', D), is('rank', '<', 200)),
      all(is('date', '=', D), is('rank', '=', 200), AFTER_ID),
    ),
    sort: [{ date: '$desc' }, { rank: '$desc' }],
    bounds: [BEFORE_D],
  },
  {
    about: 'two fields, nested',
    query: any(
      is('date', '<', D),
      all(is('date', '=', D), any(is('rank', '<', 200), all(is('rank', '=', 200), AFTER_ID))),
    ),
    sort: [{ date: '$desc' }, { rank: '$desc' }],
    bounds: [BEFORE_D],
  },
  {
    about: 'an alternative that has alternatives',
    query: any(
      any(is('date', '<', D), all(is('date', '=', D), is('rank', '<', 200))),
      all(is('date', '=', D), all(is('rank', '=', 200), AFTER_ID)),
    ),
    sort: [{ date: '$desc' }, { rank: '$desc' }],
    bounds: [BEFORE_D],
  },
  {
    about: 'beside other conditions',
    query: all(is('flag', '=', true), any(is('date', '<', D), all(is('date', '=', D), AFTER_ID))),
    sort: { date: '$desc' },
    bounds: [BEFORE_D],
  },
  {
    about: 'in the second field of an index',
    query: all(is('tenant', '=', 't4'), any(is('price', '<', PRICE), all(is('price', '=', PRICE), AFTER_ID))),
    sort: { price: '$desc' },
    bounds: [{ sqlite: /\(c\d+=\? AND c\d+<\?\)/, postgres: /= 't4'.*<= '?-200\.50/ }],
  },
  {
    about: 'with another end in each alternative',
    query: any(
      all(is('date', '<', D), is('date', '>=', day(11))),
      all(is('date', '=', D), is('date', '>=', day(11)), AFTER_ID),
    ),
    sort: { date: '$desc' },
    bounds: [BEFORE_D, { sqlite: />\?/, postgres: />= '20260112/ }],
  },
  {
    about: 'of texts that are longer than what the index contains',
    query: any(is('title', '>', T), all(is('title', '=', T), AFTER_ID)),
    sort: { title: '$asc' },
    bounds: [{ sqlite: />\?/, postgres: />= '𝔹+/ }],
  },
  {
    about: 'with different values, of which the loosest holds',
    query: any(all(is('rank', '<', 30), is('flag', '=', true)), is('rank', '<=', 9), is('rank', '=', 33)),
    sort: { rank: '$asc' },
    bounds: [{ sqlite: /<\?/, postgres: /<= '?33/ }],
  },
  {
    about: 'by _id alone',
    query: any(is('_id', '<', 'd00100'), all(is('_id', '=', 'd00100'), is('flag', '=', true))),
    sort: { _id: '$desc' },
    bounds: [{ sqlite: /\(id<\?\)/, postgres: /<= 'd00100'/ }],
  },
]

onEveryStore(() => {
  test('pages: a keyset that the client wrote begins where an index has its beginning', async (t) => {
    await using tester = await openTenant()
    const { entity, service, location } = tester
    await tester.define(entity, FIELDS, { info: { indexes: INDEXES } })
    await tester.store(entity, DOCUMENTS)
    if (storeKind() === 'postgres') await rowsOf(location, () => 'analyze')
    for (const { about, query, sort, bounds } of CASES) {
      await t.test(about, async () => {
        const body = { sort, projection: { field: '_id' } }
        const response = await service.data.explain(ADMIN, { entity }, { ...body, query, range: [0, 19] })
        const explained = documentsOf(response)[0]?.[storeKind()] as JsonObject | undefined
        assert.ok(explained, printResponse(response))
        const conditions = await indexConditions(location, explained)
        for (const bound of bounds) assert.match(conditions, bound[storeKind()], JSON.stringify(explained))
        assert.doesNotMatch(conditions, /MULTI-INDEX OR|TEMP B-TREE FOR ORDER BY/)
        const found = documentsOf(await tester.find(entity, { ...body, query }))
        assert.deepEqual(found, documentsOf(await tester.find(entity, { ...body, query: withoutOr(query) })))
        assert.ok(found.length > 0 && found.length < MANY)
      })
    }
  })
})

/** The same condition by negations, from which no bound follows. */
function withoutOr(query: JsonObject): JsonObject {
  const { $or, $and } = query as { readonly [key in '$or' | '$and']?: readonly JsonObject[] }
  if ($and) return { $and: $and.map(withoutOr) }
  return $or ? { $not: { $and: $or.map((each) => ({ $not: withoutOr(each) })) } } : query
}

/** On a cluster, the documents of a shard are so few that a worker may rather read all of them. */
const WITHOUT_SCANS = [
  'begin',
  `set local citus.propagate_set_commands = 'local'`,
  'set local enable_seqscan = off',
]

/** The conditions by which the engine searches its indexes. */
async function indexConditions(location: string, { query, plan }: JsonObject): Promise<string> {
  if (storeKind() === 'sqlite') {
    const { winningPlan } = (plan as JsonObject)['queryPlanner'] as JsonObject
    const { steps } = winningPlan as { readonly steps: readonly string[] }
    return steps.join('; ')
  }
  const { sql, parameters } = query as { readonly sql: string; readonly parameters: unknown[] }
  let conditions: readonly string[] = []
  await withClient(async (client) => {
    await client.query(`set search_path = ${new URL(location).searchParams.get('schema')}`)
    if (citusUrl() !== undefined) for (const text of WITHOUT_SCANS) await client.query(text)
    const { rows } = await client.query<Record<string, string>>(`explain (costs off) ${sql}`, parameters)
    conditions = rows.map((row) => row['QUERY PLAN']!).filter((line) => line.includes('Index Cond:'))
  })
  return conditions.join('; ')
}
