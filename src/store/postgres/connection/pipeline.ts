/** A connection that many statements share: each is sent behind the others, without waiting for their answers. */
import type pg from 'pg'
import type { Statement } from '../../sql/fragment.ts'
import { isLost, stateOf } from './failures.ts'
import { collectRows } from './collect-rows.ts'
import { type Row, sendingTogether } from './driver.ts'
import type { Latency } from './statement-latency.ts'
import type { StatementNames } from './statement-names.ts'

/** Only for statements that read: one that fails here, for whatever reason, is run again on another connection. */
export interface Pipeline {
  /** Fails with nothing but `NotPipelined`. */
  query(statement: Statement, latency: Latency): Promise<readonly Row[]>
  /** How many statements wait for their answers. */
  readonly inFlight: number
  /** How many have theirs. */
  readonly answered: number
  /** Since when the first of those that wait is the first, by the clock of `performance`. */
  readonly headSince: number
  /** Whether the connection is gone. */
  readonly isBroken: boolean
}

export interface LeasedPipeline {
  readonly pipeline: Pipeline
  /** Statements in flight fail. */
  readonly release: () => void
}

/** The statement is to be run on a connection of its own. */
export class NotPipelined extends Error {}

/** The server answers strictly in order, so that a statement that runs longer than this is not worth waiting for. */
export const MAX_HEAD_MS = 50

/** Larger answers would keep the others waiting. */
const MAX_BYTES = 1024 * 1024

export function createPipeline(client: pg.PoolClient, names: StatementNames): Pipeline {
  const sendTogether = sendingTogether(client)
  let inFlight = 0
  let answered = 0
  let headSince = 0
  let idleBefore = 0
  let isBroken = false

  /** The next statement becomes the head: the server works on it from now on. */
  function startHead(): void {
    headSince = performance.now()
    idleBefore = idleMs()
  }

  function noteAnswer(latency: Latency): void {
    // The pipeline was most likely released because of this statement.
    if (isBroken && performance.now() - headSince > MAX_HEAD_MS) latency.exclude()
    // Only idle time counts. While this process is busy, answers lie unread, and that says nothing about the server.
    latency.note(idleMs() - idleBefore)
    startHead()
    inFlight--
    answered++
  }

  return {
    async query({ text, values }, latency) {
      if (inFlight === 0) startHead()
      inFlight++
      sendTogether()
      try {
        const statement = { text, values, name: names.nameOf(text) }
        const rows = await collectRows(client, statement, {
          maxBytes: MAX_BYTES,
          onTooLarge: latency.exclude,
        })
        if (rows) return rows
      } catch (error) {
        // The reason is reported by the attempt on another connection.
        const isGone = stateOf(error) === undefined || isLost(error)
        if (!isGone) latency.exclude()
        isBroken ||= isGone
      } finally {
        noteAnswer(latency)
      }
      throw new NotPipelined()
    },
    get inFlight() {
      return inFlight
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

/** How long the event loop of this thread has had nothing to do since it started. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle
}
