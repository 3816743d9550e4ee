/** Advisory locks, which belong to no row: one process at a time runs the work that a lock is named for. */
import type { SqlSession } from './connection.ts'

/** Locks until the transaction ends. Waits while another session holds the lock. */
export async function lockExclusively(session: SqlSession, name: string): Promise<void> {
  await session.query({
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [named(name)],
  })
}

/** Runs work while the connection holds the lock. Waits while another session holds it. */
export async function holding<T>(session: SqlSession, name: string, work: () => Promise<T>): Promise<T> {
  await session.query({ text: 'select pg_advisory_lock(hashtextextended($1, 0))', values: [named(name)] })
  try {
    return await work()
  } finally {
    await unlock(session, name).catch(() => undefined)
  }
}

/** Locks until `unlock` or the end of the connection, without waiting. Returns whether the lock was free. */
export async function tryLock(session: SqlSession, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0))'
  const [row] = await session.query({ text, values: [named(name)] })
  return row![0] === 't'
}

export async function unlock(session: SqlSession, name: string): Promise<void> {
  await session.query({ text: 'select pg_advisory_unlock(hashtextextended($1, 0))', values: [named(name)] })
}

/** The prefix separates these locks from those of other programs in the same database. */
function named(name: string): string {
  return `smalt: ${name}`
}
