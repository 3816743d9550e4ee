/** A queue that serves callers in turn, each in the order of its own requests: who asks for much waits behind nobody else. */
export class CallerQueue<T> {
  /** A caller that was served moves to the end, so that the order of the map is the order of turns. */
  readonly #lines = new Map<string, Line<T>>()

  add(caller: string, item: T): void {
    const line = this.#lines.get(caller)
    if (line) line.items.push(item)
    else this.#lines.set(caller, { items: [item], served: 0 })
  }

  take(): T | undefined {
    const [next] = this.#lines
    if (!next) return undefined
    const [caller, line] = next
    const item = line.items[line.served++]!
    this.#lines.delete(caller)
    if (line.served < line.items.length) this.#lines.set(caller, shortened(line))
    return item
  }

  get isEmpty(): boolean {
    return this.#lines.size === 0
  }
}

interface Line<T> {
  readonly items: T[]
  served: number
}

/** What was served is dropped now and then: to move all items for each one would be quadratic. */
function shortened<T>(line: Line<T>): Line<T> {
  if (line.served * 2 < line.items.length) return line
  return { items: line.items.slice(line.served), served: 0 }
}
