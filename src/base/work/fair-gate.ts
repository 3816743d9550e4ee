/** Lets so many through at a time; callers that wait are admitted in turn. */
import { CallerQueue } from './caller-queue.ts'

export class FairGate {
  readonly #waiting = new CallerQueue<() => void>()
  #free: number

  constructor(most: number) {
    this.#free = most
  }

  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.add(caller, resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.take()
      if (next) next()
      else this.#free++
    }
  }
}
