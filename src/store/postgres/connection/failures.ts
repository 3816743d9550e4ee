/**
 * Classifies failures by SQLSTATE and translates them to service errors. PostgreSQL's messages contain names
 * of tables and nodes, and values of documents, so they never reach a caller.
 */
import pg from 'pg'
import { CauseForOperator, NoRoomError, ServiceError } from '../../../base/errors.ts'
import type { Collection } from '../../../schema/schema.ts'
import { removedMeanwhile } from '../../removed.ts'

/** Another row has this key. */
export function isDuplicate(error: unknown): boolean {
  return stateOf(error) === '23505'
}

/** A table could not be locked, because others use it all the time. */
export class BusyError extends Error {}

/** Another transaction interfered (serialization failure, deadlock, lock timeout); a retry may succeed. */
export function isCollision(error: unknown): boolean {
  if (error instanceof BusyError) return true
  const state = stateOf(error)
  return state === '40001' || isDeadlock(error) || state === '55P03'
}

export function isDeadlock(error: unknown): boolean {
  return stateOf(error) === '40P01'
}

/**
 * A table or an index differs from the cached catalogue, because another process has changed it. Then the result
 * type of a prepared statement may have changed, too.
 */
export function isOutdated(error: unknown): boolean {
  if (error instanceof OutdatedError) return true
  const state = stateOf(error)
  return state === '42P01' || state === '42704' || state === '42703' || isStalePlan(error)
}

/** The state alone says only that something is not supported; a cluster reports many statements so. */
function isStalePlan(error: unknown): boolean {
  return stateOf(error) === '0A000' && (error as pg.DatabaseError).routine === 'RevalidateCachedQuery'
}

/** The server cannot execute such a statement. */
export function isRefused(error: unknown): boolean {
  return stateOf(error) === '0A000' && !isStalePlan(error)
}

/** What this process knows about the database is outdated: the operation is to be repeated. */
export class OutdatedError extends Error {}

/** No table is known for a collection. If that is still so after a reload, its entity was removed. */
export class MissingTableError extends OutdatedError {
  readonly collection: Collection
  constructor(collection: Collection) {
    super(`the collection ${collection.name} of ${collection.entity} has no table`)
    this.collection = collection
  }
}

export function isCancelled(error: unknown): boolean {
  return stateOf(error) === '57014'
}

/** The work was stopped before this statement was sent. */
export class StoppedError extends Error {}

/** The result is too large to be collected in memory; its rows were dropped. */
export class ResultTooLarge extends Error {}

/** The driver failed without an error from the server: the connection is lost. */
export class LostError extends Error {}

/** No connection could be opened, so nothing can have happened on the server. */
export class UnreachableError extends LostError {}

/** The server did not react to a cancellation, and the connection was closed. */
export class AbandonedError extends LostError {}

/** Whether a retry on another connection may succeed: not if none can be opened, nor if the server does not react. */
export function mayBeStale(error: unknown): boolean {
  return isLost(error) && !(error instanceof UnreachableError || error instanceof AbandonedError)
}

/** Repeats a read once, on another connection, if it may be repeated: one may have died while it was idle in the pool. */
export async function repeatingLost<T>(read: () => Promise<T>, mayRepeat = () => true): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!mayBeStale(error) || !mayRepeat()) throw error
    return await read()
  }
}

/** The server or the connection to it is lost. Statements in progress may or may not have taken effect. */
export function isLost(error: unknown): boolean {
  if (error instanceof LostError) return true
  const state = stateOf(error)
  return state !== undefined && (/^(?:08|57P|28|3D)/.test(state) || GONE.includes(state))
}

/** Too many connections, sessions that the server ended, and a server that is read-only since a failover. */
const GONE = ['53300', '25P03', '25P04', '25006']

/** The role of the service has lost rights on its tables or on its schema. */
export function isForbidden(error: unknown): boolean {
  return stateOf(error) === '42501'
}

export function forbidden(): ServiceError {
  return new ServiceError(
    'crud:Unavailable',
    'the database refuses the service access to its tables; the operator has to grant it again',
  )
}

function unavailable(): ServiceError {
  return new ServiceError(
    'crud:Unavailable',
    'the database cannot be reached, or is too busy; try again soon',
  )
}

/**
 * For statements that commit. If the server reports an error, it has not committed. If the connection is
 * lost, the outcome is unknown; likewise if the server has lost another node of its cluster (class 08), or was interrupted
 * while it waited for one.
 */
export function unlessUnknown(error: unknown, { isDistributed = false } = {}): unknown {
  const isSilent = error instanceof LostError && !(error instanceof UnreachableError)
  const isInterrupted = isDistributed && INTERRUPTED.includes(stateOf(error) ?? '')
  if (!isSilent && !isInterrupted && !stateOf(error)?.startsWith('08')) return error
  const what = isInterrupted
    ? 'the database ended the write while a node of the cluster was committing'
    : 'the connection to the database was lost while committing'
  const message = `${what}: the write may have happened or not; read before you repeat it`
  return Object.assign(new ServiceError('store-crud:OutcomeUnknown', message), { cause: error })
}

/**
 * A statement that was cancelled, and a session that was ended, on the coordinator: a transaction on one node is committed
 * by that node, and the coordinator does not wait for what it answers.
 */
const INTERRUPTED = ['57014', '57P01']

/** The error that callers may see. Unexpected errors stay as they are, for the log. */
export function toServiceError(error: unknown): unknown {
  if (error instanceof MissingTableError) return removedMeanwhile(error.collection)
  const state = stateOf(error)
  if (isLost(error)) {
    const cause = /^(?:28|3D)/.test(state ?? '') ? refusedConnection(error as pg.DatabaseError) : error
    return Object.assign(unavailable(), { cause })
  }
  if (state === '53100' || state === '53200') {
    return new NoRoomError('the database has no room left; nothing was stored')
  }
  if (isForbidden(error)) return Object.assign(forbidden(), { cause: error })
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

/** The role, its password or the database is wrong; the message of the server names the role and the database. */
function refusedConnection(cause: pg.DatabaseError): CauseForOperator {
  const message = `the database refuses the connection: ${cause.message}; check --store`
  return new CauseForOperator(message, { cause })
}

/** Only for errors from the server: system errors have codes too, and EPIPE looks like an SQLSTATE. */
export function stateOf(error: unknown): string | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined
  return DROPPED_BY.includes(error.code!) ? (droppedState(error.message) ?? error.code) : error.code
}

/**
 * A cluster reports what fails on a node during a commit, or during the COPY by which it distributes the rows of
 * `insert … select`, by one of these states, with the message of the node.
 */
const DROPPED_BY = ['XX000', '58030']

function droppedState(message: string): string | undefined {
  return DROPPED_STATES.find(([pattern]) => pattern.test(message))?.[1]
}

const DROPPED_STATES: readonly (readonly [pattern: RegExp, state: string])[] = [
  [/duplicate key value/, '23505'],
  [/deadlock/, '40P01'],
  [/canceling statement/, '57014'],
  // No node commits before all have prepared: as if the server had not accepted the connection.
  [/failed to prepare transaction/, '57P03'],
  // A node that was lost during its commit may have committed, also if it was the coordinator.
  [/connection|server closed|postmaster was shut down|failed to COPY|could not commit transaction/, '08006'],
]
