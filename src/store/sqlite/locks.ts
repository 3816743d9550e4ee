/** Locks as rows: one per resource of a domain. An expired row means the same as none. */
import { unreachable } from '../../base/errors.ts'
import type { LockOutcome, LockRequest } from '../store.ts'
import type { Statements } from './read/reads.ts'

/** To be run by the writer: what is read here must still hold when it is written. */
export function changeLock(request: LockRequest, statements: Statements): LockOutcome {
  switch (request.operation) {
    case 'acquire':
      return acquire(request, statements)
    case 'release':
      return release(request, statements)
    case 'count':
      return { count: held(request, statements) }
    case 'ping':
      return ping(request, statements)
    default:
      return unreachable(request.operation)
  }
}

function acquire(
  { domain, resource, owner, ttlMs, nowMs }: LockRequest,
  statements: Statements,
): LockOutcome {
  statements.prepare(SWEEP).run(nowMs)
  const row = statements.prepare(ACQUIRE).get(domain, resource, owner, ttlMs, nowMs + ttlMs, nowMs, nowMs)
  return { count: countOf(row) }
}

function release(request: LockRequest, statements: Statements): LockOutcome {
  const count = held(request, statements)
  if (count === undefined) return { count }
  const { domain, resource, nowMs } = request
  if (count === 1) statements.prepare(REMOVE).run(domain, resource)
  else statements.prepare(LESSEN).run(nowMs, domain, resource)
  return { count: count - 1 }
}

function ping({ domain, resource, owner, nowMs }: LockRequest, statements: Statements): LockOutcome {
  return { count: countOf(statements.prepare(PING).get(nowMs, domain, resource, owner, nowMs)) }
}

function held({ domain, resource, owner, nowMs }: LockRequest, statements: Statements): number | undefined {
  return countOf(statements.prepare(HELD).get(domain, resource, owner, nowMs))
}

/** Statements give rows as arrays. */
function countOf(row: unknown): number | undefined {
  return (row as readonly [number] | undefined)?.[0]
}

const OWN = 'domain = ? and resource = ? and owner = ? and expires > ?'
const HELD = `select count from smalt_lock where ${OWN}`
const PING = `update smalt_lock set expires = ? + ttl where ${OWN} returning count`
const REMOVE = 'delete from smalt_lock where domain = ? and resource = ?'
const LESSEN = 'update smalt_lock set count = count - 1, expires = ? + ttl where domain = ? and resource = ?'

/** A living lock of somebody else fails the condition, and then no row comes back. */
const ACQUIRE = `insert into smalt_lock(domain, resource, owner, count, ttl, expires) values (?, ?, ?, 1, ?, ?)
  on conflict (domain, resource) do update set
    owner = excluded.owner,
    count = case when smalt_lock.expires > ? then smalt_lock.count + 1 else 1 end,
    ttl = excluded.ttl,
    expires = excluded.expires
  where smalt_lock.owner = excluded.owner or smalt_lock.expires <= ?
  returning count`

/** Locks that were never released go a few at a time, so that no caller pays for all of them. */
const SWEEP = `delete from smalt_lock where rowid in (select rowid from smalt_lock where expires <= ? limit 10)`
