/**
 * A round-robin queue of callers, first in, first out for each of them: many requests of one caller do not delay the
 * requests of others.
 */
export class CallerQueue<T> {
  /** The order of the map is the order of turns: a caller that was served moves to the end. */
  readonly #itemsByCaller = new Map<string, CallerItems<T>>()

  enqueue(caller: string, item: T): void {
    const queued = this.#itemsByCaller.get(caller)
    if (queued) queued.items.push(item)
    else this.#itemsByCaller.set(caller, { items: [item], served: 0 })
  }

  dequeue(): T | undefined {
    const [next] = this.#itemsByCaller
    if (!next) return undefined
    const [caller, queued] = next
    const item = queued.items[queued.served++]!
    this.#itemsByCaller.delete(caller)
    if (queued.served < queued.items.length) this.#itemsByCaller.set(caller, compacted(queued))
    return item
  }

  get isEmpty(): boolean {
    return this.#itemsByCaller.size === 0
  }
}

interface CallerItems<T> {
  readonly items: T[]
  served: number
}

/** Removes served items once they are half of the array: removing each by itself would be quadratic. */
function compacted<T>(queued: CallerItems<T>): CallerItems<T> {
  if (queued.served * 2 < queued.items.length) return queued
  return { items: queued.items.slice(queued.served), served: 0 }
}
