/** Connections of PostgreSQL: which statements are planned once for all values, and which for each set of values. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type pg from 'pg'
import type { JsonObject } from '../../src/base/json/json.ts'
import { type PlanChoice, choosePlans } from '../../src/store/postgres/connection/plan-choice.ts'
import { createPipeline } from '../../src/store/postgres/connection/pipeline.ts'
import { createStatementNames } from '../../src/store/postgres/connection/statement-names.ts'
import { citusUrl } from '../support/citus.ts'
import { rowsOf } from '../support/postgres.ts'
import { ADMIN, documentsOf, openTestService } from '../support/service.ts'
import { chooseStore } from '../support/store-kind.ts'
import { withClient } from './raw-client.ts'

const GENERIC = 'force_generic_plan'

test('plans: a choice is sent once, and holds until another one', async () => {
  await withClient(async (client) => {
    const sent = countQueries(client)
    const choices: readonly PlanChoice[] = ['auto', 'generic', 'generic', 'auto', 'auto', 'generic']
    const modes: string[] = []
    for (const choice of choices) {
      choosePlans(client, choice)
      modes.push(await modeOf(client))
    }
    assert.deepEqual(modes, ['auto', GENERIC, GENERIC, 'auto', 'auto', GENERIC])
    assert.equal(sent.count - modes.length, 3)
  })
})

test('plans: a choice that failed is sent again', async () => {
  await withClient(async (client) => {
    await client.query('begin')
    await assert.rejects(client.query('select 1 / 0'))
    choosePlans(client, 'generic')
    await client.query('rollback')
    assert.equal(await modeOf(client), 'auto')
    choosePlans(client, 'generic')
    assert.equal(await modeOf(client), GENERIC)
  })
})

test('plans: a choice that failed is not taken for the default', async () => {
  await withClient(async (client) => {
    choosePlans(client, 'generic')
    await client.query('begin')
    await assert.rejects(client.query('select 1 / 0'))
    choosePlans(client, 'auto')
    await client.query('rollback')
    assert.equal(await modeOf(client), GENERIC)
    choosePlans(client, 'auto')
    assert.equal(await modeOf(client), 'auto')
  })
})

test('plans: each statement of a pipeline has its own choice', async () => {
  await withClient(async (client) => {
    const pipeline = createPipeline(client, createStatementNames())
    const latency = { note: () => undefined, exclude: () => undefined }
    const statement = { text: 'show plan_cache_mode', values: [] }
    const choices = ['generic', undefined, 'generic', 'generic', 'auto'] as const
    const rows = await Promise.all(choices.map((choice) => pipeline.query(statement, latency, choice)))
    assert.deepEqual(rows.flat(2), [GENERIC, 'auto', GENERIC, GENERIC, 'auto'])
  })
})

test('plans: a page that only follows an index is read by that index, whatever its values', async (t) => {
  if (citusUrl() !== undefined) return t.skip('on a cluster each page is planned for its values')
  chooseStore('postgres')
  await using tester = await openTestService()
  await tester.define(
    'thing',
    { at: { type: 'date' } },
    { info: { indexes: [{ fields: [{ field: 'at' }] }] } },
  )
  const dates = (count: number, step: number) =>
    Array.from({ length: count }, (_, i) => ({ at: new Date(((i * 7_919) % count) * step).toISOString() }))
  await tester.store('thing', dates(300, 1e9))
  const page = async (size: number): Promise<string> => {
    const find = { projection: { field: '_id' }, sort: { at: '$desc' } }
    const { next } = await tester.find('thing', { ...find, page: { size } })
    const body = { ...find, page: { size, after: next! } }
    const explained = documentsOf(await tester.service.data.explain(ADMIN, { entity: 'thing' }, body))[0]!
    return ((explained['postgres'] as JsonObject)['query'] as { readonly sql: string }).sql
  }
  const text = await page(100)
  assert.equal(await page(97), text, 'pages of similar sizes share a statement')
  assert.match(await page(20), / limit 24\)/, 'little is read that is not asked for')
  await withClient(async (client) => {
    await client.query(`set search_path = ${new URL(tester.location).searchParams.get('schema')}`)
    choosePlans(client, 'generic')
    await client.query(`prepare page as ${text}`)
    const nothing = Array.from({ length: new Set(text.match(/\$\d+/g)).size }, () => 'null').join()
    const planned = async (): Promise<string> => {
      const { rows } = await client.query<Record<string, string>>(
        `explain (costs off) execute page(${nothing})`,
      )
      return rows.map((row) => row['QUERY PLAN']!.trim()).join('; ')
    }
    const byIndex = /Incremental Sort; .*Index (?:Only )?Scan Backward using/
    await planned()
    await tester.store('thing', dates(20_000, 1e6))
    // The plan was made for a small table, and nothing has told the server that it has grown.
    const later = performance.now() + 11_000
    t.mock.method(performance, 'now', () => later)
    choosePlans(client, 'generic')
    const grown = await planned()
    assert.match(grown, byIndex)
    assert.doesNotMatch(grown, /Seq Scan/)
    await rowsOf(tester.location, () => 'analyze')
    const analysed = await planned()
    assert.match(analysed, byIndex)
    assert.doesNotMatch(analysed, /Seq Scan|Bitmap/)
  })
})

async function modeOf(client: pg.PoolClient): Promise<string> {
  const { rows } = await client.query<{ plan_cache_mode: string }>('show plan_cache_mode')
  return rows[0]!.plan_cache_mode
}

function countQueries(client: pg.PoolClient): { readonly count: number } {
  const seen = { count: 0 }
  const query = client.query.bind(client) as (...given: unknown[]) => unknown
  Object.assign(client, { query: (...given: unknown[]) => (seen.count++, query(...given)) })
  return seen
}
