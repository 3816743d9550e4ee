/** How long an operation of a store may take, and who pays for it. */
import type { Work } from '../base/work/work.ts'

/** When to give up on an answer. */
export interface Bounds {
  readonly timeLimitMs: number
  /** Aborted when nobody waits any more; asked for only where waiting may take long. */
  readonly getSignal?: () => AbortSignal
  /** The request that pays for what the store does in this process. */
  readonly work?: Work
  /** Who is charged for shared resources; one anonymous caller when absent. */
  readonly caller?: string
}
