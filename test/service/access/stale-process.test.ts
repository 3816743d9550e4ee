/** Two processes on one database: one that has not heard of a new version yet must not show what belongs to it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  ADMIN,
  ANYONE,
  EVERYTHING,
  callerWith,
  metadataDocument,
  openServiceAt,
} from '../../support/service.ts'
import { useStore, freshPlace } from '../../support/store-kind.ts'

useStore('postgres')

test('access: a process that is behind shows no field of a version it does not know', async () => {
  await using place = await freshPlace()
  await using ahead = await openServiceAt(place.location)
  const secret = { type: 'string', access: { find: ['boss'], insert: ['anyone'], update: ['anyone'] } }
  const guest = callerWith('guest')
  for (let round = 0; round < 5; round++) {
    const entity = `t${round}`
    const fields = { _id: { type: 'string', constraints: { identity: true } }, a: { type: 'string' } }
    await ahead.metadata.create(ADMIN, { entity, version: '1.0.0' }, metadataDocument(entity, fields))
    await using behind = await openServiceAt(place.location)
    const find = { query: { field: 'a', op: '=', rvalue: 'x' }, projection: EVERYTHING }
    const target = { entity, version: '1.0.0' }
    await behind.data.find(guest, target, find)
    const schema = { version: { value: '2.0.0', changelog: 'secret' }, access: ANYONE }
    const next = metadataDocument(entity, { ...fields, secret }, { schema })
    await ahead.metadata.createSchema(ADMIN, { entity, version: '2.0.0' }, next['schema'])
    const data = { _id: '1', a: 'x', secret: 'hush' }
    await ahead.data.insert(guest, { entity, version: '2.0.0' }, { data })
    // As long as nothing tells it, and after a write of its own that carries the member over.
    const seen = await behind.data.find(guest, target, find)
    assert.deepEqual(seen.processed, [`{"objectType":"${entity}","_id":"1","a":"x"}`])
    const update = { query: find.query, update: { $set: { a: 'y' } }, projection: EVERYTHING }
    const updated = await behind.data.update(guest, target, update)
    assert.equal(updated.modifiedCount, 1)
    const again = await behind.data.find(guest, target, {
      ...find,
      query: { field: '_id', op: '=', rvalue: '1' },
    })
    for (const text of [...updated.processed!, ...again.processed!]) assert.ok(!text.includes('hush'), text)
  }
})
