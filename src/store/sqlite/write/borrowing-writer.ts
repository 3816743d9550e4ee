/**
 * The writer of a thread that does not own the database: each transaction first borrows the write lock from
 * the owner.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { RisingClock } from '../../clock.ts'
import type { Borrow } from '../../../base/work/loan.ts'
import { type Writer, inTransaction } from './writer.ts'

interface Borrowing {
  readonly borrow: Borrow
  readonly version: RisingClock
  /** Whether outbox entries were written since the last call. */
  readonly takeHasEvents: () => boolean
}

export function createBorrowingWriter(database: DatabaseSync, borrowing: Borrowing): Writer {
  const { borrow, version, takeHasEvents } = borrowing

  async function transact<T>(
    work: () => Promise<T> | T,
    { isReadOnly = false }: { readonly isReadOnly?: boolean } = {},
  ): Promise<T> {
    if (isReadOnly) return await inTransaction(database, work, isReadOnly)
    const loan = await borrow()
    version.raiseTo(loan.lastVersion)
    try {
      return await inTransaction(database, work, isReadOnly)
    } finally {
      loan.giveBack({ lastVersion: version.last(), hasEvents: takeHasEvents() })
    }
  }

  return {
    run: (work) => transact(work),
    transact,
    drain: async () => undefined,
  }
}
