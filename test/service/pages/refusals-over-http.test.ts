/** Pages of saved searches over HTTP, and the exact status and code of cursors and aggregates that are refused. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { EVERYTHING } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const SORT = { rank: '$asc' }

async function open(): Promise<TestServer> {
  const server = await startTestServer()
  await server.define('item', { rank: { type: 'integer' }, name: { type: 'string' } })
  const data = [3, 1, 2].map((rank) => ({ _id: `i${rank}`, rank }))
  const stored = await server.ask('PUT', '/data/insert/item', { body: { data } })
  assert.equal(stored.json.status, 'COMPLETE', stored.text)
  return server
}

onEveryStore(() => {
  test('saved search: its pages follow each other over HTTP', async () => {
    await using server = await open()
    const query = { field: 'rank', op: '>=', rvalue: '${least}' }
    const parameters = [{ name: 'least', type: 'integer' }]
    const data = { name: 'ranked', entity: 'item', query, sort: SORT, parameters }
    const saved = await server.ask('PUT', '/data/insert/savedSearch', { body: { data }, roles: ['admin'] })
    assert.equal(saved.json.status, 'COMPLETE', saved.text)
    const seen: Json[] = []
    for (let after = ''; ;) {
      const { status, json, text } = await server.ask(
        'GET',
        `/data/search/item/ranked?least=1&size=2&after=${after}`,
      )
      assert.equal(status, 200, text)
      seen.push((json.processed as JsonObject[]).map(({ rank }) => rank!))
      if (json.next === undefined) break
      after = json.next
    }
    assert.deepEqual(seen, [[1, 2], [3]])
  })

  test('cursor: one that is broken, or of another sort, is 400 crud:InvalidCursor', async () => {
    await using server = await open()
    const find = (body: JsonObject) =>
      server.ask('POST', '/data/find/item', { body: { projection: EVERYTHING, ...body } })
    const { json } = await find({ sort: SORT, page: { size: 1 } })
    for (const body of [
      { sort: SORT, page: { size: 1, after: 'broken' } },
      { sort: { rank: '$desc' }, page: { size: 1, after: json.next } },
    ]) {
      const refused = await find(body)
      assert.deepEqual([refused.status, refused.json.errors[0].errorCode], [400, 'crud:InvalidCursor'])
    }
  })

  test('aggregate: one that is not valid is 400 query-api:InvalidAggregation', async () => {
    await using server = await open()
    for (const body of [
      { groupBy: 'rank' },
      { values: { n: { $median: 'rank' } } },
      { groupBy: [{ field: 'rank', truncate: 'day' }] },
      { groupBy: ['rank'], values: { total: { $sum: 'name' } } },
    ]) {
      const { status, json, text } = await server.ask('POST', '/data/aggregate/item', { body })
      assert.deepEqual([status, json.errors?.[0].errorCode], [400, 'query-api:InvalidAggregation'], text)
    }
  })
})
