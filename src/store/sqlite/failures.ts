/** SQLite's result codes that mean something to us, never its messages; and the failure that is our own. */
import { ServiceError } from '../../base/errors.ts'

export function isConstraintError(error: unknown): boolean {
  return primaryCode(error) === CONSTRAINT
}

export function isDiskFull(error: unknown): boolean {
  return primaryCode(error) === FULL
}

/** Another process holds the lock. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

export function timedOut(timeLimitMs: number): ServiceError {
  const message = `the query took longer than ${timeLimitMs} ms; an index, or a narrower query, would help`
  return new ServiceError('store-crud:Timeout', message)
}

/** The low byte; the rest says more than we need. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode
  return code === undefined ? undefined : code & 0xff
}

const BUSY = 5
const LOCKED = 6
const FULL = 13
const CONSTRAINT = 19
