/**
 * Shares statements between requests. Requests about single rows of one table that wait at the same time become one
 * statement, which takes one round trip, and for writes one flush of the log. The busier the service is, the more of
 * them share a statement. A request that nobody shares with runs alone, within its own bounds.
 */
import { ServiceError } from '../../../base/errors.ts'
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

/** Then requests of this place run alone for a while: the lock may be held for long. */
const AFTER_FAILURE_MS = 1_000

/** Requests that arrive while this many statements of their place run wait for the next one, so batches grow with the load. */
const MAX_UNDER_WAY = 2

/** But no longer than this: what runs may wait for the lock of a row. */
const MAX_WAIT_MS = 10

const MAX_ITEMS = 64

/** Further requests run alone, which the limits of the pool of connections apply to. */
const MAX_WAITING = 1_000

export function createSharing<P extends object, T, R>(options: SharingOptions<P, T, R>): Sharing<P, T, R> {
  const places = new WeakMap<P, Shared<P, T, R>>()
  return {
    run(request) {
      const { place, bounds } = request
      if (bounds.timeLimitMs < MIN_TIME_LIMIT_MS) return request.alone()
      const shared = places.get(place) ?? sharedAt(place, options)
      places.set(place, shared)
      return shared.run(request)
    },
  }
}

interface Shared<P, T, R> {
  run(request: SharedRequest<P, T, R>): Promise<R>
}

function sharedAt<P, T, R>(place: P, { together, mayRepeat }: SharingOptions<P, T, R>): Shared<P, T, R> {
  const turns = createTurns<Waiting<P, T, R>>()
  let underWay = 0
  let isScheduled = false
  let patience: NodeJS.Timeout | undefined
  let aloneUntil = -Infinity

  function schedule(): void {
    if (turns.size === 0) return
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
    const batch = turns.take(MAX_ITEMS)
    const present = batch.filter((each) => !hasLeft(each))
    void answerAlone(batch.filter(hasLeft))
    if (present.length > 0) occupy(present.length === 1 ? answerAlone(present) : answer(present))
    schedule()
  }

  /** A request that runs alone may wait for a lock for as long as it likes, so it counts only as long as a shared one. */
  function occupy(work: Promise<void>): void {
    underWay++
    let isOver = false
    const end = (): void => {
      if (isOver) return
      isOver = true
      clearTimeout(limit)
      underWay--
      schedule()
    }
    const limit = setTimeout(end, SHARED.timeLimitMs)
    void work.finally(end)
  }

  async function answer(batch: readonly Waiting<P, T, R>[]): Promise<void> {
    try {
      const results = await together(
        place,
        batch.map(({ item }) => item),
      )
      for (const [i, { resolve }] of batch.entries()) resolve(results[i]!)
    } catch (error) {
      if (!mayRepeat(error)) return batch.forEach(({ reject }) => reject(error))
      if (isSlow(error)) aloneUntil = performance.now() + AFTER_FAILURE_MS
      void answerAlone(batch)
    }
  }

  return {
    run(request) {
      if (performance.now() < aloneUntil || turns.size >= MAX_WAITING) return request.alone()
      const { promise, resolve, reject } = Promise.withResolvers<R>()
      turns.add(request.bounds.caller ?? '', { ...request, resolve, reject })
      schedule()
      return promise
    },
  }
}

function hasLeft({ bounds }: { readonly bounds: Bounds }): boolean {
  return bounds.getSignal?.().aborted === true
}

/** Whether the statement waited too long, for a lock or a connection. Any other failure belongs to one of its requests. */
function isSlow(error: unknown): boolean {
  return error instanceof ServiceError && SLOW.has(error.code)
}

const SLOW: ReadonlySet<string> = new Set(['store-crud:Timeout', 'crud:Unavailable'])

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
