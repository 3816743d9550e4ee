/** A buffer of the newest events of a store, contiguous and without documents, limited by count and size. */
import type { EventHead } from '../../store/events.ts'
import type { EventRange } from './log.ts'

const MAX_EVENTS = 1_000
const MAX_CHARACTERS = 4 * 1024 * 1024
/** Events are dropped in chunks, so that not every new event shifts the whole array. */
const SLACK = 200

export class RecentEvents {
  #events: EventHead[] = []
  #characters = 0
  /** All events after the first number, up to the second, are buffered; undefined if nothing has been read yet. */
  #span: readonly [from: number, to: number] | undefined

  begin(at: number): void {
    this.#span = [at, at]
  }

  forget(): void {
    this.#events = []
    this.#characters = 0
    this.#span = undefined
  }

  scannedTo(): number | undefined {
    return this.#span?.[1]
  }

  /** Appends events that directly follow the buffered ones. */
  add(more: readonly EventHead[], scannedTo: number): void {
    if (!this.#span) return
    for (const each of more) {
      this.#events.push(each)
      this.#characters += each.details.length
    }
    this.#span = [this.#span[0], scannedTo]
    if (this.#events.length > MAX_EVENTS + SLACK || this.#characters > MAX_CHARACTERS) this.#shorten()
  }

  /** Undefined if some events after that number are not buffered, or the buffer has not been read that far. */
  after(since: number): EventRange | undefined {
    if (!this.#span || since < this.#span[0] || since > this.#span[1]) return undefined
    const [, to] = this.#span
    return { heads: this.#events.slice(firstAfter(this.#events, since)), to }
  }

  #shorten(): void {
    let dropped = 0
    while (this.#events.length - dropped > MAX_EVENTS || this.#characters > MAX_CHARACTERS) {
      this.#characters -= this.#events[dropped++]!.details.length
    }
    if (dropped === 0) return
    this.#span = [this.#events[dropped - 1]!.seq, this.#span![1]]
    this.#events = this.#events.slice(dropped)
  }
}

/** Searches backwards, because most followers are near the end. */
function firstAfter(events: readonly EventHead[], since: number): number {
  let i = events.length
  while (i > 0 && events[i - 1]!.seq > since) i--
  return i
}
