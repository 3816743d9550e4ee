/** Failures of nodes, which a cluster reports without their SQLSTATE, have the same meaning as on one server. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import pg from 'pg'
import { ServiceError } from '../../../src/base/errors.ts'
import {
  isCancelled,
  isCollision,
  isDuplicate,
  isLost,
  toServiceError,
  unlessUnknown,
} from '../../../src/store/postgres/connection/failures.ts'

function failure(code: string, message: string): Error {
  return Object.assign(new pg.DatabaseError(message, message.length, 'error'), { code })
}

/** As Citus 13.2 words them. */
const CASES: readonly [message: string, code: string, meaning: (error: unknown) => boolean][] = [
  ['duplicate key value violates unique constraint "claim_1_pkey_102008"', 'XX000', isDuplicate],
  ['deadlock detected', 'XX000', isCollision],
  ['canceling statement due to user request', 'XX000', isCancelled],
  ['failed to COPY to shard 102008 on 127.0.0.1:21501', '58030', isLost],
  ['failure on connection marked as essential: 127.0.0.1:21501', 'XX000', isLost],
  ['server closed the connection unexpectedly', 'XX000', isLost],
  ['postmaster was shut down, exiting', 'XX000', isLost],
  ["failed to prepare transaction 'citus_0_24436_7504_0' on host 127.0.0.1:21602", 'XX000', isLost],
  ['could not commit transaction for shard 102568 on at least one active node', 'XX000', isLost],
]

for (const [message, code, meaning] of CASES) {
  test(`cluster: ${code} "${message}" is understood`, () => {
    const error = failure(code, message)
    for (const each of [isDuplicate, isCollision, isCancelled, isLost]) {
      assert.equal(each(error), each === meaning, each.name)
    }
  })
}

test('cluster: a node that is lost during its commit leaves the outcome unknown', () => {
  const error = unlessUnknown(failure('XX000', CASES.at(-1)![0]))
  assert.ok(error instanceof ServiceError)
  assert.equal(error.code, 'store-crud:OutcomeUnknown')
})

test('cluster: a node that is lost before all have prepared leaves nothing behind', () => {
  const error = failure(
    'XX000',
    "failed to prepare transaction 'citus_0_24436_7504_0' on host 127.0.0.1:21602",
  )
  assert.equal(unlessUnknown(error, { isDistributed: true }), error)
  assert.equal((toServiceError(error) as ServiceError).code, 'crud:Unavailable')
})

for (const [code, message] of [
  ['57014', 'canceling statement due to user request'],
  ['57P01', 'terminating connection due to administrator command'],
] as const) {
  test(`cluster: a commit that ends with ${code} leaves the outcome unknown, on one server it has not happened`, () => {
    const error = failure(code, message)
    assert.equal(unlessUnknown(error), error)
    const unknown = unlessUnknown(error, { isDistributed: true })
    assert.ok(unknown instanceof ServiceError)
    assert.equal(unknown.code, 'store-crud:OutcomeUnknown')
  })
}

test('cluster: other internal errors stay as they are', () => {
  const error = failure('XX000', 'cache lookup failed for relation 12')
  assert.ok(![isDuplicate, isCollision, isCancelled, isLost].some((each) => each(error)))
  assert.equal(unlessUnknown(error), error)
})
