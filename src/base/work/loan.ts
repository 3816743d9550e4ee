/**
 * The right to write to an embedded database, lent by the thread that owns it to another thread of the same process.
 * While it is lent the owner writes nothing; it reads what was committed before.
 */

export interface Loan {
  /** The last document version that the owner gave; the borrower goes on from there. */
  readonly lastVersion: number
  readonly giveBack: (written: Written) => void
}

/** What the borrower did, as far as the owner keeps it in memory. */
export interface Written {
  readonly lastVersion: number
  /** Whether there are new events for those who follow them. */
  readonly hasEvents: boolean
}

/** Waits until nobody else writes. */
export type Borrow = () => Promise<Loan>
