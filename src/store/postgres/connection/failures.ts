/** What PostgreSQL's SQLSTATEs mean to us. Its messages name tables, nodes and values, so nobody else gets to see them. */
import pg from 'pg'
import { ServiceError } from '../../../base/errors.ts'

/** Another row has this key. */
export function isDuplicate(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** Others use a table all the time. */
export class BusyError extends Error {}

/** Others were in the way; the same work may succeed when it is begun again. */
export function isCollision(error: unknown): boolean {
  if (error instanceof BusyError) return true
  const state = stateOf(error)
  return state === '40001' || state === '40P01' || state === '55P03'
}

/** A table or an index is not what the catalogue in memory says: another process has changed it. */
export function isOutdated(error: unknown): boolean {
  if (error instanceof OutdatedError) return true
  const state = stateOf(error)
  return state === '42P01' || state === '42704' || state === '42703' || state === '0A000'
}

/** The catalogue in memory does not even have the table. */
export class OutdatedError extends Error {}

export function isCancelled(error: unknown): boolean {
  return stateOf(error) === '57014'
}

/** Time was over before the statement was sent. */
export class StoppedError extends Error {}

/** More rows than are held at once; nothing of them was kept. */
export class ResultTooLarge extends Error {}

/** The driver failed without a word from the server: the way to it is gone. */
export class LostError extends Error {}

/** There was no way to the server in the first place, so nothing can have happened there. */
export class UnreachableError extends LostError {}

/** The server did not even react to being told to stop; nobody waits for it any longer. */
export class AbandonedError extends LostError {}

/** Whether another connection may do better: not where there is none to be had, nor where the server is silent. */
export function mayBeStale(error: unknown): boolean {
  return isLost(error) && !(error instanceof UnreachableError || error instanceof AbandonedError)
}

/** The server, or the way to it, is gone. What was under way there may or may not have happened. */
export function isLost(error: unknown): boolean {
  if (error instanceof LostError) return true
  const state = stateOf(error)
  return state !== undefined && (/^(?:08|57P|28|3D)/.test(state) || GONE.includes(state))
}

/** Too many connections, sessions that the server ended, and a server that only reads since another one took over. */
const GONE = ['53300', '25P03', '25P04', '25006']

function unavailable(): ServiceError {
  return new ServiceError(
    'crud:Unavailable',
    'the database cannot be reached, or is too busy; try again soon',
  )
}

/**
 * Of something that commits: a server that still said what went wrong has not committed it, one gone silent may have,
 * and so may one that lost another node of its cluster.
 */
export function unlessUnknown(error: unknown): unknown {
  const isSilent = error instanceof LostError && !(error instanceof UnreachableError)
  if (!isSilent && !stateOf(error)?.startsWith('08')) return error
  const message =
    'the connection to the database was lost while committing: the write may have happened or not; read before you repeat it'
  return Object.assign(new ServiceError('store-crud:OutcomeUnknown', message), { cause: error })
}

/** What callers may know of a failure; anything unforeseen stays as it is, for the log. */
export function toServiceError(error: unknown): unknown {
  if (isLost(error)) return Object.assign(unavailable(), { cause: error })
  const state = stateOf(error)
  if (state === '53100' || state === '53200') {
    return new ServiceError('crud:Unavailable', 'the database has no room left; nothing was stored')
  }
  if (state === '54000' || state === '54001') {
    return new ServiceError(
      'crud:LimitExceeded',
      'a value is too long to be indexed, or the query or its answer too large',
    )
  }
  if (isCancelled(error)) {
    return new ServiceError('store-crud:Timeout', 'the database ended the statement before it was done')
  }
  if (state === '0A000') {
    return new ServiceError('store-crud:Unsupported', 'the database, as it is set up, cannot do this')
  }
  if (isCollision(error)) {
    return new ServiceError('crud:Unavailable', 'too many writes of the same documents at once; try again')
  }
  return error
}

/** Only of what the server said: errors of the system have codes too, and EPIPE looks like one of these. */
export function stateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined
}
