/** The full-text tables of SQLite contain the documents that there are, and nothing of those that were deleted. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { ADMIN, documentsOf, openTestService } from '../support/service.ts'
import { useStore, directoryOf } from '../support/store-kind.ts'

useStore('sqlite')

const MANY = 600
const INDEX = { name: 'text', kind: 'text', fields: [{ field: 'title' }] }

test('text search: deleted documents leave no rows behind', async () => {
  await using tester = await openTestService()
  const { service, location } = tester
  const target = { entity: 'note' }
  await tester.define('note', { title: { type: 'string' } }, { info: { indexes: [INDEX] } })
  // In several transactions, so that deletes meet words in segments of their own.
  for (let round = 0; round < 3; round++) {
    const data = Array.from({ length: MANY / 3 }, (_, i) => ({ _id: `${round} ${i}`, title: `word${i} all` }))
    await service.data.insert(ADMIN, target, { data })
  }
  for (let i = 0; i < 20; i++) {
    const query = { field: '_id', op: '=', rvalue: `1 ${i}` }
    const deleted = await service.data.delete(ADMIN, target, { query })
    assert.equal(deleted.modifiedCount, 1)
    const update = { $set: { title: `other${i} all` } }
    const changed = await service.data.update(ADMIN, target, {
      query: { field: '_id', op: '=', rvalue: `2 ${i}` },
      update,
    })
    assert.equal(changed.modifiedCount, 1)
  }
  const left = await service.data.delete(ADMIN, target, { query: { field: '_id', regex: '^[01]' } })
  assert.equal(left.modifiedCount, (MANY * 2) / 3 - 20)
  const found = async (text: string): Promise<number> =>
    documentsOf(await service.data.find(ADMIN, target, { query: { text }, projection: { field: '_id' } }))
      .length
  assert.equal(await found('all'), MANY / 3)
  assert.equal(await found('word5'), 0)
  assert.equal(await found('other5'), 1)
  assert.equal(await found('word50'), 1)
  using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
  const [table] = database
    .prepare(`select name from sqlite_schema where name like 'words_%_docsize'`)
    .all() as { readonly name: string }[]
  const { count } = database.prepare(`select count(*) as count from ${table!.name}`).get() as {
    readonly count: number
  }
  assert.equal(count, MANY / 3)
})
