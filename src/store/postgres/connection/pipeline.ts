/** A connection that many statements share: each is sent without waiting for the results of those before it. */
import type pg from 'pg'
import type { Statement } from '../../sql/fragment.ts'
import { isLost, stateOf } from './failures.ts'
import { collectRows } from './collect-rows.ts'
import { type Row, sendingTogether } from './driver.ts'
import { type PlanChoice, choosePlans } from './plan-choice.ts'
import type { Latency } from './statement-latency.ts'
import type { StatementNames } from './statement-names.ts'

/** Only for statements that read: one that fails here, for whatever reason, is repeated on another connection. */
export interface Pipeline {
  /** Rejects only with `NotPipelined`. */
  query(statement: Statement, latency: Latency, plans?: PlanChoice): Promise<readonly Row[]>
  /** The number of statements without a result yet. */
  readonly inFlight: number
  /** The number of statements that have ended. */
  readonly answered: number
  /** When the oldest statement without a result became the head, by the clock of `performance`. */
  readonly headSince: number
  /** Whether the connection is lost. */
  readonly isBroken: boolean
}

export interface LeasedPipeline {
  readonly pipeline: Pipeline
  /** Statements in flight fail. */
  readonly release: () => void
}

/** The statement must run on a connection of its own. */
export class NotPipelined extends Error {}

/**
 * The server sends results strictly in order, so a slow statement delays all statements behind it. After this
 * time at the head, the pipeline is released.
 */
export const MAX_HEAD_MS = 50

/** Larger results would delay the statements behind them. */
const MAX_BYTES = 1024 * 1024

export function createPipeline(client: pg.PoolClient, names: StatementNames): Pipeline {
  const sendTogether = sendingTogether(client)
  let inFlight = 0
  let answered = 0
  let headSince = 0
  let idleBefore = 0
  let isBroken = false

  /** The next statement becomes the head: the server executes it from now on. */
  function startHead(): void {
    headSince = performance.now()
    idleBefore = idleMs()
  }

  function noteAnswer(latency: Latency): void {
    // The pipeline was most likely released because of this statement.
    if (isBroken && performance.now() - headSince > MAX_HEAD_MS) latency.exclude()
    // Only idle time counts: while this process is busy, results lie unread, which does not measure the
    // server.
    latency.note(idleMs() - idleBefore)
    startHead()
    inFlight--
    answered++
  }

  return {
    async query({ text, values }, latency, plans = 'auto') {
      if (inFlight === 0) startHead()
      inFlight++
      sendTogether()
      choosePlans(client, plans)
      try {
        const statement = { text, values, name: names.nameOf(text) }
        const rows = await collectRows(client, statement, {
          maxBytes: MAX_BYTES,
          onTooLarge: latency.exclude,
        })
        if (rows) return rows
      } catch (error) {
        // The repetition on another connection reports the reason.
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

/** Idle time of this thread's event loop since it started. */
function idleMs(): number {
  return performance.eventLoopUtilization().idle
}
