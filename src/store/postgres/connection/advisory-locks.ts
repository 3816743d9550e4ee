/** Locks that belong to no row: one process at a time does what they are named for. */
import type { Session } from './connections.ts'

/** Until the transaction ends; waits for whoever has the lock. */
export async function lockExclusively(session: Session, name: string): Promise<void> {
  await session.query({
    text: 'select pg_advisory_xact_lock(hashtextextended($1, 0))',
    values: [named(name)],
  })
}

/** Runs work while the connection has the lock; waits for whoever has it. */
export async function holding<T>(session: Session, name: string, work: () => Promise<T>): Promise<T> {
  await session.query({ text: 'select pg_advisory_lock(hashtextextended($1, 0))', values: [named(name)] })
  try {
    return await work()
  } finally {
    await unlock(session, name).catch(() => undefined)
  }
}

/** Until the connection is told otherwise or ends; tells whether the lock was free. */
export async function tryLock(session: Session, name: string): Promise<boolean> {
  const text = 'select pg_try_advisory_lock(hashtextextended($1, 0))'
  const [row] = await session.query({ text, values: [named(name)] })
  return row![0] === 't'
}

export async function unlock(session: Session, name: string): Promise<void> {
  await session.query({ text: 'select pg_advisory_unlock(hashtextextended($1, 0))', values: [named(name)] })
}

/** Other programs in the same database have locks of their own. */
function named(name: string): string {
  return `smalt: ${name}`
}
