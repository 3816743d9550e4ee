/** Work that several callers wait for; it is aborted when all of them have left. */
import { callerLeft } from './work.ts'

export class SharedWork<T> {
  readonly #result: Promise<T>
  readonly #ending = new AbortController()
  #waiting = 0

  /** Begins at once. */
  constructor(work: (signal: AbortSignal) => Promise<T>, onEnd: () => void) {
    this.#result = work(this.#ending.signal)
    // whoever waits receives the error
    this.#result.then(onEnd, onEnd)
  }

  /** `left` is aborted when the caller leaves, which ends the wait; without it, the caller stays to the end. */
  async waitFor(left?: AbortSignal): Promise<T> {
    this.#waiting++
    if (!left) return await this.#result
    const leaving = Promise.withResolvers<never>()
    const leave = (): void => {
      if (--this.#waiting === 0) this.#ending.abort()
      leaving.reject(callerLeft())
    }
    if (left.aborted) leave()
    else left.addEventListener('abort', leave, { once: true })
    try {
      return await Promise.race([this.#result, leaving.promise])
    } finally {
      left.removeEventListener('abort', leave)
    }
  }
}
