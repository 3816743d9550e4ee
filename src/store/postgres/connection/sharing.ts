/**
 * Shares statements between requests. Requests about single rows of one table that wait at the same time become one
 * statement, which takes one round trip, and for writes one flush of the log. The busier the service is, the more of
 * them share a statement. A request that nobody shares with runs alone, within its own bounds.
 */
import { ServiceError } from '../../../base/errors.ts'
import type { Bounds } from '../../bounds.ts'

export interface Sharing<Table, T, R> {
  run(request: SharedRequest<Table, T, R>): Promise<R>
}

interface SharedRequest<Table, T, R> {
  /** Requests share a statement if they are about the same table. */
  readonly table: Table
  readonly item: T
  readonly bounds: Bounds
  /** The same on a connection of its own, within the bounds. */
  readonly alone: () => Promise<R>
}

interface SharingOptions<Table, T, R> {
  /** Of a shared statement. One that takes longer, because it waits for a lock, is cancelled, and its requests run alone. */
  readonly timeLimitMs: number
  /** Requests with a shorter time limit run alone, because a shared statement cannot be cancelled for one of its requests. */
  readonly minTimeLimitMs: number
  /** Whether a single request is sent as a batch of one, instead of running alone. */
  readonly batchesSingle?: boolean
  /**
   * How long requests wait at most for the running statements on their table, which may wait for row locks themselves.
   * Absent: until one of them has ended.
   */
  readonly maxWaitMs?: number
  /** Requests that share a statement, at most. */
  readonly maxItems?: number
  /** Requests that arrive while this many statements on their table run wait for the next one, so batches grow with the load. */
  readonly maxUnderWay?: number
  /** A caller of a request that has waited longer may have left meanwhile, and is asked. */
  readonly longWaitMs?: number
  /** Further requests run alone, which the limits of the pool of connections apply to. */
  readonly maxWaiting: number
  /** Returns the results in the order of the items. It must end soon, because nobody can cancel a part of it. */
  readonly together: (table: Table, items: readonly T[]) => Promise<readonly R[]>
  /** Whether nothing has happened if `together` fails this way; then each request runs alone. */
  readonly mayRepeat: (error: unknown) => boolean
}

interface Waiting<Table, T, R> extends SharedRequest<Table, T, R> {
  readonly sinceMs: number
  readonly resolve: (result: R) => void
  readonly reject: (reason: unknown) => void
}

/** Then requests about this table run alone for a while: the lock may be held for long. */
const AFTER_FAILURE_MS = 1_000

export function createSharing<Table extends object, T, R>(
  options: SharingOptions<Table, T, R>,
): Sharing<Table, T, R> {
  const byTable = new WeakMap<Table, Shared<Table, T, R>>()
  return {
    run(request) {
      const { table, bounds } = request
      if (bounds.timeLimitMs < options.minTimeLimitMs) return request.alone()
      const shared = byTable.get(table) ?? sharedOn(table, options)
      byTable.set(table, shared)
      return shared.run(request)
    },
  }
}

interface Shared<Table, T, R> {
  run(request: SharedRequest<Table, T, R>): Promise<R>
}

function sharedOn<Table, T, R>(
  table: Table,
  {
    together,
    mayRepeat,
    timeLimitMs,
    batchesSingle = false,
    maxItems = 64,
    maxUnderWay = 2,
    maxWaitMs,
    longWaitMs = 50,
    maxWaiting,
  }: SharingOptions<Table, T, R>,
): Shared<Table, T, R> {
  const waiting = createRoundRobin<Waiting<Table, T, R>>()
  let underWay = 0
  let isScheduled = false
  let maxWaitTimer: NodeJS.Timeout | undefined
  let aloneUntil = -Infinity

  function schedule(): void {
    if (waiting.size === 0) return
    if (underWay >= maxUnderWay) {
      if (maxWaitMs !== undefined) maxWaitTimer ??= setTimeout(sendNext, maxWaitMs)
    } else if (!isScheduled) {
      // At the end of the iteration of the event loop, so that requests that arrive in it join the batch.
      isScheduled = true
      setImmediate(sendNext)
    }
  }

  function sendNext(): void {
    isScheduled = false
    clearTimeout(maxWaitTimer)
    maxWaitTimer = undefined
    const batch = waiting.take(maxItems)
    const gone = callersGone(batch, longWaitMs)
    const present = gone.size === 0 ? batch : batch.filter((each) => !gone.has(each))
    void answerAlone([...gone])
    if (present.length > 0)
      occupy(present.length === 1 && !batchesSingle ? answerAlone(present) : answer(present))
    schedule()
  }

  /** A request that runs alone may wait for a lock until its own time limit, so it counts no longer than a shared one. */
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
    const limit = setTimeout(end, timeLimitMs)
    void work.finally(end)
  }

  async function answer(batch: readonly Waiting<Table, T, R>[]): Promise<void> {
    try {
      const results = await together(
        table,
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
      const sinceMs = performance.now()
      if (sinceMs < aloneUntil || waiting.size >= maxWaiting) return request.alone()
      const { promise, resolve, reject } = Promise.withResolvers<R>()
      waiting.add(request.bounds.caller ?? '', { ...request, sinceMs, resolve, reject })
      schedule()
      return promise
    },
  }
}

/**
 * The requests whose callers have disconnected meanwhile. Only those that have waited are asked: a signal costs more than
 * the rest of a short request.
 */
function callersGone<W extends { readonly bounds: Bounds; readonly sinceMs: number }>(
  batch: readonly W[],
  longWaitMs: number,
): ReadonlySet<W> {
  const before = performance.now() - longWaitMs
  return new Set(
    batch.filter(({ bounds, sinceMs }) => sinceMs < before && bounds.getSignal?.().aborted === true),
  )
}

/** Whether the statement waited too long, for a lock or a connection. Any other failure belongs to one of its requests. */
function isSlow(error: unknown): boolean {
  return error instanceof ServiceError && SLOW.has(error.code)
}

const SLOW: ReadonlySet<string> = new Set(['store-crud:Timeout', 'crud:Unavailable'])

async function answerAlone<Table, T, R>(batch: readonly Waiting<Table, T, R>[]): Promise<void> {
  await Promise.all(batch.map(({ alone, resolve, reject }) => alone().then(resolve, reject)))
}

interface RoundRobin<W> {
  add(caller: string, item: W): void
  take(max: number): readonly W[]
  readonly size: number
}

/** Takes one of each caller, again and again, so that many requests of one do not delay those of another. */
function createRoundRobin<W>(): RoundRobin<W> {
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
