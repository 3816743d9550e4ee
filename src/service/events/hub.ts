/** Reads the newest events of a store once for all followers, and wakes the followers that the events concern. */
import { ServiceError } from '../../base/errors.ts'
import { yieldEvery } from '../../base/work/yield-every.ts'
import type { EventHead, EventStore } from '../../store/events.ts'
import { type EventRange, kindsOf } from './log.ts'
import { RecentEvents } from './recent.ts'

interface HubOptions {
  readonly timeLimitMs: number
  readonly onInternalError: (error: unknown) => void
}

/** The events for which a follower waits. */
export interface Interest {
  /** Followers with equal keys form a group: new events are checked once for all of them. */
  readonly key: string
  /** Whether one of these events may be visible to the group. */
  readonly concerns: (heads: readonly EventHead[]) => boolean
}

export interface Wait {
  /** Absent: no timeout. */
  readonly timeoutMs?: number
  readonly signals: readonly AbortSignal[]
  /** Absent: every event. */
  readonly interest?: Interest
}

/** Followers that wait for the same events. */
interface Group {
  readonly interest: Interest
  readonly waiting: Set<() => void>
  /** No event up to this number concerned the group while it waited. */
  clearedTo: number
}

type Read = Pick<EventStore, 'readHeads' | 'eventBounds' | 'onEvents'>

const BATCH = 200
/** Polling interval. Notifications of the store only shorten the delay, so that a lost one does no harm. */
const PERIOD_MS = 1_000
/** Time slice for matching new events to groups, and how many followers are woken in one turn of the event loop. */
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
  #lastReported = ''
  /** All groups have been checked for the events up to this number. */
  #passedTo = UNKNOWN
  #isPassing = false

  constructor(store: Read, options: HubOptions) {
    this.#store = store
    this.#options = options
    this.#timer = setInterval(() => this.#hasten(), PERIOD_MS).unref()
    store.onEvents(() => this.#hasten())
  }

  /** New events are read while at least one follower has joined. */
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

  /** Undefined if the follower is so far behind that it has to read from the log. */
  newestAfter(since: number): EventRange | undefined {
    return this.#recent.after(since)
  }

  /**
   * Resolves when there may be events for the follower after that number, or when the wait ends. The result
   * is the number up to which there are none; undefined once the hub is closed.
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

  /** The store must stay open until this has finished. */
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
        // Yields to the event loop, because a store may respond without leaving this thread.
        await new Promise(setImmediate)
      }
      this.#lastReported = ''
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
    // Some events were trimmed before they were read. Followers that have not seen them must get that error
    // from the log.
    if (since < first - 1) this.#begin(upTo)
    else this.#recent.add(heads, upTo)
    return true
  }

  /** Starts again without history: followers have to read earlier events from the log. */
  #begin(at: number): void {
    this.#recent.forget()
    this.#recent.begin(at)
    this.#passedTo = UNKNOWN
  }

  /** A repeating error is logged once. An unreachable store is visible in responses and is not logged. */
  #reportError(error: unknown): void {
    if (error instanceof ServiceError || String(error) === this.#lastReported) return
    this.#lastReported = String(error)
    this.#options.onInternalError(error)
  }

  /**
   * Matches new events to groups in time slices, all events that arrived meanwhile at once. Followers that
   * are not concerned stay asleep. Each pass is followed by a pause of about the same length, at most 100 ms,
   * so that many events cannot use up the event loop.
   */
  async #pass(): Promise<void> {
    if (this.#isPassing) return
    this.#isPassing = true
    try {
      for (let to = this.#recent.scannedTo(); to !== undefined && to !== this.#passedTo;) {
        const [began, from] = [performance.now(), this.#passedTo]
        await this.#passOver(this.#recent.after(from), to)
        // Unless the buffer started again during the pass, which reset the number.
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

  async #passOver(fresh: EventRange | undefined, to: number): Promise<void> {
    const heads = fresh && kindsOf(fresh.heads)
    const rest = yieldEvery(SLICE_MS)
    // Copied, because followers that are woken may register again during this loop.
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

/** Defers calls to later turns of the event loop: thousands of waits may time out at once. */
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

/** Resolves when woken, after the timeout, or when one of the signals is aborted. */
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
