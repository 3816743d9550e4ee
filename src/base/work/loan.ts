/**
 * The right to write to an embedded database, which has one writer: the main thread lends it to a worker thread of the
 * same process. Until the loan ends the main thread writes nothing; it reads the state committed before.
 */

export interface Loan {
  /** The last document version that the owner assigned; the borrower continues from it. */
  readonly lastVersion: number
  readonly giveBack: (written: LoanResult) => void
}

/** Changes by the borrower to state that the owner has in memory. */
export interface LoanResult {
  readonly lastVersion: number
  /** Whether the borrower wrote events, for which followers have to be woken. */
  readonly hasEvents: boolean
}

/** Resolves once no other thread writes. */
export type Borrow = () => Promise<Loan>
