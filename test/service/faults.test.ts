/** Faults of our own: the caller learns that there was one, and whoever keeps the log learns what it was. */
import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import { ADMIN, EVERYTHING, openTestService } from '../support/service.ts'

test('bulk: an entry that fails by our fault says only that, and the fault is told', async () => {
  const faults: unknown[] = []
  const on = await openTestService({ onInternalError: (error) => faults.push(error) })
  await on.define('e', { a: { type: 'string' } })
  // A store that is gone is a fault that every read meets.
  await on.service[Symbol.asyncDispose]()
  const request = { entity: 'e', query: { field: 'a', op: '=', rvalue: 'x' }, projection: EVERYTHING }
  const text = await on.service.data.bulk(ADMIN, { requests: [{ seq: 7, op: 'find', request }] })
  const { responses } = JSON.parse(text) as { responses: { seq: number; response: { errors: [object] } }[] }
  assert.deepEqual(responses[0]!.response.errors, [
    {
      objectType: 'error',
      context: 'bulk',
      errorCode: 'crud:Internal',
      msg: 'something went wrong on our side; the log tells more',
    },
  ])
  assert.equal(faults.length, 1)
  rmSync(on.directory, { recursive: true, force: true })
})
