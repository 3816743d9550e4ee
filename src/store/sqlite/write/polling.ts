/** Work that is looked for at intervals. It is done one at a time, and ends before the disposal does. */

interface Polling {
  readonly everyMs: number
  /** Starts work if there is any. The signal is aborted when the polling ends. */
  readonly look: (signal: AbortSignal) => Promise<void> | undefined
}

/** Errors are skipped, because they would end the process: readers and writers report them, and the next round tries again. */
export function pollFor({ everyMs, look }: Polling): AsyncDisposable {
  const closing = new AbortController()
  let working: Promise<void> | undefined
  const round = (): void => {
    if (working) return
    try {
      working = look(closing.signal)
        ?.catch(() => undefined)
        .finally(() => (working = undefined))
    } catch {
      // See above.
    }
  }
  const timer = setInterval(round, everyMs).unref()
  return {
    async [Symbol.asyncDispose]() {
      closing.abort()
      clearInterval(timer)
      await working
    },
  }
}
