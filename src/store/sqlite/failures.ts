/** SQLite's result codes that mean something to us, never its messages. */

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

/** The low byte; the rest says more than we need. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode
  return code === undefined ? undefined : code & 0xff
}

const BUSY = 5
const LOCKED = 6
const FULL = 13
const CONSTRAINT = 19
