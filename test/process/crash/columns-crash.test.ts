/** A process that is killed while it migrates tables leaves nothing wrong, and the next one goes on. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { toEarlierLayout } from '../../support/earlier-layout.ts'
import { checkColumns, isFilled, toEarlierSqlite } from '../../support/earlier-sqlite.ts'
import { rowsOf } from '../../support/postgres.ts'
import { SEED } from '../../support/seed.ts'
import { chanceFrom } from '../../support/seeded.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { directoryOf, freshPlace, onEveryStore, storeKind } from '../../support/store-kind.ts'

const KILLS = Number(process.env['CASES'] ?? 4)
const DOCUMENTS = 6_000
const GROUPS = 10
const BOUNDED = { timeout: 500_000 }

const FIELDS = {
  _id: { type: 'string' },
  group: { type: 'integer' },
  name: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
}
const INDEXES = [{ fields: [{ field: 'name' }] }, { fields: [{ field: 'tags.*' }] }]

onEveryStore(() => {
  test(
    `crash: ${KILLS} kills in the middle of a migration, and every answer is right (SMALT_SEED=${SEED})`,
    BOUNDED,
    async (t) => {
      const chance = chanceFrom(SEED)
      await using place = await freshPlace()
      {
        await using smalt = await startSmalt(place.location)
        await smalt.ask(
          'PUT',
          '/metadata/item/1.0.0',
          metadataDocument('item', FIELDS, { info: { indexes: INDEXES } }),
        )
        await store(smalt)
      }
      await toEarlier(place.location)
      let interrupted = 0
      let changed = 0
      for (let round = 0; round < KILLS; round++) {
        await using smalt = await startSmalt(place.location)
        // every other process is killed early, because a fast one is done after a change and its checks
        if (round % 2 === 1 && changed < GROUPS - 1) {
          await change(smalt, changed)
          await sleep(chance(250))
          await check(smalt, ++changed)
        } else await sleep(chance(30))
        await smalt.kill('SIGKILL')
        if (!(await isComplete(place.location))) interrupted++
        else await toEarlier(place.location)
      }
      t.diagnostic(`${interrupted} of ${KILLS} kills came in the middle`)
      assert.ok(interrupted > 0)
      await using smalt = await startSmalt(place.location)
      while (!(await isComplete(place.location))) await sleep(50)
      await check(smalt, changed)
      if (storeKind() === 'sqlite') checkColumns(directoryOf(place.location))
    },
  )
})

async function toEarlier(location: string): Promise<void> {
  if (storeKind() === 'sqlite') toEarlierSqlite(directoryOf(location))
  else await toEarlierLayout(location)
}

async function store(smalt: SmaltProcess): Promise<void> {
  for (let from = 0; from < DOCUMENTS; from += 500) {
    const data = Array.from({ length: 500 }, (_, i) => documentOf(from + i))
    const { json } = await smalt.ask('PUT', '/data/insert/item', { data })
    assert.equal((json as JsonObject)['modifiedCount'], 500, JSON.stringify(json))
  }
}

function documentOf(i: number): JsonObject {
  return { _id: `d${i}`, group: i % GROUPS, name: `n${i}`, tags: [`t${i % 7}`, 'all'] }
}

/** One group after the other gets other values, while the process fills columns. */
async function change(smalt: SmaltProcess, round: number): Promise<void> {
  const body = {
    query: { field: 'group', op: '=', rvalue: round },
    update: { $set: { name: 'changed', group: 100 + round } },
  }
  const { json } = await smalt.ask('POST', '/data/update/item', body)
  assert.equal((json as JsonObject)['modifiedCount'], DOCUMENTS / GROUPS, JSON.stringify(json))
}

async function check(smalt: SmaltProcess, changed: number): Promise<void> {
  const each = DOCUMENTS / GROUPS
  const questions: readonly (readonly [query: JsonObject, count: number])[] = [
    [{ field: 'name', op: '=', rvalue: 'changed' }, changed * each],
    [{ field: 'group', op: '>=', rvalue: 100 }, changed * each],
    [{ field: 'group', op: '=', rvalue: changed - 1 }, 0],
    [{ field: 'group', op: '=', rvalue: GROUPS - 1 }, each],
    [{ field: 'name', regex: '^n' }, DOCUMENTS - changed * each],
    [{ field: 'tags.*', op: '=', rvalue: 'all' }, DOCUMENTS],
    [{ field: 'name', op: '=', rvalue: null }, 0],
  ]
  for (const [query, count] of questions) {
    const body = { query, projection: { field: '_id' }, range: [0, 0] }
    const { json } = await smalt.ask('POST', '/data/find/item', body)
    assert.equal((json as JsonObject)['matchCount'], count, JSON.stringify([query, json]))
  }
}

async function isComplete(location: string): Promise<boolean> {
  if (storeKind() === 'sqlite') return isFilled(directoryOf(location))
  const rows = await rowsOf(location, (schema) => `select layout from ${schema}.smalt_collection`)
  return rows.every(({ layout }) => {
    if (typeof layout !== 'string') return false
    const { hasBody, columns } = JSON.parse(layout) as {
      hasBody: boolean
      columns: readonly { isFilled: boolean }[]
    }
    return !hasBody && columns.every(({ isFilled }) => isFilled)
  })
}
