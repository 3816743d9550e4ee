/** What PostgreSQL's SQLSTATEs mean to us. Its messages name tables, nodes and values, so nobody else gets to see them. */
import { ServiceError } from '../../base/errors.ts'

/** Another row has this key. */
export function isDuplicate(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** Others were in the way; the same work may succeed when it is begun again. */
export function isCollision(error: unknown): boolean {
  const state = stateOf(error)
  return state === '40001' || state === '40P01' || state === '55P03'
}

/** A table or an index is not what the catalogue in memory says: another process has changed it. */
export function isOutdated(error: unknown): boolean {
  const state = stateOf(error)
  return state === '42P01' || state === '42704' || state === '42703' || state === '0A000'
}

export function isCancelled(error: unknown): boolean {
  return stateOf(error) === '57014'
}

/** The driver failed without a word from the server: the way to it is gone. */
export class LostError extends Error {}

/** There was no way to the server in the first place, so nothing can have happened there. */
export class UnreachableError extends LostError {}

/** The server, or the way to it, is gone. What was under way there may or may not have happened. */
export function isLost(error: unknown): boolean {
  if (error instanceof LostError) return true
  const state = stateOf(error)
  return state !== undefined && (/^(?:08|57P|28|3D)/.test(state) || GONE.includes(state))
}

/** Too many connections, and sessions that the server ended. */
const GONE = ['53300', '25P03', '25P04']

export function unavailable(): ServiceError {
  return new ServiceError('crud:Unavailable', 'the database cannot be reached; try again soon')
}

/** Of something that commits: a server that still said what went wrong has not committed it, one gone silent may have. */
export function unlessUnknown(error: unknown): unknown {
  if (!(error instanceof LostError) || error instanceof UnreachableError) return error
  const message =
    'the connection to the database was lost while committing: the write may have happened or not; read before you repeat it'
  return Object.assign(new ServiceError('store-crud:OutcomeUnknown', message), { cause: error })
}

/** What callers may know of a failure; anything unforeseen stays as it is, for the log. */
export function told(error: unknown): unknown {
  if (isLost(error)) return Object.assign(unavailable(), { cause: error })
  const state = stateOf(error)
  if (state === '53100' || state === '53200') {
    return new ServiceError('crud:Unavailable', 'the database has no room left; nothing was stored')
  }
  if (state === '54000' || state === '54001') {
    return new ServiceError('crud:LimitExceeded', 'a value is too long to be indexed, or the query too large')
  }
  if (isCollision(error)) {
    return new ServiceError('crud:Unavailable', 'too many writes of the same documents at once; try again')
  }
  return error
}

export function stateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}
