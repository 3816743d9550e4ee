/** Faults of our own: the caller learns that there was one, and whoever keeps the log learns what it was. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ADMIN, EVERYTHING, metadataDocument, openServiceAt } from '../support/service.ts'
import { freshPlace, onEveryStore } from '../support/store-kind.ts'

onEveryStore(() => {
  test('bulk: an entry that fails by our fault says only that, and the fault is told', async () => {
    const faults: unknown[] = []
    await using place = await freshPlace()
    const service = await openServiceAt(place.location, { onInternalError: (error) => faults.push(error) })
    const target = { entity: 'e', version: '1.0.0' }
    await service.metadata.create(ADMIN, target, metadataDocument('e', { a: { type: 'string' } }))
    // A store that is gone is a fault that every read meets.
    await service[Symbol.asyncDispose]()
    const request = { entity: 'e', query: { field: 'a', op: '=', rvalue: 'x' }, projection: EVERYTHING }
    const text = await service.data.bulk(ADMIN, { requests: [{ seq: 7, op: 'find', request }] })
    const { responses } = JSON.parse(text) as { responses: { seq: number; response: { errors: [object] } }[] }
    assert.deepEqual(responses[0]!.response.errors, [
      {
        objectType: 'error',
        context: 'bulk',
        errorCode: 'crud:Internal',
        msg: 'something went wrong on our side; see the log',
      },
    ])
    assert.equal(faults.length, 1)
  })
})
