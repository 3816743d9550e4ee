/** Aggregates over HTTP, in a bulk, in a transaction, in threads, and at their limits. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { citusUrl } from '../../support/citus.ts'
import { rowsOf } from '../../support/postgres.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

const FIELDS = {
  n: { type: 'integer' },
  half: { type: 'integer' },
  city: { type: 'string' },
  note: { type: 'string' },
}
const INDEXES = [{ name: 'by city', fields: [{ field: 'city', dir: '$asc' }] }]
const GROUPS = 10_001
/** So much that an index on another field is a small part of the table. */
const NOTE = 'n'.repeat(300)

async function filled(): Promise<TestServer> {
  const server = await startTestServer()
  await server.define('d', FIELDS, { info: { indexes: INDEXES } })
  const data = Array.from({ length: GROUPS }, (_, n): Json => ({
    n,
    half: n >> 1,
    city: `c${n % 3}`,
    note: NOTE,
  }))
  const { status } = await server.ask('PUT', '/data/insert/d', { body: { data } })
  assert.equal(status, 200)
  return server
}

async function vacuum(location: string): Promise<void> {
  const tables = await rowsOf(
    location,
    (schema) => `select relname from pg_class where relnamespace = '${schema}'::regnamespace
      and relkind = 'r' and relname like 'doc\\_%'`,
  )
  for (const { relname } of tables) {
    await rowsOf(location, (schema) => `vacuum (analyze) ${schema}.${String(relname)}`)
  }
}

onEveryStore(() => {
  test('aggregate: over HTTP', async (t) => {
    await using server = await filled()
    const ask = (body: Json, path = '/data/aggregate/d') => server.ask('POST', path, { body })

    await t.test('more than 10,000 groups need a range', async () => {
      const { status, json } = await ask({ groupBy: ['n'] })
      assert.equal(status, 400)
      assert.equal(json.errors[0].errorCode, 'crud:LimitExceeded')
      assert.match(json.errors[0].msg, /range/)
      const ranged = await ask({ groupBy: ['n'], sort: { n: '$desc' }, range: [1, 2] })
      assert.deepEqual(ranged.json.processed, [{ n: GROUPS - 2 }, { n: GROUPS - 3 }])
      assert.equal(ranged.json.matchCount, GROUPS)
      const all = await ask({ groupBy: ['n'], range: [0, GROUPS] })
      assert.equal(all.json.processed.length, GROUPS)
    })
    await t.test('exactly as many as the limit need none', async () => {
      const { json } = await ask({ groupBy: ['n'], having: { field: 'n', op: '>', rvalue: 0 } })
      assert.equal(json.processed.length, GROUPS - 1)
      assert.equal(json.matchCount, GROUPS - 1)
    })
    await t.test('members of many groups are compared with each other', async () => {
      const body = {
        groupBy: ['half'],
        values: { a: { $min: 'n' }, b: { $max: 'n' } },
        having: { field: 'a', op: '=', rfield: 'b' },
      }
      assert.deepEqual((await ask(body)).json.processed, [{ half: 5000, a: 10000, b: 10000 }])
    })
    await t.test('with and without a version, and counting only on request', async () => {
      const body = { groupBy: ['city'], values: { s: { $sum: 'n' } } }
      const plain = await ask(body)
      assert.equal(plain.status, 200)
      assert.deepEqual(
        plain.json.processed.map(({ s }: { s: number }) => s),
        [16668333, 16671667, 16665000],
      )
      assert.equal((await ask(body, '/data/aggregate/d/1.0.0')).text, plain.text)
      assert.equal((await ask({ ...body, execution: { count: 'none' } })).json.matchCount, 0)
      assert.equal((await ask(body, '/rest/data/aggregate/d')).text, plain.text)
    })
    await t.test('a bulk runs it beside other requests, and in one transaction with them', async () => {
      for (const atomic of [false, true]) {
        const requests = [
          { seq: 1, op: 'insert', request: { entity: 'd', data: { n: -1, city: 'new' } } },
          {
            seq: 2,
            op: 'aggregate',
            request: {
              entity: 'd',
              query: { field: 'city', op: '=', rvalue: 'new' },
              values: { n: { $count: true } },
            },
          },
          {
            seq: 3,
            op: 'delete',
            request: { entity: 'd', query: { field: 'city', op: '=', rvalue: 'new' } },
          },
        ]
        const { json } = await ask({ requests, atomic }, '/data/bulk')
        assert.deepEqual(json.responses[1].response.processed, [{ n: 1 }], JSON.stringify(json))
      }
    })
    await t.test('an index serves the groups, and explain shows it', async () => {
      // PostgreSQL reads an index alone where it knows that all rows of a page are visible
      if (storeKind() === 'postgres') await vacuum(server.location)
      const body = { groupBy: ['city'], values: { n: { $count: true } } }
      const { json } = await ask(body, '/data/explain/d')
      const { stage, indexes } = json.processed[0][storeKind()].plan.queryPlanner.winningPlan
      assert.equal(json.matchCount, 3)
      // the shards of a cluster have few rows each, which are read as fast without an index
      if (citusUrl() !== undefined) return
      assert.equal(stage, 'INDEX', JSON.stringify(json.processed))
      assert.equal(indexes[0].fields[0].field, 'city')
    })
    await t.test('the time limit ends it', async () => {
      const keys = Array.from({ length: 30 }, (_, i) => ({ field: i % 2 ? 'n' : 'half', as: `k${i}` }))
      const body = { groupBy: keys, range: [0, 0], execution: { maxTimeMs: 1 } }
      // on a busy machine, the answer may be there before the clock is read
      const attempts = 20
      const statuses: number[] = []
      for (let i = 0; i < attempts && statuses.at(-1) !== 504; i++) {
        const { status, json } = await ask(body)
        statuses.push(status)
        if (status === 504) assert.equal(json.errors[0].errorCode, 'store-crud:Timeout')
      }
      assert.equal(statuses.at(-1), 504, String(statuses))
    })
    assert.deepEqual(server.faults(), [])
  })
})
