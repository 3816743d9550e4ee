/** A semaphore that admits waiting callers in turn. */
import { CallerQueue } from './caller-queue.ts'

export class FairGate {
  readonly #waiting = new CallerQueue<() => void>()
  #freeSlots: number

  constructor(slots: number) {
    this.#freeSlots = slots
  }

  async run<T>(caller: string, work: () => Promise<T>): Promise<T> {
    if (this.#freeSlots > 0) this.#freeSlots--
    else await new Promise<void>((resolve) => this.#waiting.enqueue(caller, resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.dequeue()
      if (next) next()
      else this.#freeSlots++
    }
  }
}
