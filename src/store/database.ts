/** An open database: its documents, and the bookkeeping tables beside them. */
import type { EventStore } from './events.ts'
import type { SinkStore } from './sinks.ts'
import type { Store } from './store.ts'
import type { Answers } from './tables/answers.ts'
import type { Locks } from './tables/locks.ts'
import type { MetadataStore } from './tables/metadata.ts'
import type { Transfer } from './transfer.ts'

export interface Database extends Store {
  readonly metadata: MetadataStore
  readonly locks: Locks
  /** Answers to writes with an idempotency key. */
  readonly keyedAnswers: Answers
  readonly events: EventStore
  readonly sinks: SinkStore
  /** Export and import of the whole database, for a move to another store. */
  readonly transfer: Transfer
}
