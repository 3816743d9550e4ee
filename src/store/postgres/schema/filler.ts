/**
 * Completes collections in the background: fills columns, as long as a collection has some that are not filled, and drops
 * indexes left half built.
 */
import type { SqlSession } from '../connection/connection.ts'
import type { Builder } from './builder.ts'
import { readCollections } from './catalogue.ts'
import { tryToFill } from './column-fill.ts'
import { isComplete } from './columns.ts'
import { tryToTidyUp } from './index-builds.ts'

export interface Filler extends AsyncDisposable {
  /** Starts to work, unless it is at work already. */
  wake(): void
}

/** Another process may be at work; if it dies, this one takes over. */
const RETRY_MS = 2_000

/** Each attempt delays the requests for a table in use, by up to 200 ms. */
const TIDY_MS = 10_000

export function createFiller(
  builder: Builder,
  { onError }: { readonly onError: (error: unknown) => void },
): Filler {
  let isStopped = false
  let working: Promise<void> | undefined
  let timer: NodeJS.Timeout | undefined

  async function work(): Promise<void> {
    try {
      let isDone = true
      for (const no of await incomplete(builder.connections)) {
        if (isStopped) return
        isDone = (await tryToFill(no, { ...builder, isStopped: () => isStopped })) && isDone
      }
      if (!isDone) retry(RETRY_MS)
      else if (!(await tryToTidyUp(builder))) retry(TIDY_MS)
    } catch (error) {
      if (isStopped) return
      onError(error)
      retry(RETRY_MS)
    }
  }

  function retry(ms: number): void {
    if (isStopped) return
    timer = setTimeout(wake, ms)
    timer.unref()
  }

  function wake(): void {
    if (isStopped || working) return
    clearTimeout(timer)
    working = work().finally(() => (working = undefined))
  }

  return {
    wake,
    async [Symbol.asyncDispose]() {
      isStopped = true
      clearTimeout(timer)
      await working
    },
  }
}

async function incomplete(session: SqlSession): Promise<readonly number[]> {
  return (await readCollections(session)).filter(({ layout }) => !isComplete(layout)).map(({ no }) => no)
}
