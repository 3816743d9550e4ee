/** A store that moves into a cluster and out again is the same as before. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../src/base/json/json.ts'
import { move } from '../../src/service/move/move.ts'
import { ADMIN, EVERYTHING, documentsOf, openServiceAt, openTestService } from '../support/service.ts'
import { chooseStore, freshPlace } from '../support/store-kind.ts'

const COUNT = 2_000

test('citus: a move in and out keeps documents, versions, history and unique values', async () => {
  chooseStore('sqlite')
  await using tester = await openTestService()
  const indexes = [{ fields: [{ field: 'code' }], unique: true }, { fields: [{ field: 'n' }] }]
  const fields = { code: { type: 'string' }, n: { type: 'integer' } }
  await tester.define('item', fields, { info: { indexes, history: true } })
  const documents = Array.from({ length: COUNT }, (_, n): JsonObject => ({ _id: `k${n}`, code: `c${n}`, n }))
  await tester.store('item', documents)
  const query = { field: 'n', op: '<', rvalue: 50 }
  await tester.service.data.update(ADMIN, { entity: 'item' }, { query, update: { $add: { n: COUNT } } })
  const before = await stateOf(tester.service)
  await tester.service[Symbol.asyncDispose]()
  await using cluster = await freshPlace('postgres')
  await using back = await freshPlace('sqlite')
  await move({ from: tester.location, to: cluster.location })
  {
    chooseStore('postgres')
    await using service = await openServiceAt(cluster.location)
    assert.deepEqual(await stateOf(service), before)
    const taken = { data: { _id: 'other', code: 'c7', n: 0 } }
    assert.equal((await service.data.insert(ADMIN, { entity: 'item' }, taken)).status, 'ERROR')
  }
  await move({ from: cluster.location, to: back.location })
  chooseStore('sqlite')
  await using service = await openServiceAt(back.location)
  assert.deepEqual(await stateOf(service), before)
})

type Service = Awaited<ReturnType<typeof openServiceAt>>

async function stateOf({ data }: Service): Promise<readonly unknown[]> {
  const found = await data.find(ADMIN, { entity: 'item' }, { projection: EVERYTHING, sort: { _id: '$asc' } })
  assert.equal(documentsOf(found).length, COUNT)
  const history = await data.history(ADMIN, { entity: 'item', id: 'k7' }, new URLSearchParams())
  return [documentsOf(found), found.resultMetadata, history]
}
