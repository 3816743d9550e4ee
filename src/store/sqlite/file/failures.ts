/**
 * The result codes of SQLite that the store handles. Messages are parsed for the name of an index, and for a missing table,
 * which has no code of its own.
 */
import { NoRoomError, ServiceError } from '../../../base/errors.ts'

export function isConstraintError(error: unknown): boolean {
  return primaryCode(error) === CONSTRAINT
}

/**
 * The number of the index whose uniqueness was violated, or the names of its columns where it contains nothing else.
 * Undefined if the message does not name it: then the response is less precise.
 */
export function violatedIndex(error: unknown): number | readonly string[] | undefined {
  const message = error instanceof Error ? error.message : ''
  const index = /\bidx_(\d+)/.exec(message)?.[1]
  if (index !== undefined) return Number(index)
  const columns = [...message.matchAll(/\bdoc_\d+\.(id|c\d+)\b/g)].map(([, name]) => name!)
  return columns.length === 0 ? undefined : columns
}

export function isDiskFull(error: unknown): boolean {
  return primaryCode(error) === FULL
}

/** A text would exceed the engine's size limit. */
export function isTooBig(error: unknown): boolean {
  return primaryCode(error) === TOO_BIG
}

/** What the engine throws if a text is too big, for functions of our own. */
export function sizeError(): Error {
  return Object.assign(new Error('too big'), { errcode: TOO_BIG })
}

export function tooBig(): ServiceError {
  const message =
    'the result is larger than the store can hold; ask for a range or for fewer fields, or aggregate fewer documents'
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/**
 * A table was dropped after the statement was written: with an index, or with its entity. The statement has returned
 * nothing yet, because what it reads cannot change once it has begun.
 */
export function isOutdated(error: unknown): boolean {
  return error instanceof Error && /^(?:no such table|vtable constructor failed)\b/.test(error.message)
}

/** Another process or connection has the lock. */
export function isBusy(error: unknown): boolean {
  const code = primaryCode(error)
  return code === BUSY || code === LOCKED
}

/** The public error for a failure of a write; the log has the details. */
export function storeFailure(error: unknown): unknown {
  return isDiskFull(error) ? new NoRoomError('the disk is full; nothing was stored') : error
}

/** The low byte of the extended result code. */
function primaryCode(error: unknown): number | undefined {
  const code = (error as { errcode?: number }).errcode
  return code === undefined ? undefined : code & 0xff
}

const BUSY = 5
const LOCKED = 6
const FULL = 13
const TOO_BIG = 18
const CONSTRAINT = 19
