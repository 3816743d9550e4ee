/** Advisory locks, which belong to no row: one process at a time runs the work that a lock is named for. */
import type { Bounds } from '../../bounds.ts'
import type { Connection, SqlSession } from './connection.ts'

/** Locks until the transaction ends. Waits while another session holds the lock. */
export async function lockExclusively(session: SqlSession, name: string): Promise<void> {
  await session.query({
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [named(name)],
  })
}

/** Runs work while the connection holds the lock. Waits while another session holds it, as long as the bounds allow. */
export async function holding<T>(
  connection: Connection,
  { name, bounds }: { readonly name: string; readonly bounds: Bounds | undefined },
  work: () => Promise<T>,
): Promise<T> {
  const text = 'select pg_advisory_lock(hashtextextended($1, 0))'
  const lock = (): Promise<unknown> => connection.query({ text, values: [named(name)] })
  try {
    await (bounds ? connection.within(bounds, lock) : lock())
    return await work()
  } finally {
    // Also if it was cancelled while it waited: it may have got the lock at that moment.
    await unlock(connection, name).catch(() => undefined)
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
