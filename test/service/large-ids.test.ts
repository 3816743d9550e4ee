/** Whole numbers beyond 2^53 as `_id`, also those that are the shortest digits of a double, which is another integer. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import type { Service } from '../../src/service/service.ts'
import { ADMIN, jsonObject, metadataDocument, openServiceAt } from '../support/service.ts'
import { directoryOf, freshPlace, onEveryStore, storeKind } from '../support/store-kind.ts'

const IDS = ['-1152921504606847000', '9007199254740993', '1152921504606846976', '1152921504606847000', '5']

onEveryStore((kind) => {
  test('insert, find: every digit of an integer _id counts', async () => {
    await using place = await freshPlace(kind)
    await using service = await openServiceAt(place.location)
    await fill(service)
    for (const id of IDS) assert.deepEqual(await idsWhere(service, '=', id), [id])
    assert.deepEqual(await idsWhere(service, '>', '1152921504606846976'), ['1152921504606847000'])
    assert.deepEqual(await idsWhere(service, '<', '0'), ['-1152921504606847000'])
  })
})

test('sqlite: documents are found by large integers that an earlier release stored as doubles', async () => {
  await using place = await freshPlace('sqlite')
  const before = await openServiceAt(place.location)
  await fill(before)
  const update = { query: { $and: [] }, update: { $set: { s: 'y' } } }
  assert.equal((await before.data.update(ADMIN, { entity: 'thing' }, update)).modifiedCount, IDS.length)
  await before[Symbol.asyncDispose]()
  {
    using database = new DatabaseSync(join(directoryOf(place.location), 'smalt.db'))
    const { no } = database.prepare(`select no from smalt_collection where entity = 'thing'`).get()!
    for (const table of ['doc', 'past']) {
      database.exec(`delete from ${table}_${String(no)} where id = 1152921504606846976`)
      database.exec(`update ${table}_${String(no)} set id = cast(id as real) where abs(id) > 1e18`)
    }
    database.exec('pragma user_version = 9')
  }
  await using service = await openServiceAt(place.location)
  for (const id of ['1152921504606847000', '-1152921504606847000', '9007199254740993'])
    assert.deepEqual(await idsWhere(service, '=', id), [id])
  const target = { entity: 'thing', id: '1152921504606847000' }
  const past = await service.data.history(ADMIN, target, new URLSearchParams())
  assert.equal(past.matchCount, 2, JSON.stringify(past))
})

async function fill(service: Service): Promise<void> {
  const fields = { _id: { type: 'integer' }, s: { type: 'string' } }
  const info = { datastore: { backend: storeKind() }, history: true }
  const version = { entity: 'thing', version: '1.0.0' }
  await service.metadata.create(ADMIN, version, metadataDocument('thing', fields, { info }))
  const data = IDS.map((id) => jsonObject(`{"_id":${id},"s":"x"}`))
  const { status } = await service.data.insert(ADMIN, { entity: 'thing' }, { data })
  assert.equal(status, 'COMPLETE')
}

async function idsWhere(service: Service, op: string, id: string): Promise<readonly string[]> {
  const query = jsonObject(`{"field":"_id","op":"${op}","rvalue":${id}}`)
  const body: JsonObject = { query, projection: { field: '_id' } }
  const { processed } = await service.data.find(ADMIN, { entity: 'thing' }, body)
  return processed!.map((text) => text.slice('{"_id":'.length, -1))
}
