/** Locks as rows: one per resource of a domain. An expired row means the same as none. */
import { unreachable } from '../../base/errors.ts'
import type { Engine, Rows } from '../engine.ts'
import { type Fragment, param, sql } from '../sql/fragment.ts'

export interface Locks {
  /** One step on one lock, on disk when answered; of callers at the same time one comes first. */
  readonly change: (request: LockRequest) => Promise<LockOutcome>
}

export type LockOperation = 'acquire' | 'release' | 'count' | 'ping'

export interface LockRequest {
  readonly operation: LockOperation
  readonly domain: string
  readonly resource: string
  readonly owner: string
  /** How long the lock lives from now; only acquire reads it. */
  readonly ttlMs: number
  /** Milliseconds since 1970; a lock whose end is not after it is nobody's. */
  readonly nowMs: number
}

export interface LockOutcome {
  /** How often the owner holds the lock after the step; undefined when it is not theirs and nothing changed. */
  readonly count: number | undefined
}

/** Each step is one statement, so of callers at the same time one comes first. */
export function createLocks(engine: Engine): Locks {
  return { change: (request) => engine.run('lock', () => change(engine, request)) }
}

async function change(engine: Engine, request: LockRequest): Promise<LockOutcome> {
  switch (request.operation) {
    case 'acquire': {
      // together: the writer of SQLite flushes both at once
      const [, acquired] = await Promise.all([
        engine.batch([deleteExpired(request)]),
        engine.batch([acquire(request)]),
      ])
      return outcomeOf(acquired[0]!)
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

/** Between two of the statements the owner may acquire or release once more, so that the other one fits after all. */
async function release(engine: Engine, request: LockRequest): Promise<LockOutcome> {
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

function isOwn({ domain, resource, owner, nowMs }: LockRequest): Fragment {
  return sql`domain = ${param(domain)} and resource = ${param(resource)} and owner = ${param(owner)}
    and expires > ${param(nowMs)}`
}

function extended({ nowMs }: LockRequest): Fragment {
  return sql`expires = ttl + ${param(nowMs)}`
}

/** A living lock of somebody else fails the condition, and then no row comes back. */
function acquire({ domain, resource, owner, ttlMs, nowMs }: LockRequest): Fragment {
  return sql`insert into smalt_lock(domain, resource, owner, count, ttl, expires)
    values (${param(domain)}, ${param(resource)}, ${param(owner)}, 1, ${param(ttlMs)}, ${param(nowMs + ttlMs)})
    on conflict (domain, resource) do update set
      owner = excluded.owner,
      count = case when smalt_lock.expires > ${param(nowMs)} then smalt_lock.count + 1 else 1 end,
      ttl = excluded.ttl,
      expires = excluded.expires
    where smalt_lock.owner = excluded.owner or smalt_lock.expires <= ${param(nowMs)}
    returning count`
}

/** Locks that were never released are deleted a few at a time, so that no caller pays for all of them. */
function deleteExpired({ nowMs }: LockRequest): Fragment {
  const expired = sql`expires <= ${param(nowMs)}`
  return sql`delete from smalt_lock where (domain, resource) in
    (select domain, resource from smalt_lock where ${expired} order by expires limit 10) and ${expired}`
}
