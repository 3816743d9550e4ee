/** A connection that many statements share: each is sent behind the others, without waiting for their answers. */
import type { Writable } from 'node:stream'
import type pg from 'pg'
import type { Statement } from '../sql/fragment.ts'
import { isLost, stateOf } from './failures.ts'
import { type Row, gather } from './gathering.ts'
import type { Pace } from './paces.ts'
import type { StatementNames } from './statement-names.ts'

/** For statements that only read: whatever happens to one of them here, it can be asked again elsewhere. */
export interface Lane {
  /** Fails with nothing but `Unshared`. */
  ask(statement: Statement, pace: Pace): Promise<readonly Row[]>
  /** How many wait for their answers. */
  readonly underWay: number
  /** How many have theirs. */
  readonly answered: number
  /** Since when the first of those that wait is the first, by the clock of `performance`. */
  readonly headSince: number
  /** Whether the connection is gone. */
  readonly isBroken: boolean
}

/** The statement is to be asked on a connection of its own. */
export class Unshared extends Error {}

/** Larger answers would keep the others waiting. */
const MOST_BYTES = 1024 * 1024

export function createLane(client: pg.PoolClient, names: StatementNames): Lane {
  const sendTogether = corking(client)
  let underWay = 0
  let answered = 0
  let headSince = 0
  let isBroken = false

  /** Answers come in the order of the questions. */
  function noteAnswer(pace: Pace): void {
    const now = performance.now()
    pace.note(now - headSince)
    headSince = now
    underWay--
    answered++
  }

  return {
    async ask({ text, values }, pace) {
      if (underWay === 0) headSince = performance.now()
      underWay++
      sendTogether()
      try {
        const prepared = { text, values, name: names.nameOf(text) }
        const rows = await gather(client, prepared, { mostBytes: MOST_BYTES, onTooMuch: pace.exclude })
        if (rows) return rows
      } catch (error) {
        // Why it failed is told by the next attempt.
        isBroken ||= stateOf(error) === undefined || isLost(error)
      } finally {
        noteAnswer(pace)
      }
      throw new Unshared()
    },
    get underWay() {
      return underWay
    },
    get answered() {
      return answered
    },
    get headSince() {
      return headSince
    },
    get isBroken() {
      return isBroken
    },
  }
}

/** What is asked in one turn of the event loop goes to the server in one piece. */
function corking(client: pg.PoolClient): () => void {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Writable } }).connection
  let isCorked = false
  return () => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    setImmediate(() => {
      isCorked = false
      stream.uncork()
    })
  }
}
