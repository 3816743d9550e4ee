/** Advisory locks for clients: the service itself respects no lock, and callers choose the names of owners freely. */
import { createHash } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import { ServiceError, unreachable, invalidRequest } from '../base/errors.ts'
import { type Json, type JsonObject, isObject, pointer } from '../base/json/json.ts'
import type { Limits } from '../base/limits.ts'
import { memoized, setOrClear } from '../base/memo.ts'
import { TYPES } from '../schema/types.ts'
import type { Bounds } from '../store/bounds.ts'
import type { LockOperation, LockOutcome, LockRequest, Locks } from '../store/tables/locks.ts'
import type { Database } from '../store/database.ts'
import type { Deps } from './deps.ts'

/** Whether the lock was acquired, released or renewed; or how many times it is acquired. */
export type LockResult = boolean | number

interface LockCall {
  readonly caller: Caller
  readonly body: Json | undefined
  /** Those of the store, or of a transaction. */
  readonly locks: Locks
  /** Absent inside of a transaction, which has bounds of its own. */
  readonly bounds?: Bounds
}

/** Throws a ServiceError if the request is invalid, the caller does not own the lock, or holds too many. */
export async function lock(
  { store, limits }: Pick<Deps, 'limits' | 'store'>,
  { caller: { principal }, body, locks, bounds }: LockCall,
): Promise<LockResult> {
  const request = readLock(body)
  if (request.operation !== 'acquire') return resultOf(request, await locks.change(request, bounds))
  const caller = digestOf(principal)
  const allowances = allowancesOf(store)
  const allowance = allowances.get(caller)
  if (allowance && allowance.left > 0 && performance.now() < allowance.until) {
    allowance.left--
    return resultOf(request, await locks.change({ ...request, account: { caller } }, bounds))
  }
  const account = { caller, maxLocks: limits.locks }
  const outcome = await locks.change({ ...request, account }, bounds)
  if (outcome.hasTooMany === true) throw tooMany(limits)
  // The lock is acquired, whatever happens to this count: without it, the next acquire counts again.
  const left = limits.locks - (await locks.held(account, bounds).catch(() => limits.locks))
  const until = performance.now() + ALLOWED_MS
  // If another request has counted meanwhile, its allowance may be in use.
  if (allowances.get(caller) === allowance)
    setOrClear(allowances, caller, { left: Math.floor(left * ALLOWED_PART), until }, MAX_CALLERS)
  return resultOf(request, outcome)
}

/**
 * How many locks a caller may acquire in this process before its locks are counted again: counting takes longer the more
 * there are. Counting is exact, but does not know of allowances: through each process a caller may exceed the limit by one, which
 * is at most an eighth of the limit, and nothing where less than eight locks are left.
 */
interface Allowance {
  left: number
  readonly until: number
}

const ALLOWED_PART = 1 / 8
const ALLOWED_MS = 1_000
const MAX_CALLERS = 10_000

/** By store, so that locks acquired inside a transaction count as well. */
const allowancesOf = memoized((_store: Database) => new Map<string, Allowance>())

/** An index of PostgreSQL takes no text of any length. */
function digestOf(principal: string): string {
  return createHash('sha256').update(principal).digest('base64')
}

function tooMany({ locks }: Limits): ServiceError {
  const message = `one caller may hold ${locks} locks at a time; release some first, or acquire them with a shorter "ttl"`
  return new ServiceError('crud:LimitExceeded', message)
}

const LOCK_OPERATIONS = ['acquire', 'release', 'count', 'ping'] as const satisfies readonly LockOperation[]

const DEFAULT_TTL_MS = 3_600_000
const MAX_TTL_MS = 999_999_999_999_999
const MAX_ID_LENGTH = 1_000
const KEYS = new Set(['operation', 'domain', 'callerId', 'resourceId', 'ttl', 'client', 'clientId'])

function readLock(body: Json | undefined): LockRequest {
  if (!isObject(body)) throw invalidRequest('the request must be a JSON object', '')
  const unknown = Object.keys(body).find((key) => !KEYS.has(key))
  if (unknown !== undefined)
    throw invalidRequest(`a lock does not know the key "${unknown}"`, pointer('', unknown))
  return {
    operation: readOperation(body['operation']),
    domain: readId(body, 'domain'),
    owner: readId(body, 'callerId'),
    resource: readId(body, 'resourceId'),
    ttlMs: readTtl(body['ttl']),
  }
}

function readOperation(value: Json | undefined): LockOperation {
  const operation = LOCK_OPERATIONS.find((each) => each === value)
  if (operation === undefined) {
    throw invalidRequest('"operation" must be "acquire", "release", "count" or "ping"', '/operation')
  }
  return operation
}

function readId(body: JsonObject, key: string): string {
  const id = body[key]
  if (typeof id === 'string' && id !== '' && isShort(id)) return id
  const problem = `"${key}" must be a text of 1 to ${MAX_ID_LENGTH.toLocaleString('en')} characters`
  throw invalidRequest(problem, pointer('', key))
}

function isShort(text: string): boolean {
  if (text.length <= MAX_ID_LENGTH) return true
  // A character has at most two UTF-16 units, so a much longer text need not be split into characters.
  return text.length <= 2 * MAX_ID_LENGTH && Array.from(text).length <= MAX_ID_LENGTH
}

/** Numbers may arrive as text, as they do in a query string. */
function readTtl(value: Json | undefined): number {
  if (value === undefined || value === null) return DEFAULT_TTL_MS
  const ttl = TYPES.integer.cast(value)
  if (typeof ttl === 'number' && Math.abs(ttl) <= MAX_TTL_MS) return ttl
  throw invalidRequest(
    '"ttl" must be a whole number of milliseconds, of at most 15 digits, such as 60000',
    '/ttl',
  )
}

function resultOf({ operation, resource }: LockRequest, { count }: LockOutcome): LockResult {
  if (operation === 'acquire') return count !== undefined
  if (count === undefined) throw notHeld(resource)
  switch (operation) {
    case 'release':
      return count === 0
    case 'count':
      return count
    case 'ping':
      return true
    default:
      return unreachable(operation)
  }
}

/** Clients recognize this error by the end of its message. */
function notHeld(resource: string): ServiceError {
  const problem = 'the caller does not hold this lock, or it has expired'
  return new ServiceError('crud:InvalidLock', `${problem}; InvalidLockException: ${resource}`)
}
