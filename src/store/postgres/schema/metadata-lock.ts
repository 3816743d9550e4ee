/** The lock under which one process at a time changes metadata, or the tables that it describes. */
import { ServiceError } from '../../../base/errors.ts'
import { lockExclusively } from '../connection/advisory-locks.ts'
import type { SqlSession } from '../connection/connection.ts'
import { isLockTimeout } from '../connection/failures.ts'

/** Holders need milliseconds: indexes are built, and columns filled, outside of the lock. */
const WAIT_MS = 30_000

/** Locks until the transaction ends. Fails if another session holds the lock all the time, such as one that is stuck. */
export async function lockMetadata(session: SqlSession, schema: string, waitMs = WAIT_MS): Promise<void> {
  await session.query({ text: `set local lock_timeout = ${waitMs}`, values: [] })
  try {
    await lockExclusively(session, `metadata of ${schema}`)
  } catch (error) {
    throw isLockTimeout(error) ? heldTooLong(waitMs, error) : error
  }
  await session.query({ text: 'set local lock_timeout to default', values: [] })
}

function heldTooLong(waitMs: number, cause: unknown): ServiceError {
  const message = `another change of metadata has been running for ${waitMs / 1_000} s; try again when it has ended`
  return Object.assign(new ServiceError('crud:Unavailable', message), { cause })
}
