/**
 * Quick finds share few connections: what is asked at once is sent at once, and the server answers one after the other
 * without being woken for each. That takes less of both processors than a connection for every find.
 */
import type { Bounds } from '../../bounds.ts'
import type { Session } from './connections.ts'
import { type LeasedPipeline, Unshared } from './pipeline.ts'
import { createPipelinePool } from './pipeline-pool.ts'
import { createStatementLatencies } from './statement-latency.ts'

export interface Pipelining extends Disposable {
  share<T>(find: Shareable<T>): Promise<T>
}

interface Shareable<T> {
  /** Finds of one kind are about as quick as each other. */
  readonly kind: string
  readonly bounds: Bounds
  /** What it did counts only once it is done. */
  readonly shared: (session: Session) => Promise<T>
  /** The same on a connection of its own: for what is not quick, and for whatever could not be done otherwise. */
  readonly alone: (timed: Timed, isSlow: boolean) => Promise<T>
}

/** To be put around what is done once there is a connection: to wait for one says nothing about the find. */
type Timed = <T>(work: () => Promise<T>) => Promise<T>

/** Time is kept exactly only alone; what is allowed less has to be. */
const MIN_TIME_LIMIT_MS = 2_000

export function createPipelining(lease: () => Promise<LeasedPipeline>): Pipelining {
  const latencies = createStatementLatencies()
  const keeper = createPipelinePool({ lease, latencies })
  let aloneUnderWay = 0

  async function findAlone<T>({ kind, alone }: Shareable<T>): Promise<T> {
    aloneUnderWay++
    try {
      return await alone(async (work) => {
        const before = performance.eventLoopUtilization()
        try {
          return await work()
        } finally {
          // Nor does the time in which this process did something else, and may have been late to read the answer.
          latencies.noteAlone(kind, performance.eventLoopUtilization(before).idle)
        }
      }, latencies.isSlow(kind))
    } finally {
      aloneUnderWay--
    }
  }

  return {
    async share(find) {
      const { kind, bounds, shared } = find
      const latency = bounds.timeLimitMs < MIN_TIME_LIMIT_MS ? undefined : latencies.quick(kind)
      const pipeline = latency && keeper.pipelineFor(aloneUnderWay)
      if (!pipeline) return await findAlone(find)
      try {
        return await shared({ query: (statement) => pipeline.query(statement, latency) })
      } catch (error) {
        if (!(error instanceof Unshared)) throw error
        return await findAlone(find)
      }
    },
    [Symbol.dispose]: () => keeper[Symbol.dispose](),
  }
}
