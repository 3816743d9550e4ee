/** Locks as rows, one per resource of a domain. An expired row is the same as no row. */
import { unreachable } from '../../base/errors.ts'
import type { Engine, Rows } from '../engine.ts'
import { type Fragment, param, sql } from '../sql/fragment.ts'
import { databaseClock } from './database-clock.ts'

export interface Locks {
  /** Performs one operation on one lock; it is durable when this resolves, and concurrent operations are serialized. */
  readonly change: (request: LockRequest) => Promise<LockOutcome>
  /** How many locks a caller holds; counting stops at `maxLocks`. */
  readonly held: (account: Required<LockAccount>) => Promise<number>
}

export type LockOperation = 'acquire' | 'release' | 'count' | 'ping'

export interface LockRequest {
  readonly operation: LockOperation
  readonly domain: string
  readonly resource: string
  readonly owner: string
  /** The lifetime of the lock from now; only `acquire` uses it. */
  readonly ttlMs: number
  /** Who acquires it; absent if the lock counts for nobody. */
  readonly account?: LockAccount
}

interface LockAccount {
  /** A short text that identifies the caller. */
  readonly caller: string
  /** How many locks the caller may hold; absent if this need not be checked now. */
  readonly maxLocks?: number
}

export interface LockOutcome {
  /** The owner's acquisition count after the operation; undefined when the lock is not theirs and nothing changed. */
  readonly count: number | undefined
  /** Whether the lock was free, but the caller holds as many as one may. */
  readonly hasTooMany?: boolean
}

/**
 * Each operation is one statement, so that the database serializes concurrent ones. Locks expire by the clock of the database: by
 * clocks of their own, two processes could give one lock to two owners.
 */
export function createLocks(engine: Engine): Locks {
  const clock = databaseClock(engine)
  return {
    change: (request) =>
      engine.run('lock', async () => await change(engine, { ...request, nowMs: await clock.current() })),
    held: (account) =>
      engine.run('lock', async () => {
        const [row] = await engine.query(sql`select ${heldBy(account, await clock.current())}`)
        return Number(row![0])
      }),
  }
}

interface TimedRequest extends LockRequest {
  /** Milliseconds since 1970. A lock whose expiry is not later is expired. */
  readonly nowMs: number
}

async function change(engine: Engine, request: TimedRequest): Promise<LockOutcome> {
  switch (request.operation) {
    case 'acquire': {
      // Both batches start together, so that SQLite's writer commits them with one flush.
      const [, acquired] = await Promise.all([
        engine.batch([deleteExpired(request)]),
        engine.batch([acquire(request)]),
      ])
      const outcome = outcomeOf(acquired[0]!)
      const account = limited(request)
      if (outcome.count !== undefined || !account) return outcome
      const obstacle = await obstacleTo(engine, request, account)
      if (obstacle !== 'none') return { ...outcome, hasTooMany: obstacle === 'limit' }
      // A lock was released or expired meanwhile.
      const [again] = await engine.batch([acquire(request)])
      return outcomeOf(again!)
    }
    case 'release':
      return await release(engine, request)
    case 'count':
      return outcomeOf(await engine.query(sql`select count from smalt_lock where ${isOwn(request)}`))
    case 'ping': {
      const [rows] = await engine.batch([
        sql`update smalt_lock set ${extended(request)} where ${isOwn(request)} returning count`,
      ])
      return outcomeOf(rows!)
    }
    default:
      return unreachable(request.operation)
  }
}

/** The owner may acquire or release between two statements, so `remove` is tried again after `decrement`. */
async function release(engine: Engine, request: TimedRequest): Promise<LockOutcome> {
  const own = isOwn(request)
  const remove = sql`delete from smalt_lock where ${own} and count <= 1 returning 0`
  const decrement = sql`update smalt_lock set count = count - 1, ${extended(request)}
    where ${own} and count > 1 returning count`
  for (const statement of [remove, decrement, remove]) {
    const [rows] = await engine.batch([statement])
    if (rows!.length > 0) return outcomeOf(rows!)
  }
  return { count: undefined }
}

function outcomeOf([row]: Rows): LockOutcome {
  return { count: row && Number(row[0]) }
}

function isOwn({ domain, resource, owner, nowMs }: TimedRequest): Fragment {
  return sql`domain = ${param(domain)} and resource = ${param(resource)} and owner = ${param(owner)}
    and expires > ${param(nowMs)}`
}

function extended({ nowMs }: TimedRequest): Fragment {
  return sql`expires = ttl + ${param(nowMs)}`
}

/**
 * Returns no row when another owner has a lock that is not expired, or when the caller may hold no further one. Locks that
 * are acquired at the same moment on PostgreSQL do not see each other: a caller may end up with a few more than the limit.
 */
function acquire(request: TimedRequest): Fragment {
  const { domain, resource, owner, ttlMs, nowMs, account } = request
  const limit = limited(request)
  const mayHave = limit
    ? sql`exists (select 1 from smalt_lock where ${isOwn(request)})
      or ${heldBy(limit, nowMs)} < ${param(limit.maxLocks)}`
    : sql`true`
  return sql`insert into smalt_lock(domain, resource, owner, count, ttl, expires, caller)
    select ${param(domain)}, ${param(resource)}, ${param(owner)}, 1, ${param(ttlMs)}, ${param(nowMs + ttlMs)},
      ${param(account?.caller ?? '')}
    where ${mayHave}
    on conflict (domain, resource) do update set
      owner = excluded.owner,
      caller = case when smalt_lock.expires > ${param(nowMs)} then smalt_lock.caller else excluded.caller end,
      count = case when smalt_lock.expires > ${param(nowMs)} then smalt_lock.count + 1 else 1 end,
      ttl = excluded.ttl,
      expires = excluded.expires
    where smalt_lock.owner = excluded.owner or smalt_lock.expires <= ${param(nowMs)}
    returning count`
}

function limited({ account }: LockRequest): Required<LockAccount> | undefined {
  if (account?.maxLocks === undefined) return undefined
  return { caller: account.caller, maxLocks: account.maxLocks }
}

/** A lock of another owner is the reason why there was no row, even if the caller also holds too many. */
async function obstacleTo(
  engine: Engine,
  request: TimedRequest,
  account: Required<LockAccount>,
): Promise<'owner' | 'limit' | 'none'> {
  const { domain, resource, nowMs } = request
  const [row] = await engine.query(
    sql`select case
      when exists (select 1 from smalt_lock where domain = ${param(domain)} and resource = ${param(resource)}
        and expires > ${param(nowMs)}) then 'owner'
      when ${heldBy(account, nowMs)} >= ${param(account.maxLocks)} then 'limit'
      else 'none' end`,
  )
  return row![0] as 'owner' | 'limit' | 'none'
}

/** Counts entries of an index, up to the limit. */
function heldBy({ caller, maxLocks }: Required<LockAccount>, nowMs: number): Fragment {
  return sql`(select count(*) from (select 1 from smalt_lock
    where caller = ${param(caller)} and expires > ${param(nowMs)} limit ${param(maxLocks)}) as held)`
}

/** Deletes a few expired locks at a time, so that no caller pays for all of them. */
function deleteExpired({ nowMs }: TimedRequest): Fragment {
  const expired = sql`expires <= ${param(nowMs)}`
  return sql`delete from smalt_lock where (domain, resource) in
    (select domain, resource from smalt_lock where ${expired} order by expires limit 10) and ${expired}`
}
