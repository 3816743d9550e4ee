/** The tables beside the documents, which are the same for all engines. */
import type { Engine, EngineSession } from '../engine.ts'
import type { Bookkeeping } from '../store.ts'
import { answersIn, createAnswers } from './answers.ts'
import { engineIn } from './engine-in.ts'
import { createLocks } from './locks.ts'
import { type Collections, createMetadata } from './metadata.ts'
import { createEventStore } from './outbox.ts'
import type { OutboxTable } from './outbox-heads.ts'
import { createSequences } from './sequences.ts'
import { createSinks } from './sinks.ts'

interface BookkeepingParts {
  readonly collections: Collections
  readonly outbox: OutboxTable
}

/** Outside of transactions. */
export function bookkeepingOperations(engine: Engine, { collections, outbox }: BookkeepingParts) {
  return {
    ...createSequences(engine),
    locks: createLocks(engine),
    keyedAnswers: createAnswers(engine),
    metadata: createMetadata(engine, collections),
    events: createEventStore(engine, outbox),
    sinks: createSinks(engine),
  }
}

/** Inside the transaction of a write. Created on use, because few transactions need it. */
export function bookkeepingIn(engine: Engine, session: EngineSession): Bookkeeping {
  const within = engineIn(engine, session)
  return {
    keyedAnswers: answersIn(engine, session),
    get locks() {
      return createLocks(within)
    },
    get sinks() {
      return createSinks(within)
    },
  }
}
