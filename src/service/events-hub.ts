/** Reads the newest events of a store once for all who follow them. */
import { ServiceError } from '../base/errors.ts'
import type { EventStore } from '../store/events.ts'
import { type Newest, RecentEvents } from './events-recent.ts'

export interface HubOptions {
  readonly timeLimitMs: number
  readonly onInternalError: (error: unknown) => void
}

export interface Wait {
  /** Absent: however long it takes. */
  readonly timeoutMs?: number
  readonly signals: readonly AbortSignal[]
}

type Read = Pick<EventStore, 'readEvents' | 'eventBounds' | 'onEvents'>

const BATCH = 200
/** The store tells of events only to hasten. */
const PERIOD_MS = 1_000

export class EventHub implements AsyncDisposable {
  readonly #store: Read
  readonly #options: HubOptions
  readonly #recent = new RecentEvents()
  readonly #waiting = new Set<() => void>()
  readonly #timer: NodeJS.Timeout
  #followers = 0
  #reading: Promise<void> | undefined
  #isHastened = false
  #isClosed = false
  #told = ''

  constructor(store: Read, options: HubOptions) {
    this.#store = store
    this.#options = options
    this.#timer = setInterval(() => this.#hasten(), PERIOD_MS).unref()
    store.onEvents(() => this.#hasten())
  }

  /** As long as somebody has joined, new events are read as they come. */
  join(): Disposable {
    if (this.#followers++ === 0) this.#hasten()
    let isIn = true
    return {
      [Symbol.dispose]: () => {
        if (isIn) this.#followers--
        isIn = false
        if (this.#followers === 0 && !this.#reading) this.#recent.forget()
      },
    }
  }

  /** Undefined for whoever is so far behind that they have to read by themselves. */
  newestAfter(since: number): Newest | undefined {
    return this.#recent.after(since)
  }

  /** Settles when there may be events after that number, or the wait is over; false when there will be none any more. */
  async newsAfter(since: number, wait: Wait): Promise<boolean> {
    const isKnown = (this.#recent.scannedTo() ?? 0) > since
    const isWanted = wait.signals.every(({ aborted }) => !aborted)
    if (!this.#isClosed && !isKnown && isWanted) await this.#woken(wait)
    return !this.#isClosed
  }

  /** What it reads from must stay open until then. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#wake()
    await this.#reading
  }

  #hasten(): void {
    this.#isHastened = true
    if (this.#followers > 0 && !this.#isClosed) this.#reading ??= this.#readOn()
  }

  async #readOn(): Promise<void> {
    try {
      while (this.#isHastened && this.#followers > 0 && !this.#isClosed) {
        this.#isHastened = false
        if (!(await this.#readSome())) continue
        this.#isHastened = true
        this.#wake()
        // others have their turn, since a store may answer without leaving its thread
        await new Promise(setImmediate)
      }
      this.#told = ''
    } catch (error) {
      this.#tell(error)
    } finally {
      this.#reading = undefined
      if (this.#followers === 0) this.#recent.forget()
    }
  }

  /** Whether there was something to read. */
  async #readSome(): Promise<boolean> {
    const since = this.#recent.scannedTo()
    if (since === undefined) {
      this.#recent.begin((await this.#store.eventBounds()).last)
      return true
    }
    const { timeLimitMs } = this.#options
    const request = { since, limit: BATCH, filter: {} }
    const { events, scannedTo } = await this.#store.readEvents(request, { timeLimitMs })
    if (scannedTo === since) return false
    const { first } = await this.#store.eventBounds()
    if (since >= first - 1) this.#recent.add(events, scannedTo)
    else this.#beginAnew(scannedTo)
    return true
  }

  /** Some went before they were read: whoever has not seen those has to learn that by themselves. */
  #beginAnew(at: number): void {
    this.#recent.forget()
    this.#recent.begin(at)
  }

  /** What fails again and again is told of once; a store out of reach shows in the answers. */
  #tell(error: unknown): void {
    if (error instanceof ServiceError || String(error) === this.#told) return
    this.#told = String(error)
    this.#options.onInternalError(error)
  }

  #wake(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Settles when it is woken, when the time is over, or when one of the signals says so. */
  #woken({ timeoutMs, signals }: Wait): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#waiting.delete(done)
        for (const signal of signals) signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = timeoutMs === undefined ? undefined : setTimeout(done, timeoutMs)
      this.#waiting.add(done)
      for (const signal of signals) signal.addEventListener('abort', done)
    })
  }
}
