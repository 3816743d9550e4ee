/**
 * Decides which finds are pipelined. Quick finds share few connections: finds that arrive together are sent
 * together, and the server executes one after the other without being woken for each. That takes less
 * processor time on both sides than a connection for every find.
 */
import type { Bounds } from '../../bounds.ts'
import type { SqlSession } from './connection.ts'
import { type LeasedPipeline, NotPipelined } from './pipeline.ts'
import { createPipelinePool } from './pipeline-pool.ts'
import type { PlanChoice } from './plan-choice.ts'
import { createStatementLatencies } from './statement-latency.ts'

export interface Pipelining extends Disposable {
  run<T>(find: Find<T>): Promise<T>
}

interface Find<T> {
  /** Finds of one kind take about the same time, so their latency is measured together. */
  readonly kind: string
  readonly bounds: Bounds
  readonly plans?: PlanChoice | undefined
  /** Must have no effect before it ends, because it may be abandoned halfway and repeated with `alone`. */
  readonly pipelined: (session: SqlSession) => Promise<T>
  /** The same on a connection of its own. */
  readonly alone: (timed: Timed) => Promise<T>
}

/** Wraps the work on a connection, so that the wait for a free connection is not measured. */
type Timed = <T>(work: () => Promise<T>) => Promise<T>

/**
 * A statement in a pipeline cannot be cancelled by itself, so finds with a shorter time limit run on
 * connections of their own.
 */
const MIN_TIME_LIMIT_MS = 2_000

export function createPipelining(lease: () => Promise<LeasedPipeline>): Pipelining {
  const latencies = createStatementLatencies()
  const pool = createPipelinePool({ lease })
  let aloneInFlight = 0

  async function runAlone<T>({ kind, alone }: Find<T>): Promise<T> {
    aloneInFlight++
    try {
      return await alone(async (work) => {
        const before = performance.eventLoopUtilization()
        try {
          return await work()
        } finally {
          // Only idle time counts: while this process is busy, the result lies unread.
          latencies.noteAlone(kind, performance.eventLoopUtilization(before).idle)
        }
      })
    } finally {
      aloneInFlight--
    }
  }

  return {
    async run(find) {
      const { kind, bounds, plans, pipelined } = find
      const latency = bounds.timeLimitMs < MIN_TIME_LIMIT_MS ? undefined : latencies.pipelinable(kind)
      const pipeline = latency && pool.pipelineFor(aloneInFlight)
      if (!pipeline) return await runAlone(find)
      try {
        return await pipelined({ query: (statement) => pipeline.query(statement, latency, plans) })
      } catch (error) {
        if (!(error instanceof NotPipelined)) throw error
        return await runAlone(find)
      }
    },
    [Symbol.dispose]: () => pool[Symbol.dispose](),
  }
}
