/** Reads the newest events of a store once for all who follow them, and wakes those whom they concern. */
import { ServiceError } from '../../base/errors.ts'
import { yieldEvery } from '../../base/work/rest.ts'
import type { EventHead, EventStore } from '../../store/events.ts'
import { type Stretch, kindsOf } from './log.ts'
import { RecentEvents } from './recent.ts'

export interface HubOptions {
  readonly timeLimitMs: number
  readonly onInternalError: (error: unknown) => void
}

/** What somebody waits for. */
export interface Interest {
  /** The same for all who wait for the same: they are asked about new events once, together. */
  readonly key: string
  /** Whether one of these events may be for them. */
  readonly concerns: (heads: readonly EventHead[]) => boolean
}

export interface Wait {
  /** Absent: however long it takes. */
  readonly timeoutMs?: number
  readonly signals: readonly AbortSignal[]
  /** Absent: every event. */
  readonly interest?: Interest
}

/** Those who wait for the same. */
interface Group {
  readonly interest: Interest
  readonly waiting: Set<() => void>
  /** Nothing up to this number concerned them while they waited. */
  clearedTo: number
}

type Read = Pick<EventStore, 'readHeads' | 'eventBounds' | 'onEvents'>

const BATCH = 200
/** The store tells of events only to hasten. */
const PERIOD_MS = 1_000
/** New events are looked through for this long at a stretch, and so many who wait are woken at a time. */
const SLICE_MS = 3
const MAX_WOKEN = 50
const UNKNOWN = -1

export class EventHub implements AsyncDisposable {
  readonly #store: Read
  readonly #options: HubOptions
  readonly #recent = new RecentEvents()
  readonly #groups = new Map<string, Group>()
  readonly #timer: NodeJS.Timeout
  #followers = 0
  #reading: Promise<void> | undefined
  #isHastened = false
  #isClosed = false
  #told = ''
  /** Up to here those who wait have been asked whether events concern them. */
  #passedTo = UNKNOWN
  #isPassing = false

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
  newestAfter(since: number): Stretch | undefined {
    return this.#recent.after(since)
  }

  /**
   * Settles when there may be events for somebody after that number, or the wait is over, with the number up to which
   * there are none; undefined when there will be none any more.
   */
  async newsAfter(since: number, wait: Wait): Promise<number | undefined> {
    const isKnown = (this.#recent.scannedTo() ?? 0) > since
    const isWanted = wait.signals.every(({ aborted }) => !aborted)
    if (this.#isClosed) return undefined
    if (isKnown || !isWanted) return since
    const group = this.#groupOf(wait.interest ?? EVERYTHING)
    await woken(group, wait)
    if (group.waiting.size === 0 && this.#groups.get(group.interest.key) === group) {
      this.#groups.delete(group.interest.key)
    }
    return this.#isClosed ? undefined : Math.max(since, group.clearedTo)
  }

  /** What it reads from must stay open until then. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    clearInterval(this.#timer)
    for (const { waiting } of this.#groups.values()) for (const wake of waiting) wake()
    await this.#reading
  }

  #groupOf(interest: Interest): Group {
    const found = this.#groups.get(interest.key)
    if (found) return found
    const group = { interest, waiting: new Set<() => void>(), clearedTo: 0 }
    this.#groups.set(interest.key, group)
    return group
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
        void this.#pass()
        // others have their turn, since a store may answer without leaving its thread
        await new Promise(setImmediate)
      }
      this.#told = ''
    } catch (error) {
      this.#reportError(error)
    } finally {
      this.#reading = undefined
      if (this.#followers === 0) this.#recent.forget()
    }
  }

  /** Whether there was something to read. */
  async #readSome(): Promise<boolean> {
    const since = this.#recent.scannedTo()
    const { last } = await this.#store.eventBounds()
    if (since === undefined) {
      this.#begin(last)
      return true
    }
    if (last <= since) return false
    const upTo = Math.min(last, since + BATCH)
    const { timeLimitMs } = this.#options
    const heads = await this.#store.readHeads({ after: since, upTo }, { timeLimitMs })
    const { first } = await this.#store.eventBounds()
    // some went before they were read: whoever has not seen those has to learn that by themselves
    if (since < first - 1) this.#begin(upTo)
    else this.#recent.add(heads, upTo)
    return true
  }

  /** Whatever came before, those who wait have to look at it by themselves. */
  #begin(at: number): void {
    this.#recent.forget()
    this.#recent.begin(at)
    this.#passedTo = UNKNOWN
  }

  /** What fails again and again is told of once; a store out of reach shows in the answers. */
  #reportError(error: unknown): void {
    if (error instanceof ServiceError || String(error) === this.#told) return
    this.#told = String(error)
    this.#options.onInternalError(error)
  }

  /**
   * Looks whom the new events concern, a little at a time, all events that came meanwhile together. Whoever is not concerned
   * sleeps on; after a pass there is a rest as long as the pass was, so that many events do not keep the service busy.
   */
  async #pass(): Promise<void> {
    if (this.#isPassing) return
    this.#isPassing = true
    try {
      for (let to = this.#recent.scannedTo(); to !== undefined && to !== this.#passedTo;) {
        const [began, from] = [performance.now(), this.#passedTo]
        await this.#passOver(this.#recent.after(from), to)
        if (this.#passedTo === from) this.#passedTo = to
        const rest = Math.min(100, performance.now() - began - SLICE_MS)
        if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest))
        to = this.#recent.scannedTo()
      }
    } catch (error) {
      this.#reportError(error)
    } finally {
      this.#isPassing = false
    }
  }

  async #passOver(fresh: Stretch | undefined, to: number): Promise<void> {
    const heads = fresh && kindsOf(fresh.heads)
    const rest = yieldEvery(SLICE_MS)
    // those who are woken may wait again before this is over
    const groups = [...this.#groups.values()]
    for (const group of groups) {
      await rest()
      if (heads && !group.interest.concerns(heads)) group.clearedTo = Math.max(group.clearedTo, to)
      else await wakeAll(group)
    }
  }
}

const EVERYTHING: Interest = { key: '', concerns: () => true }

async function wakeAll({ waiting }: Group): Promise<void> {
  let count = 0
  const sleeping = [...waiting]
  for (const wake of sleeping) {
    wake()
    if (++count % MAX_WOKEN === 0) await new Promise(setImmediate)
  }
}

/** Calls in one of the next turns: the waits of thousands may be over at the same moment. */
function soon(call: () => void): void {
  if (later.push(call) === 1) setImmediate(callSome)
}

let later: (() => void)[] = []

function callSome(): void {
  const some = later.slice(0, MAX_WOKEN)
  later = later.slice(MAX_WOKEN)
  for (const call of some) call()
  if (later.length > 0) setImmediate(callSome)
}

/** Settles when it is woken, when the time is over, or when one of the signals says so. */
function woken({ waiting }: Group, { timeoutMs, signals }: Wait): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      waiting.delete(done)
      for (const signal of signals) signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = timeoutMs === undefined ? undefined : setTimeout(() => soon(done), timeoutMs)
    waiting.add(done)
    for (const signal of signals) signal.addEventListener('abort', done)
  })
}
