/** Which index serves a page by cursor, and equality on a unique index that ignores case. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { ADMIN, documentsOf } from '../../support/service.ts'
import { openTenant } from '../../support/shared-service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

const FIELDS: JsonObject = {
  city: { type: 'string' },
  mail: { type: 'string' },
  date: { type: 'date' },
  rank: { type: 'integer' },
  price: { type: 'bigdecimal' },
  flag: { type: 'boolean' },
}
const index = (...fields: readonly (string | JsonObject)[]): JsonObject => ({
  fields: fields.map((field) => (typeof field === 'string' ? { field } : field)),
})
const INDEXES: Json = [
  index({ field: 'date', dir: '$desc' }),
  index('city', 'rank'),
  index('price'),
  { ...index({ field: 'mail', caseInsensitive: true }), unique: true },
  index('flag', { field: 'rank', dir: '$desc' }),
]
const MANY = 3_000
const day = (i: number): string => `2026-01-${String(1 + (i % 28)).padStart(2, '0')}T00:00:00Z`
const DOCUMENTS: Json = Array.from({ length: MANY }, (_, i) => ({
  _id: `d${String((i * 7919) % MANY).padStart(5, '0')}`,
  ...(i % 11 !== 0 && { city: ['Bern', 'Basel', '𝔹', '\uffee', 'bern'][i % 5] }),
  mail: `User${i}@Example.org`,
  ...(i % 7 !== 0 && { date: day(i) }),
  ...(i % 5 !== 0 && { rank: i % 40 }),
  ...(i % 3 !== 0 && { price: `${(i % 50) - 25}.${'0'.repeat(i % 3)}5` }),
  ...(i % 4 !== 0 && { flag: i % 8 < 4 }),
}))
const BERN: JsonObject = { field: 'city', op: '=', rvalue: 'Bern' }

onEveryStore(() => {
  test('pages: whichever index serves them, they are the find without pages', async () => {
    await using tester = await openTenant()
    const { entity, service } = tester
    await tester.define(entity, FIELDS, { info: { indexes: INDEXES } })
    await tester.store(entity, DOCUMENTS)
    const projection = { field: '_id' }
    const explain = async (body: JsonObject): Promise<JsonObject> => {
      const response = await service.data.explain(ADMIN, { entity }, { ...body, projection })
      const explained = documentsOf(response)[0]?.[storeKind()] as JsonObject | undefined
      assert.ok(explained, printResponse(response))
      const { sql } = explained['query'] as { readonly sql: string }
      assert.doesNotMatch(sql, /select \* from doc/, 'rows have only the columns that are selected')
      return ((explained['plan'] as JsonObject)['queryPlanner'] as JsonObject)['winningPlan'] as JsonObject
    }
    const SORTS: readonly (readonly [JsonObject, stage: 'INDEX' | 'ID' | 'SCAN'])[] = [
      [{ sort: { date: '$desc' } }, 'INDEX'],
      [{ sort: { date: '$asc' } }, 'INDEX'],
      [{ sort: { price: '$asc' } }, 'INDEX'],
      [{ sort: { price: '$desc' } }, 'INDEX'],
      [{ sort: { city: '$asc' } }, 'INDEX'],
      [{ sort: [{ city: '$desc' }, { rank: '$desc' }] }, 'INDEX'],
      [{ sort: [{ flag: '$asc' }, { rank: '$desc' }] }, 'INDEX'],
      [{ sort: [{ city: '$asc' }, { rank: '$desc' }, { price: '$asc' }] }, 'INDEX'],
      [{ query: BERN, sort: { rank: '$asc' } }, 'INDEX'],
      [{ query: BERN, sort: { rank: '$desc' } }, 'INDEX'],
      [{ sort: { _id: '$desc' } }, 'ID'],
      [{ sort: [{ rank: '$asc' }, { _id: '$desc' }] }, 'SCAN'],
      [{ sort: [] }, 'ID'],
    ]
    for (const [body, stage] of SORTS) {
      const about = JSON.stringify(body)
      const { processed = [] } = await service.data.find(ADMIN, { entity }, { ...body, projection })
      const walked = await walk({ service, entity, body: { ...body, projection }, size: 400 })
      assert.deepEqual(walked, processed, about)
      const { next } = await service.data.find(
        ADMIN,
        { entity },
        { ...body, projection, page: { size: 700 } },
      )
      if (next === undefined) continue
      const plan = await explain({ ...body, page: { size: 10, after: next } })
      assert.equal(plan['stage'], stage, `${about} ${JSON.stringify(plan)}`)
      const scans = (plan['steps'] as readonly string[]).filter((step) => /^SCAN doc|^Seq Scan/.test(step))
      assert.equal(scans.length > 0, stage === 'SCAN', `${about} ${JSON.stringify(plan)}`)
    }
    const mails: readonly JsonObject[] = [
      { field: 'mail', op: '=', rvalue: 'User77@Example.org' },
      { field: 'mail', op: '$in', values: ['User77@Example.org', 'user78@Example.org'] },
    ]
    for (const query of mails) {
      const found = await service.data.find(ADMIN, { entity }, { query, projection: { field: 'mail' } })
      assert.deepEqual(documentsOf(found), [{ mail: 'User77@Example.org' }])
      const { stage, indexes, ...plan } = await explain({ query })
      assert.equal(stage, 'INDEX', `${JSON.stringify(query)} ${JSON.stringify(plan)}`)
      const mail = { field: 'mail', dir: '$asc', caseInsensitive: true }
      assert.deepEqual(indexes, [{ unique: true, fields: [mail] }])
    }
  })
})
