/**
 * Random walks by cursor while a second client inserts, updates and deletes: a document that does not change is on
 * exactly one page, in its place in the order.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { printResponse } from '../../../src/service/response.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { SEED } from '../../support/seed.ts'
import { ADMIN } from '../../support/service.ts'
import { openTenant } from '../../support/shared-service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { walk } from './walk.ts'

const FIELDS: JsonObject = {
  still: { type: 'boolean' },
  n: { type: 'integer' },
  amount: { type: 'bigdecimal' },
  date: { type: 'date' },
  text: { type: 'string' },
  list: { type: 'array', items: { type: 'integer' } },
}
const INDEXES: Json = [
  { fields: [{ field: 'n' }, { field: 'date', dir: '$desc' }] },
  { fields: [{ field: 'text' }] },
  { fields: [{ field: 'amount', dir: '$desc' }] },
]
const TEXTS = ['', 'a', 'A', 'b', 'ä', '\uffee', '𝔸', 'x'.repeat(900), `${'x'.repeat(900)}y`]
const WALKS = 12
const STILL = 120

onEveryStore(() => {
  test(`pages: no document that does not change is skipped or repeated (SMALT_SEED=${SEED})`, async () => {
    await using tester = await openTenant()
    const { entity, service } = tester
    await tester.define(entity, FIELDS, { info: { indexes: INDEXES } })
    const still = sampleEvenly(SEED, (chance) =>
      Array.from({ length: STILL }, (_, i) => ({ ...makeDocument(chance, `s${i}`), still: true })),
    )
    await tester.store(entity, still)
    let [writes, passing] = [0, 0]
    for (let i = 0; i < WALKS; i++) {
      const seed = SEED + 1 + i
      const { sort, size } = sampleEvenly(seed, makeWalk)
      const body = { sort, projection: { field: '_id' } }
      const expected = await service.data.find(
        ADMIN,
        { entity },
        { ...body, query: { field: 'still', op: '=', rvalue: true } },
      )
      assert.equal(expected.status, 'COMPLETE', printResponse(expected))
      const between = async (): Promise<void> => {
        await sampleEvenly(seed * 1_000 + writes++, (chance) => disturb(chance, { entity, service }))
      }
      const walked = await walk({ service, entity, body, size, between })
      const found = walked.filter((text) => text.startsWith('{"_id":"s'))
      assert.deepEqual(found, expected.processed, `walk ${i}: ${JSON.stringify({ sort, size })}`)
      passing += walked.length - found.length
    }
    assert.ok(writes > WALKS * 5 && passing > 100, `${writes} writes, ${passing} documents in passing`)
  })
})

function makeWalk(chance: Chance): { readonly sort: Json; readonly size: number } {
  const paths = ['n', 'amount', 'date', 'text', 'list.*', 'still', '_id']
  const keys = Array.from({ length: chance.int(4) }, () => ({
    [chance.pick(paths)]: chance.pick(['$asc', '$desc']),
  }))
  return { sort: keys, size: 1 + chance.int(20) }
}

function makeDocument(chance: Chance, _id: string): JsonObject {
  const day = String(1 + chance.int(5)).padStart(2, '0')
  return {
    _id,
    ...(chance.happens(80) && { n: chance.int(5) - 2 }),
    ...(chance.happens(80) && {
      amount: chance.pick(['1.10', '1.1', '-3', '1e3', '12345678901234567890.5']),
    }),
    ...(chance.happens(80) && { date: `2026-01-${day}T00:00:00Z` }),
    ...(chance.happens(80) && { text: chance.pick(TEXTS) }),
    ...(chance.happens(60) && { list: chance.list(3, () => chance.pick([null, 1, 2, 3])) }),
  }
}

type Disturbed = Pick<Awaited<ReturnType<typeof openTenant>>, 'entity' | 'service'>

/** Documents that come, move in the order and go, among them the one at which the page before ended. */
async function disturb(chance: Chance, { entity, service }: Disturbed): Promise<void> {
  const { data } = service
  const moving = { field: '_id', op: '$in', values: Array.from({ length: 6 }, () => `m${chance.int(60)}`) }
  const fresh = Array.from({ length: 4 }, () => makeDocument(chance, `m${chance.int(60)}`))
  const update = {
    $set: { n: chance.int(5) - 2, text: chance.pick(TEXTS), date: '2026-01-03T00:00:00Z' },
    $unset: chance.pick(['amount', 'list']),
  }
  const responses = await Promise.all([
    data.save(ADMIN, { entity }, { data: fresh, upsert: true }),
    data.update(ADMIN, { entity }, { query: moving, update }),
    ...(chance.happens(50) ? [data.delete(ADMIN, { entity }, { query: moving })] : []),
  ])
  for (const response of responses) assert.notEqual(response.status, 'ERROR', printResponse(response))
}
