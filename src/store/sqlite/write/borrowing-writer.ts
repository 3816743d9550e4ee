/**
 * The writer of a thread that does not own the database: each transaction first borrows the write lock from
 * the owner.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { RisingClock } from '../../clock.ts'
import type { Borrow } from '../../../base/work/loan.ts'
import { createWriteLock } from './write-lock.ts'
import { type Writer, type WriterOptions, inTransaction } from './writer.ts'

interface Borrowing {
  readonly borrow: Borrow
  readonly version: RisingClock
  /** Whether outbox entries were written since the last call. */
  readonly takeHasEvents: () => boolean
}

export function createBorrowingWriter(database: DatabaseSync, borrowing: Borrowing): Writer {
  const { borrow, version, takeHasEvents } = borrowing
  const parts = { database, lock: createWriteLock(database) }

  async function transact<T>(work: () => Promise<T> | T, options: WriterOptions = {}): Promise<T> {
    if (options.isReadOnly) return await inTransaction(work, { ...parts, ...options })
    const loan = await borrow()
    version.raiseTo(loan.lastVersion)
    try {
      return await inTransaction(work, { ...parts, ...options })
    } finally {
      loan.giveBack({ lastVersion: version.last(), hasEvents: takeHasEvents() })
    }
  }

  return {
    run: (work, bounds) => transact(work, { bounds }),
    transact,
    drain: async () => undefined,
  }
}
