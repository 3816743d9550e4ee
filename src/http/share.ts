/**
 * A limit that callers share, such as bytes or connections. One caller gets at most half of it, so that none can exhaust
 * it alone.
 */
import { ServiceError } from '../base/errors.ts'

export class Share {
  readonly #limit: number
  readonly #part: number
  readonly #byCaller = new Map<string, number>()
  #used = 0

  constructor(limit: number) {
    this.#limit = limit
    this.#part = Math.ceil(limit / 2)
  }

  /** Returns whether the amount fits. While nothing is in use, any amount does: a large one would never fit otherwise. */
  take(caller: string, amount: number): boolean {
    const own = this.#byCaller.get(caller) ?? 0
    const fits = this.#used + amount <= this.#limit && (own === 0 || own + amount <= this.#part)
    if (!fits && this.#used > 0) return false
    this.add(caller, amount)
    return true
  }

  /** Counts an amount even if it exceeds the limit, for memory that is in use already. */
  add(caller: string, amount: number): void {
    this.#used += amount
    this.#byCaller.set(caller, (this.#byCaller.get(caller) ?? 0) + amount)
  }

  release(caller: string, amount: number): void {
    this.#used -= amount
    const left = (this.#byCaller.get(caller) ?? 0) - amount
    if (left > 0) this.#byCaller.set(caller, left)
    else this.#byCaller.delete(caller)
  }

  isFullFor(caller: string): boolean {
    return this.#used >= this.#limit || (this.#byCaller.get(caller) ?? 0) >= this.#part
  }

  get used(): number {
    return this.#used
  }
}

/** The part of a share that one request uses. It may grow, and is released once. */
export class Holding implements Disposable {
  readonly #share: Share
  readonly #caller: string
  #amount = 0

  constructor(share: Share, caller: string) {
    this.#share = share
    this.#caller = caller
  }

  /** Throws a 503 error when the amount does not fit. */
  take(amount: number, what: string): void {
    if (!this.#share.take(this.#caller, amount)) throw noRoom(what)
    this.#amount += amount
  }

  [Symbol.dispose](): void {
    if (this.#amount > 0) this.#share.release(this.#caller, this.#amount)
    this.#amount = 0
  }
}

export function noRoom(what: string): ServiceError {
  return new ServiceError('crud:Unavailable', `${what}; try again in a second`)
}
