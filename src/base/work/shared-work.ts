/** Work that several callers wait for; it is aborted when all of them have left. */

export class SharedWork<T> {
  readonly #result: Promise<T>
  readonly #ending = new AbortController()
  #waiting = 0

  /** Begins at once. */
  constructor(work: (signal: AbortSignal) => Promise<T>) {
    this.#result = work(this.#ending.signal)
    // whoever waits receives the error
    this.#result.catch(() => undefined)
  }

  /** `left` is aborted when the caller leaves; without it, the caller stays to the end. */
  async waitFor(left?: AbortSignal): Promise<T> {
    this.#waiting++
    const leave = (): void => {
      if (--this.#waiting === 0) this.#ending.abort()
    }
    if (left?.aborted) leave()
    else left?.addEventListener('abort', leave, { once: true })
    try {
      return await this.#result
    } finally {
      left?.removeEventListener('abort', leave)
    }
  }
}
