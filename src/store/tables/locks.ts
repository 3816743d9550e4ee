/** Locks as rows, one per resource of a domain. An expired row is the same as no row. */
import { unreachable } from '../../base/errors.ts'
import type { Bounds } from '../bounds.ts'
import type { Engine, Rows } from '../engine.ts'
import { type Fragment, param, sql } from '../sql/fragment.ts'
import { engineFor } from './engine-in.ts'

export interface Locks {
  /** Performs one operation on one lock; it is durable when this resolves, and concurrent operations are serialized. */
  readonly change: (request: LockRequest, bounds?: Bounds) => Promise<LockOutcome>
  /** How many locks a caller holds; counting stops at `maxLocks`. */
  readonly held: (account: Required<LockAccount>, bounds?: Bounds) => Promise<number>
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
 * Each operation is one statement, so that the database serializes concurrent ones. The clock of the database is read by the
 * statement itself: by clocks or readings of their own, two processes could give one lock to two owners.
 */
export function createLocks(engine: Engine): Locks {
  return {
    change: (request, bounds) => engine.run('lock', () => change(engineFor(engine, bounds), request)),
    held: (account, bounds) =>
      engine.run('lock', async () => {
        const [row] = await engine.query(sql`select ${heldBy(engine, account)}`, { bounds })
        return Number(row![0])
      }),
  }
}

async function change(engine: Engine, request: LockRequest): Promise<LockOutcome> {
  switch (request.operation) {
    case 'acquire': {
      const outcome = await acquireOnce(engine, request)
      const account = limited(request)
      if (outcome.count !== undefined || !account) return outcome
      const obstacle = await obstacleTo(engine, request, account)
      if (obstacle !== 'none') return { ...outcome, hasTooMany: obstacle === 'limit' }
      // A lock was released or expired meanwhile.
      return await acquireOnce(engine, request)
    }
    case 'release':
      return await release(engine, request)
    case 'count':
      return outcomeOf(await engine.query(sql`select count from smalt_lock where ${isOwn(engine, request)}`))
    case 'ping': {
      const [rows] = await engine.batch([
        sql`update smalt_lock set ${extended(engine)} where ${isOwn(engine, request)} returning count`,
      ])
      return outcomeOf(rows!)
    }
    default:
      return unreachable(request.operation)
  }
}

async function acquireOnce(engine: Engine, request: LockRequest): Promise<LockOutcome> {
  const account = limited(request)
  // In this order, so that a transaction never waits for a lock while it has deleted others: two could wait for each other.
  const statements = [acquire(engine, request), deleteExpired(engine)] as const
  // Locks of one caller that are counted are acquired one after the other: at the same moment they would not count each other.
  const [acquired] = account
    ? await engine.batch(statements, { claim: `locks of ${account.caller}` })
    : // Both batches start together, so that SQLite's writer commits them with one flush.
      (await Promise.all(statements.map((statement) => engine.batch([statement])))).flat()
  return outcomeOf(acquired!)
}

/** The owner may acquire or release between two statements, so `remove` is tried again after `decrement`. */
async function release(engine: Engine, request: LockRequest): Promise<LockOutcome> {
  const own = isOwn(engine, request)
  const remove = sql`delete from smalt_lock where ${own} and count <= 1 returning 0`
  const decrement = sql`update smalt_lock set count = count - 1, ${extended(engine)}
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

function isOwn({ now }: Clock, { domain, resource, owner }: LockRequest): Fragment {
  return sql`domain = ${param(domain)} and resource = ${param(resource)} and owner = ${param(owner)}
    and ${isAlive({ now })}`
}

type Clock = Pick<Engine, 'now'>

/**
 * Read once, so that an index serves the condition. If the statement then waits for another one, the reading is early: at worst
 * a lock counts as alive a little longer.
 */
function isAlive({ now }: Clock): Fragment {
  return sql`smalt_lock.expires > (select ${now})`
}

/** From when the statement begins: a client that counts from its request never overestimates the rest of the lifetime. */
function extended({ now }: Clock): Fragment {
  return sql`expires = ttl + ${now}`
}

/**
 * Returns no row when another owner has a lock that is not expired, or when the caller may hold no further one. Of a row that
 * is there, the lifetime begins after any wait for another statement.
 */
function acquire(engine: Engine, request: LockRequest): Fragment {
  const { domain, resource, owner, ttlMs, account } = request
  const { now } = engine
  const limit = limited(request)
  const mayHave = limit
    ? sql`exists (select 1 from smalt_lock where ${isOwn(engine, request)})
      or ${heldBy(engine, limit)} < ${param(limit.maxLocks)}`
    : sql`true`
  return sql`insert into smalt_lock(domain, resource, owner, count, ttl, expires, caller)
    select ${param(domain)}, ${param(resource)}, ${param(owner)}, 1, ${param(ttlMs)}, ${param(ttlMs)} + ${now},
      ${param(account?.caller ?? '')}
    where ${mayHave}
    on conflict (domain, resource) do update set
      owner = excluded.owner,
      caller = case when ${isAlive(engine)} then smalt_lock.caller else excluded.caller end,
      count = case when ${isAlive(engine)} then smalt_lock.count + 1 else 1 end,
      ttl = excluded.ttl,
      expires = excluded.ttl + ${now}
    where smalt_lock.owner = excluded.owner or not ${isAlive(engine)}
    returning count`
}

function limited({ account }: LockRequest): Required<LockAccount> | undefined {
  if (account?.maxLocks === undefined) return undefined
  return { caller: account.caller, maxLocks: account.maxLocks }
}

/** A lock of another owner is the reason why there was no row, even if the caller also holds too many. */
async function obstacleTo(
  engine: Engine,
  request: LockRequest,
  account: Required<LockAccount>,
): Promise<'owner' | 'limit' | 'none'> {
  const { domain, resource } = request
  const [row] = await engine.query(
    sql`select case
      when exists (select 1 from smalt_lock where domain = ${param(domain)} and resource = ${param(resource)}
        and ${isAlive(engine)}) then 'owner'
      when ${heldBy(engine, account)} >= ${param(account.maxLocks)} then 'limit'
      else 'none' end`,
  )
  return row![0] as 'owner' | 'limit' | 'none'
}

/** Counts entries of an index, up to the limit. */
function heldBy(clock: Clock, { caller, maxLocks }: Required<LockAccount>): Fragment {
  return sql`(select count(*) from (select 1 from smalt_lock
    where caller = ${param(caller)} and ${isAlive(clock)} limit ${param(maxLocks)}) as held)`
}

/** Deletes a few expired locks at a time, so that no caller pays for all of them. */
function deleteExpired({ now, dialect }: Clock & Pick<Engine, 'dialect'>): Fragment {
  const expired = sql`expires <= (select ${now})`
  return sql`delete from smalt_lock where (domain, resource) in
    (select domain, resource from smalt_lock where ${expired} order by expires limit 10 ${dialect.unlockedOnly})
    and ${expired}`
}
