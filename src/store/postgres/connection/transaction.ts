/** Transactions: begun again when others were in the way, taken back when the work throws, never half done. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Bounds } from '../../bounds.ts'
import { holding } from './advisory-locks.ts'
import type { Connection, Connections, Row, Session } from './connections.ts'
import { isCollision, isDuplicate, isLost, mayBeStale, unlessUnknown } from './failures.ts'

export interface Transaction extends Session {
  /** Work that is taken back by itself when it repeats a key or gives undefined; then the answer is undefined. */
  attempt<T>(work: () => Promise<T | undefined>): Promise<T | undefined>
  within<T>(bounds: Bounds, work: () => Promise<T>): Promise<T>
  /** Takes everything back when the work is done. */
  undo(): void
}

interface TransactionOptions {
  readonly bounds?: Bounds
  /** Everything is read as of one moment; a document that others changed since then is a collision. */
  readonly isSnapshot?: boolean
  /** Whether the work may be begun again; not where it has told others what it saw. */
  readonly mayRepeat?: boolean
  /** Those who collided come back one after the other, in a queue of this name. */
  readonly queue?: string
}

export async function inTransaction<T>(
  connections: Connections,
  work: (transaction: Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const began = performance.now()
  let losses = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const queue = attempt > 1 ? options.queue : undefined
      return await connections.with((connection) => {
        const run = (): Promise<T> => runOnce(connection, work, options)
        return queue === undefined ? run() : holding(connection, queue, run)
      }, options.bounds)
    } catch (error) {
      // A connection may have died while it waited in the pool. Nothing was committed on it, so another is tried.
      const mayHelp = isLost(error) ? mayBeStale(error) && ++losses <= LOSSES : isCollision(error)
      const isOver = attempt >= ATTEMPTS && performance.now() - began > WAIT_MS
      if (!mayHelp || isOver || options.mayRepeat === false) throw error
      // Those who collided must not come back at the same time.
      await pause(Math.random() * Math.min(2 ** attempt, 200))
    }
  }
}

/** Enough where it goes fast, and long enough where each collision takes the server a second to notice. */
const ATTEMPTS = 20
const WAIT_MS = 10_000
const LOSSES = 2

async function runOnce<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
  { isSnapshot = false }: TransactionOptions,
): Promise<T> {
  let isUndone = false
  connection.send(isSnapshot ? 'begin isolation level repeatable read' : 'begin')
  try {
    const result = await work({
      query: (statement) => connection.query(statement),
      attempt: (part) => attempt(connection, part),
      within: (bounds, part) => connection.within(bounds, part),
      undo: () => (isUndone = true),
    })
    if (isUndone) await plain(connection, 'rollback')
    else await commit(connection)
    return result
  } catch (error) {
    if (!isLost(error)) await plain(connection, 'rollback').catch(() => undefined)
    throw error
  }
}

/** Far more than it takes. */
const COMMITTING: Bounds = { timeLimitMs: 30_000 }

async function commit(connection: Connection): Promise<void> {
  try {
    await connection.within(COMMITTING, () => connection.commit())
  } catch (error) {
    throw unlessUnknown(error)
  }
}

async function attempt<T>(
  connection: Connection,
  work: () => Promise<T | undefined>,
): Promise<T | undefined> {
  connection.send('savepoint attempt')
  try {
    const result = await work()
    if (result !== undefined) {
      connection.send('release savepoint attempt')
      return result
    }
  } catch (error) {
    if (!isDuplicate(error)) throw error
  }
  await plain(connection, 'rollback to savepoint attempt')
  connection.send('release savepoint attempt')
  return undefined
}

function plain(connection: Connection, text: string): Promise<readonly Row[]> {
  return connection.query({ text, values: [] })
}
