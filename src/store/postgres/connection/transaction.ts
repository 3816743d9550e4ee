/** Transactions: repeated after collisions with others, rolled back when the work throws. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Bounds } from '../../bounds.ts'
import { holding } from './advisory-locks.ts'
import type { Connection, SqlSession } from './connection.ts'
import type { Charge, Connections, Row } from './connections.ts'
import { isCollision, isDuplicate, isLost, mayBeStale, unlessUnknown } from './failures.ts'

export interface Transaction extends SqlSession {
  /**
   * Runs work in a savepoint. If it repeats a key or returns undefined, it is rolled back and the result is
   * undefined.
   */
  attempt<T>(work: () => Promise<T | undefined>): Promise<T | undefined>
  within<T>(bounds: Bounds, work: () => Promise<T>): Promise<T>
  /** Rolls back instead of committing when the work has ended. */
  undo(): void
}

interface TransactionOptions extends Omit<Charge, 'bounds'> {
  /** Limit the work, also of repetitions, but not the commit: it has a limit of its own. */
  readonly bounds?: Bounds | undefined
  /** Repeatable read: all reads see one snapshot, and writing a document that others changed since is a collision. */
  readonly isSnapshot?: boolean
  /** Whether the work may be repeated; false if it passes on documents as it reads them. */
  readonly mayRepeat?: boolean
  /** After a collision, repetitions run one after the other, under an advisory lock of this name. */
  readonly queue?: string
  /** Whether it changes documents that are distributed over the nodes of a cluster. */
  readonly isDistributed?: boolean
  /** How long it is repeated after collisions. */
  readonly waitMs?: number
}

export async function inTransaction<T>(
  connections: Pick<Connections, 'with'>,
  work: (transaction: Transaction) => Promise<T>,
  options: TransactionOptions = {},
): Promise<T> {
  const { bounds, ...charge } = options
  const { kind = TRANSACTION, holder = bounds } = charge
  const began = performance.now()
  let losses = 0
  for (let attempt = 1; ; attempt++) {
    try {
      const queue = attempt > 1 ? options.queue : undefined
      const attemptOn = (connection: Connection): Promise<T> => {
        const run = (): Promise<T> => runOnce(connection, work, options)
        return queue === undefined ? run() : holding(connection, { name: queue, bounds }, run)
      }
      return await connections.with(attemptOn, { ...charge, kind, holder })
    } catch (error) {
      // The connection may have died while idle in the pool. Nothing was committed on it, so another one is
      // tried.
      const mayHelp = isLost(error) ? mayBeStale(error) && ++losses <= LOSSES : isCollision(error)
      const isOver = attempt >= ATTEMPTS && performance.now() - began > (options.waitMs ?? WAIT_MS)
      if (!mayHelp || isOver || options.mayRepeat === false) throw error
      // A random pause, so that transactions that collided do not return at the same time.
      await pause(Math.random() * Math.min(2 ** attempt, 200))
    }
  }
}

/** Nobody knows what a transaction will do, but a caller whose last one was slow is likely to send another. */
const TRANSACTION = 'transaction'

/**
 * Retries end when both are exceeded: the attempts suffice where collisions are detected fast, the time where
 * the server needs a second to detect each.
 */
const ATTEMPTS = 20
const WAIT_MS = 10_000
const LOSSES = 2

async function runOnce<T>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<T>,
  { isSnapshot = false, isDistributed = false, bounds }: TransactionOptions,
): Promise<T> {
  let isUndone = false
  // Not awaited: it is sent with the first statement of the work, which saves a round trip.
  connection.send(isSnapshot ? 'begin isolation level repeatable read' : 'begin')
  try {
    const transaction: Transaction = {
      query: (statement) => connection.query(statement),
      attempt: (part) => attempt(connection, part),
      within: (limits, part) => connection.within(limits, part),
      undo: () => (isUndone = true),
    }
    const result = await (bounds ? connection.within(bounds, () => work(transaction)) : work(transaction))
    if (isUndone) await plain(connection, 'rollback')
    else await commit(connection, isDistributed)
    return result
  } catch (error) {
    if (!isLost(error)) await plain(connection, 'rollback').catch(() => undefined)
    throw error
  }
}

/** Far more than a commit takes. */
const COMMITTING: Bounds = { timeLimitMs: 30_000 }

async function commit(connection: Connection, isDistributed: boolean): Promise<void> {
  await connection.within(COMMITTING, () =>
    connection.commit().catch((error: unknown) => {
      throw unlessUnknown(error, { isDistributed })
    }),
  )
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
