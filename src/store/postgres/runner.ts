/** Runs what the store is asked for: begun once the store is ready, repeated with newer tables, told in our own words. */
import { isOutdated, toServiceError } from './connection/failures.ts'

export interface Runner extends AsyncDisposable {
  readonly run: <T>(operation: string, work: () => Promise<T>) => Promise<T>
  /** The same for what is given piece by piece: it can be repeated as long as nothing was given. */
  readonly runStream: <T>(make: () => AsyncIterable<T>) => AsyncIterable<T>
}

interface RunnerOptions {
  /** Awaited before anything else. */
  readonly start: () => Promise<void>
  /** Reads the tables again, because a statement found them changed. */
  readonly reload: () => Promise<void>
  readonly onTiming: ((operation: string, seconds: number) => void) | undefined
}

export function createRunner({ start, reload, onTiming }: RunnerOptions): Runner {
  const underWay = new Set<Promise<unknown>>()
  let isClosed = false

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (isClosed) throw new Error('the store is closed')
    await start()
    for (let attempt = 1; ; attempt++) {
      try {
        return await work()
      } catch (error) {
        if (!isOutdated(error) || attempt === ATTEMPTS) throw error
        await reload()
      }
    }
  }

  async function run<T>(operation: string, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const running = attempt(work)
    underWay.add(running)
    try {
      return await running
    } catch (error) {
      throw toServiceError(error)
    } finally {
      underWay.delete(running)
      onTiming?.(operation, (performance.now() - began) / 1000)
    }
  }

  return {
    run,
    async *runStream(make) {
      // Whatever makes it fail at its beginning shows with the first piece.
      const { first, rest } = await run('stream', async () => {
        const pieces = make()[Symbol.asyncIterator]()
        return { first: await pieces.next(), rest: pieces }
      })
      try {
        for (let piece = first; !piece.done; piece = await rest.next()) yield piece.value
      } catch (error) {
        throw toServiceError(error)
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
