/**
 * Runs operations of the store: after it has started, again with reloaded tables if the cache was outdated,
 * and with failures translated to service errors.
 */
import { isForbidden, isOutdated, toServiceError } from './connection/failures.ts'

export interface Runner extends AsyncDisposable {
  readonly run: <T>(operation: string, work: () => Promise<T>) => Promise<T>
  /** Repeats work with reloaded tables if they were outdated. */
  readonly withCurrentTables: <T>(work: () => Promise<T>) => Promise<T>
  /** The same for streams: one can be repeated as long as nothing was yielded. */
  readonly runStream: <T>(make: () => AsyncIterable<T>, around?: Around) => AsyncIterable<T>
}

/** Surrounds the read of the first piece of a stream. */
type Around = <T>(first: () => Promise<T>) => Promise<T>

interface RunnerOptions {
  /** Awaited before each operation. */
  readonly start: () => Promise<void>
  /** Reloads the tables, because a statement found the cache outdated. */
  readonly reload: () => Promise<void>
  /** Receives the messages of the server about rights that are missing: they name tables, so callers do not get them. */
  readonly onError: (error: unknown) => void
  readonly onTiming: ((operation: string, seconds: number) => void) | undefined
}

export function createRunner({ start, reload, onError, onTiming }: RunnerOptions): Runner {
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false
  let hasStarted = false

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new Error('the store is closed')
    // To await it again would cost every operation a turn of the microtasks.
    if (!hasStarted) {
      await start()
      hasStarted = true
    }
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!isOutdated(error) || attempt === ATTEMPTS) throw error
        await reload()
      }
    }
  }

  const reported = (error: unknown): unknown => {
    if (isForbidden(error)) onError(error)
    return toServiceError(error)
  }

  async function run<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const running = attempt(work)
    underWay.add(running)
    try {
      return await running
    } catch (error) {
      throw reported(error)
    } finally {
      underWay.delete(running)
      onTiming?.(operation, (performance.now() - began) / 1000)
    }
  }

  return {
    run,
    withCurrentTables: attempt,
    async *runStream(make, around = (first) => first()) {
      // The first piece is read here, because failures that a repetition can cure appear with it.
      const { first, rest } = await run('stream', async () => {
        const pieces = make()[Symbol.asyncIterator]()
        return { first: await around(() => pieces.next()), rest: pieces }
      })
      try {
        for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value
      } catch (error) {
        throw reported(error)
      } finally {
        await rest.return?.()
      }
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(underWay)
      isClosed = true
    },
  }
}

const ATTEMPTS = 5
