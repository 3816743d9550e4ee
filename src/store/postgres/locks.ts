/** Locks as rows: one per resource of a domain. An expired row means the same as none. */
import { unreachable } from '../../base/errors.ts'
import type { SqlValue } from '../sql/fragment.ts'
import type { LockOutcome, LockRequest } from '../store.ts'
import type { Row, Session } from './connection/connections.ts'

/** Each step is one statement, so of callers at the same time one comes first. */
export async function changeLock(request: LockRequest, session: Session): Promise<LockOutcome> {
  const { domain, resource, owner, ttlMs, nowMs } = request
  const own = [domain, resource, owner, nowMs]
  switch (request.operation) {
    case 'acquire': {
      await session.query({ text: SWEEP, values: [nowMs] })
      const values = [domain, resource, owner, ttlMs, nowMs + ttlMs, nowMs]
      return countIn(await session.query({ text: ACQUIRE, values }))
    }
    case 'release':
      return await release(own, session)
    case 'count':
      return countIn(await session.query({ text: HELD, values: own }))
    case 'ping':
      return countIn(await session.query({ text: PING, values: own }))
    default:
      return unreachable(request.operation)
  }
}

/** Between the two statements the owner may acquire once more; then there is something to lessen after all. */
async function release(own: readonly SqlValue[], session: Session): Promise<LockOutcome> {
  for (const text of [LESSEN, REMOVE, LESSEN]) {
    const outcome = countIn(await session.query({ text, values: own }))
    if (outcome.count !== undefined) return outcome
  }
  return { count: undefined }
}

function countIn(rows: readonly Row[]): LockOutcome {
  const [row] = rows
  return { count: row ? Number(row[0]) : undefined }
}

const OWN = 'domain = $1 and resource = $2 and owner = $3 and expires > $4::bigint'
const HELD = `select count from smalt_lock where ${OWN}`
const PING = `update smalt_lock set expires = $4::bigint + ttl where ${OWN} returning count`
const LESSEN = `update smalt_lock set count = count - 1, expires = $4::bigint + ttl where ${OWN} and count > 1 returning count`
const REMOVE = `delete from smalt_lock where ${OWN} and count <= 1 returning 0`

/** A living lock of somebody else fails the condition, and then no row comes back. */
const ACQUIRE = `insert into smalt_lock(domain, resource, owner, count, ttl, expires)
  values ($1, $2, $3, 1, $4::bigint, $5::bigint)
  on conflict (domain, resource) do update set
    owner = excluded.owner,
    count = case when smalt_lock.expires > $6::bigint then smalt_lock.count + 1 else 1 end,
    ttl = excluded.ttl,
    expires = excluded.expires
  where smalt_lock.owner = excluded.owner or smalt_lock.expires <= $6::bigint
  returning count`

/** Locks that were never released go a few at a time, so that no caller pays for all of them. */
const SWEEP = `delete from smalt_lock where (domain, resource) in
  (select domain, resource from smalt_lock where expires <= $1::bigint order by expires limit 10)
  and expires <= $1::bigint`
