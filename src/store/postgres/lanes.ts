/**
 * Quick finds share few connections. Where many wait at once, the server finds several before it looks up, instead of
 * being woken on another connection for each, and this process sends and reads several at a time.
 */
import type { Bounds } from '../store.ts'
import type { Session } from './connections.ts'
import { Unshared } from './lane.ts'
import { type LeasedLane, keepLanes } from './lane-keeper.ts'
import { createPaces } from './paces.ts'

export interface Lanes extends Disposable {
  share<T>(find: Shareable<T>): Promise<T>
}

interface Shareable<T> {
  /** Of its first statement, which stands for all of them. */
  readonly text: string
  readonly bounds: Bounds
  /** What it did counts only once it is done. */
  readonly shared: (session: Session) => Promise<T>
  /** The same on a connection of its own: for what is not quick, and for whatever could not be done otherwise. */
  readonly alone: () => Promise<T>
}

/** Time is kept exactly only alone; what is allowed less has to be. */
const LEAST_TIME_LIMIT_MS = 2_000

export function createLanes(lease: () => Promise<LeasedLane>): Lanes {
  const paces = createPaces()
  const keeper = keepLanes(lease, paces)
  let aloneUnderWay = 0

  async function findAlone<T>({ text, alone }: Shareable<T>): Promise<T> {
    const began = performance.now()
    aloneUnderWay++
    try {
      return await alone()
    } finally {
      aloneUnderWay--
      paces.noteAlone(text, performance.now() - began)
    }
  }

  return {
    async share(find) {
      const { text, bounds, shared } = find
      const pace = bounds.timeLimitMs < LEAST_TIME_LIMIT_MS ? undefined : paces.quick(text)
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
