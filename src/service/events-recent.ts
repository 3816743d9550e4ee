/** The newest events of a store without a gap between them, up to a number and a size. */
import type { KeptEvent } from '../store/events.ts'

export interface Newest {
  readonly events: readonly KeptEvent[]
  /** Up to which number these are all. */
  readonly scannedTo: number
}

const MOST_EVENTS = 1_000
const MOST_CHARACTERS = 16 * 1024 * 1024
/** Dropped only so many at a time, so that not every event moves all others. */
const SLACK = 200

export class RecentEvents {
  #events: KeptEvent[] = []
  #characters = 0
  /** All events after the first number, up to the second, are here; undefined: nothing is known. */
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

  /** Those that follow on what is here. */
  add(more: readonly KeptEvent[], scannedTo: number): void {
    if (!this.#span) return
    for (const each of more) {
      this.#events.push(each)
      this.#characters += sizeOf(each)
    }
    this.#span = [this.#span[0], scannedTo]
    if (this.#events.length > MOST_EVENTS + SLACK || this.#characters > MOST_CHARACTERS) this.#shorten()
  }

  /** Undefined where some of those after that number are not here. */
  after(since: number): Newest | undefined {
    if (!this.#span || since < this.#span[0]) return undefined
    const [, scannedTo] = this.#span
    if (since >= scannedTo) return { events: [], scannedTo: since }
    return { events: this.#events.slice(firstAfter(this.#events, since)), scannedTo }
  }

  #shorten(): void {
    let dropped = 0
    while (this.#events.length - dropped > MOST_EVENTS || this.#characters > MOST_CHARACTERS) {
      this.#characters -= sizeOf(this.#events[dropped++]!)
    }
    if (dropped === 0) return
    this.#span = [this.#events[dropped - 1]!.seq, this.#span![1]]
    this.#events = this.#events.slice(dropped)
  }
}

function sizeOf({ before, after, details }: KeptEvent): number {
  return (before?.length ?? 0) + (after?.length ?? 0) + details.length
}

/** Followers are mostly near the end. */
function firstAfter(events: readonly KeptEvent[], since: number): number {
  let i = events.length
  while (i > 0 && events[i - 1]!.seq > since) i--
  return i
}
