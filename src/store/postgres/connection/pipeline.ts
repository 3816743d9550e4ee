/** A connection that many statements share: each is sent behind the others, without waiting for their answers. */
import type pg from 'pg'
import type { Statement } from '../../sql/fragment.ts'
import { isLost, stateOf } from './failures.ts'
import { collectRows } from './collect-rows.ts'
import { NEVER_QUICK_MS, type Latency } from './statement-latency.ts'
import { type Row, sendingTogether } from './driver.ts'
import type { StatementNames } from './statement-names.ts'

/** Of each process. */
export const MAX_PIPELINES = 4

/** For statements that only read: whatever happens to one of them here, it can be asked again elsewhere. */
export interface Pipeline {
  /** Fails with nothing but `Unshared`. */
  query(statement: Statement, latency: Latency): Promise<readonly Row[]>
  /** How many wait for their answers. */
  readonly underWay: number
  /** How many have theirs. */
  readonly answered: number
  /** Since when the first of those that wait is the first, by the clock of `performance`. */
  readonly headSince: number
  /** Since when it waits altogether. */
  readonly headAskedAt: number
  /** Whether the connection is gone. */
  readonly isBroken: boolean
}

export interface LeasedPipeline {
  readonly pipeline: Pipeline
  /** With what is still under way on it, which fails. */
  readonly release: () => void
}

/** The statement is to be asked on a connection of its own. */
export class Unshared extends Error {}

/** Larger answers would keep the others waiting. */
const MAX_BYTES = 1024 * 1024

export function createPipeline(client: pg.PoolClient, names: StatementNames): Pipeline {
  const sendTogether = sendingTogether(client)
  /** Answers come in the order of the questions. */
  const askedAt: number[] = []
  let answered = 0
  let headSince = 0
  let isBroken = false

  function noteAnswer(latency: Latency): void {
    const now = performance.now()
    // It was most likely let go because of this one.
    if (isBroken && now - headSince > NEVER_QUICK_MS) latency.exclude()
    latency.note(now - headSince)
    headSince = now
    askedAt.shift()
    answered++
  }

  return {
    async query({ text, values }, latency) {
      const now = performance.now()
      if (askedAt.length === 0) headSince = now
      askedAt.push(now)
      sendTogether()
      try {
        const statement = { text, values, name: names.nameOf(text) }
        const rows = await collectRows(client, statement, {
          maxBytes: MAX_BYTES,
          onTooLarge: latency.exclude,
        })
        if (rows) return rows
      } catch (error) {
        // Why it failed is told by the next attempt.
        const isGone = stateOf(error) === undefined || isLost(error)
        if (!isGone) latency.exclude()
        isBroken ||= isGone
      } finally {
        noteAnswer(latency)
      }
      throw new Unshared()
    },
    get underWay() {
      return askedAt.length
    },
    get answered() {
      return answered
    },
    get headSince() {
      return headSince
    },
    get headAskedAt() {
      return askedAt[0] ?? Infinity
    },
    get isBroken() {
      return isBroken
    },
  }
}
