/** The lock of metadata changes: whoever waits for it waits for a limited time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConnections } from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { type Transaction, inTransaction } from '../../src/store/postgres/connection/transaction.ts'
import { lockMetadata } from '../../src/store/postgres/schema/metadata-lock.ts'
import { freshPlace } from '../support/store-kind.ts'

const WAIT_MS = 200

test('metadata: a change that another one keeps waiting fails, and goes through later', async () => {
  await using place = await freshPlace('postgres')
  const location = readLocation(place.location)
  await using connections = openConnections(location, assert.ifError)
  const changing = (work: (transaction: Transaction) => Promise<void>): Promise<void> =>
    inTransaction(connections, async (transaction) => {
      await lockMetadata(transaction, location.schema, WAIT_MS)
      await work(transaction)
    })
  const held = Promise.withResolvers<void>()
  const isLocked = Promise.withResolvers<void>()
  const holder = changing(async () => {
    isLocked.resolve()
    await held.promise
  })
  await isLocked.promise
  await assert.rejects(
    changing(() => assert.fail('it did not wait')),
    {
      code: 'crud:Unavailable',
      message: 'another change of metadata has been running for 0.2 s; try again when it has ended',
    },
  )
  held.resolve()
  await holder
  await changing(async (transaction) => {
    const [row] = await transaction.query({ text: 'show lock_timeout', values: [] })
    assert.deepEqual(row, ['0'], 'the limit is one of the lock only')
  })
})
