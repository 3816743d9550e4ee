/**
 * Shares statements between requests. Requests about single rows of one table that wait at the same time become one
 * statement, which takes one round trip, and for writes one flush of the log. The busier the service is, the more of
 * them share a statement. A request that nobody shares with runs alone, within its own bounds.
 */
import type { Bounds } from '../../bounds.ts'

export interface Sharing<P, T, R> {
  run(request: SharedRequest<P, T, R>): Promise<R>
}

export interface SharedRequest<P, T, R> {
  /** Requests share a statement if they have the same place. */
  readonly place: P
  readonly item: T
  readonly bounds: Bounds
  /** The same on a connection of its own, within the bounds. */
  readonly alone: () => Promise<R>
}

interface SharingOptions<P, T, R> {
  /** Returns the results in the order of the items. It must end soon, because nobody can cancel a part of it. */
  readonly together: (place: P, items: readonly T[]) => Promise<readonly R[]>
  /** Whether nothing has happened if `together` fails this way; then each request runs alone. */
  readonly mayRepeat: (error: unknown) => boolean
}

interface Waiting<P, T, R> extends SharedRequest<P, T, R> {
  readonly resolve: (result: R) => void
  readonly reject: (reason: unknown) => void
}

/** A shared statement cannot be cancelled for one of its requests, so those with a shorter time limit run alone. */
const MIN_TIME_LIMIT_MS = 2_000

/** A shared statement that takes longer, because it waits for a lock, is cancelled, and its requests run alone. */
export const SHARED: Bounds = { timeLimitMs: 200 }

/** Then requests run alone for a while: the lock may be held for long. */
const AFTER_FAILURE_MS = 1_000

/** Requests that arrive while this many statements run wait for the next one, so batches grow with the load. */
const MAX_UNDER_WAY = 2

/** But no longer than this: what runs may wait for the lock of a row. */
const MAX_WAIT_MS = 10

const MAX_ITEMS = 64

export function createSharing<P, T, R>(options: SharingOptions<P, T, R>): Sharing<P, T, R> {
  const { together, mayRepeat } = options
  const waiting = new Map<P, Turns<Waiting<P, T, R>>>()
  let underWay = 0
  let isScheduled = false
  let patience: NodeJS.Timeout | undefined
  let aloneUntil = -Infinity

  function schedule(): void {
    if (waiting.size === 0) return
    if (underWay >= MAX_UNDER_WAY) {
      patience ??= setTimeout(sendNext, MAX_WAIT_MS)
    } else if (!isScheduled) {
      // At the end of the turn of the event loop, so that requests that arrive in it join the batch.
      isScheduled = true
      setImmediate(sendNext)
    }
  }

  function sendNext(): void {
    isScheduled = false
    clearTimeout(patience)
    patience = undefined
    const [next] = waiting
    if (!next) return
    const [place, turns] = next
    waiting.delete(place)
    const batch = turns.take(MAX_ITEMS)
    if (turns.size > 0) waiting.set(place, turns)
    underWay++
    void answer(place, batch).finally(() => {
      underWay--
      schedule()
    })
    schedule()
  }

  async function answer(place: P, batch: readonly Waiting<P, T, R>[]): Promise<void> {
    if (batch.length === 1) return await answerAlone(batch)
    try {
      const results = await together(
        place,
        batch.map(({ item }) => item),
      )
      for (const [i, { resolve }] of batch.entries()) resolve(results[i]!)
    } catch (error) {
      if (!mayRepeat(error)) return batch.forEach(({ reject }) => reject(error))
      aloneUntil = performance.now() + AFTER_FAILURE_MS
      await answerAlone(batch)
    }
  }

  return {
    run(request) {
      if (request.bounds.timeLimitMs < MIN_TIME_LIMIT_MS || performance.now() < aloneUntil)
        return request.alone()
      const { promise, resolve, reject } = Promise.withResolvers<R>()
      const { place, bounds } = request
      const turns = waiting.get(place) ?? createTurns<Waiting<P, T, R>>()
      waiting.set(place, turns)
      turns.add(bounds.caller ?? '', { ...request, resolve, reject })
      schedule()
      return promise
    },
  }
}

async function answerAlone<P, T, R>(batch: readonly Waiting<P, T, R>[]): Promise<void> {
  await Promise.all(batch.map(({ alone, resolve, reject }) => alone().then(resolve, reject)))
}

interface Turns<W> {
  add(caller: string, item: W): void
  take(max: number): readonly W[]
  readonly size: number
}

/** Takes from all callers in turn, so that many requests of one do not delay those of another. */
function createTurns<W>(): Turns<W> {
  const callers = new Map<string, Set<W>>()
  let size = 0
  return {
    add(caller, item) {
      const items = callers.get(caller)
      if (items) items.add(item)
      else callers.set(caller, new Set([item]))
      size++
    },
    take(max) {
      const taken: W[] = []
      for (let [next] = callers; next && taken.length < max; [next] = callers) {
        const [caller, items] = next
        const item = items.values().next().value!
        callers.delete(caller)
        items.delete(item)
        if (items.size > 0) callers.set(caller, items)
        taken.push(item)
        size--
      }
      return taken
    },
    get size() {
      return size
    },
  }
}
