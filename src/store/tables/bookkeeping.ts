/** Bookkeeping inside the transaction of a write. */
import type { Engine, EngineSession } from '../engine.ts'
import type { Bookkeeping } from '../store.ts'
import { answersIn } from './answers.ts'
import { engineIn } from './engine-in.ts'
import { createLocks } from './locks.ts'
import { createSinks } from './sinks.ts'

/** Created on use, because few transactions need it. */
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
