/**
 * Quick finds share few connections: what is asked at once is sent at once, and the server answers one after the other
 * without being woken for each. That takes less of both processors than a connection for every find.
 */
import type { Bounds } from '../../store.ts'
import type { Session } from './connections.ts'
import { type LeasedLane, Unshared } from './pipeline.ts'
import { keepLanes } from './pipeline-pool.ts'
import { createPaces } from './statement-latency.ts'

export interface Lanes extends Disposable {
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

export function createLanes(lease: () => Promise<LeasedLane>): Lanes {
  const paces = createPaces()
  const keeper = keepLanes({ lease, paces })
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
          paces.noteAlone(kind, performance.eventLoopUtilization(before).idle)
        }
      }, paces.isSlow(kind))
    } finally {
      aloneUnderWay--
    }
  }

  return {
    async share(find) {
      const { kind, bounds, shared } = find
      const pace = bounds.timeLimitMs < MIN_TIME_LIMIT_MS ? undefined : paces.quick(kind)
      const lane = pace && keeper.laneFor(aloneUnderWay)
      if (!lane) return await findAlone(find)
      try {
        return await shared({ ask: (statement) => lane.ask(statement, pace) })
      } catch (error) {
        if (!(error instanceof Unshared)) throw error
        return await findAlone(find)
      }
    },
    [Symbol.dispose]: () => keeper[Symbol.dispose](),
  }
}
