/**
 * Memory shared by readers, with one limit for all of them and one per caller. Reservations that do not fit
 * wait, with round-robin between callers.
 */
interface ByteLimits {
  readonly all: number
  readonly perCaller: number
}

interface Waiting {
  readonly bytes: number
  /** Called with undefined if the reservation was aborted. */
  readonly grant: (share: Disposable | undefined) => void
  readonly signal: AbortSignal
}

export class ByteShares {
  readonly #limits: ByteLimits
  readonly #usedBy = new Map<string, number>()
  readonly #waiting = new Map<string, Waiting[]>()
  #used = 0

  constructor(limits: ByteLimits) {
    this.#limits = limits
  }

  /**
   * Undefined if the signal is aborted first. A reservation above the limit is granted to a caller that has
   * no other one.
   */
  async reserve(caller: string, bytes: number, signal: AbortSignal): Promise<Disposable | undefined> {
    if (signal.aborted) return undefined
    if (!this.#waiting.has(caller) && this.#hasRoom(caller, bytes)) return this.#take(caller, bytes)
    const { promise, resolve } = Promise.withResolvers<Disposable | undefined>()
    const line = this.#waiting.get(caller)
    const waiting = { bytes, grant: resolve, signal }
    if (line) line.push(waiting)
    else this.#waiting.set(caller, [waiting])
    const leave = (): void => resolve(undefined)
    signal.addEventListener('abort', leave, { once: true })
    const share = await promise
    signal.removeEventListener('abort', leave)
    return share
  }

  #hasRoom(caller: string, bytes: number): boolean {
    const own = this.#usedBy.get(caller) ?? 0
    const { all, perCaller } = this.#limits
    return (own === 0 || own + bytes <= perCaller) && (this.#used === 0 || this.#used + bytes <= all)
  }

  #take(caller: string, bytes: number): Disposable {
    this.#used += bytes
    this.#usedBy.set(caller, (this.#usedBy.get(caller) ?? 0) + bytes)
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (!isHeld) return
        isHeld = false
        this.#used -= bytes
        const left = this.#usedBy.get(caller)! - bytes
        if (left > 0) this.#usedBy.set(caller, left)
        else this.#usedBy.delete(caller)
        this.#serve()
      },
    }
  }

  /**
   * Grants the reservations that fit, in order for each caller. A caller that was served moves to the end of
   * the queue.
   */
  #serve(): void {
    const lines = [...this.#waiting]
    for (const [caller, line] of lines) {
      const left = this.#servedFrom(caller, line)
      if (left === line) continue
      this.#waiting.delete(caller)
      if (left.length > 0) this.#waiting.set(caller, left)
    }
  }

  #servedFrom(caller: string, line: Waiting[]): Waiting[] {
    let served = 0
    for (const { bytes, grant, signal } of line) {
      if (!signal.aborted) {
        if (!this.#hasRoom(caller, bytes)) break
        grant(this.#take(caller, bytes))
      }
      served++
    }
    return served === 0 ? line : line.slice(served)
  }
}
