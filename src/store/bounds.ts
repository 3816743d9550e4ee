/** Limits for one operation of a store: its time, its cancellation, and the request and caller it is charged to. */
import type { Work } from '../base/work/work.ts'

export interface Bounds {
  readonly timeLimitMs: number
  /**
   * Aborted when the caller has disconnected. A function, because a signal is created only for operations
   * that may wait long.
   */
  readonly getSignal?: (() => AbortSignal) | undefined
  /** The budget that is charged for the work of the store in this process. */
  readonly work?: Work
  /** The caller whose share of reader threads and connections is used; one anonymous caller when absent. */
  readonly caller?: string | undefined
}
