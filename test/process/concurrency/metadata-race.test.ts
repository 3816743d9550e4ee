/** Metadata that changes while documents are written: no document may miss an index, none may be refused for it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Json } from '../../../src/base/json/json.ts'
import { ADMIN, documentsOf, openTestService } from '../../support/service.ts'
import { onEveryStore, storeKind } from '../../support/store-kind.ts'

const FIELDS = { _id: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }

function info(indexes: Json): Json {
  return { name: 'e', defaultVersion: '1.0.0', datastore: { backend: storeKind() }, indexes }
}

onEveryStore(() => {
  test('metadata: documents written beside a change of indexes are all found by the new index', async () => {
    await using on = await openTestService()
    await on.define('e', FIELDS)
    const insert = async (i: number): Promise<void> => {
      const { status } = await on.insert('e', { data: { _id: `d${i}`, tags: [`t${i}`] } })
      assert.equal(status, 'COMPLETE')
    }
    const many = (from: number, to: number): Promise<void>[] =>
      Array.from({ length: to - from }, (_, i) => insert(from + i))
    const index = [{ name: 'tags', unique: true, fields: [{ field: 'tags.*', dir: '$asc' }] }]
    await Promise.all([
      ...many(0, 20),
      on.service.metadata.updateInfo(ADMIN, 'e', info(index)),
      ...many(20, 60),
    ])
    for (let i = 0; i < 60; i++) {
      const query = { field: 'tags.*', op: '=', rvalue: `t${i}` }
      const found = documentsOf(await on.find('e', { query, projection: { field: '_id' } }))
      assert.deepEqual(found, [{ _id: `d${i}` }])
    }
    await Promise.all([
      ...many(60, 80),
      on.service.metadata.updateInfo(ADMIN, 'e', info([])),
      ...many(80, 120),
    ])
    const { matchCount } = await on.find('e', { projection: { field: '_id' } })
    assert.equal(matchCount, 120)
  })
})
