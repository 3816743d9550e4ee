/**
 * The budget of one request: time, steps and response bytes.
 *
 * Loops whose length depends on a caller or a stored document call `spend` with the number of their steps. The steps are
 * charged to the current request. JavaScript runs one function at a time, so the current request is a variable that
 * `during` sets for each synchronous section of its work. Loops therefore need no parameter for it, and a loop outside
 * of any request is charged to `OUTSIDE_REQUESTS`.
 */
import { ServiceError } from '../errors.ts'

/** The request is too expensive for the main thread: a worker thread has to run it again from the start. */
export class TooMuchForThisThread extends Error {
  constructor() {
    super('this request is too expensive for the main thread')
  }
}

interface WorkOptions {
  readonly timeLimitMs: number
  /** Steps that this thread may spend on the request; unlimited when absent. */
  readonly steps?: number
  /** Limit for all parts of the response together; unlimited when absent. */
  readonly responseBytes?: number
  /** Whether the caller has disconnected. */
  readonly isCancelled?: () => boolean
  /** Called when the request lowers its own time limit. */
  readonly onTimeLimit?: (ms: number) => void
  /** When the request is, where another thread has read the clock for it. */
  readonly requestTime?: Date | undefined
}

/** What the parts of a request share. */
interface Shared {
  readonly response: { bytesLeft: number; readonly maxBytes: number }
  readonly clock: { requestTime: Date | undefined }
}

/** One step is about 50 ns. */
const STEPS_PER_MS = 20_000

/** Steps of the main thread for one request before a worker thread takes over: about ten milliseconds. */
export const INLINE_STEPS = 200_000

/** The clock is read after this many steps, which take well under a millisecond. */
const STEPS_BETWEEN_CHECKS = 4_096

export class Work {
  #startedMs = performance.now()
  readonly #isCancelled: () => boolean
  readonly #onTimeLimit: ((ms: number) => void) | undefined
  readonly #response: Shared['response']
  readonly #clock: Shared['clock']
  #timeLimitMs: number
  #waitedMs = 0
  #isInEntry = false
  #stepsLeft: number
  #untilCheck = STEPS_BETWEEN_CHECKS
  #hasExceededResponse = false

  constructor(options: WorkOptions, shared?: Shared) {
    const { timeLimitMs, steps = Infinity, responseBytes = Infinity, isCancelled = notCancelled } = options
    this.#timeLimitMs = timeLimitMs
    this.#stepsLeft = steps
    this.#isCancelled = isCancelled
    this.#onTimeLimit = options.onTimeLimit
    this.#response = shared?.response ?? { bytesLeft: responseBytes, maxBytes: responseBytes }
    this.#clock = shared?.clock ?? { requestTime: options.requestTime }
  }

  /** The budget of one entry of a bulk request: the remaining time and a share of the response bytes. */
  part({ steps, responseBytes }: Partial<Pick<WorkOptions, 'steps' | 'responseBytes'>> = {}): Work {
    const options = { timeLimitMs: Math.max(0, this.remainingMs), isCancelled: this.#isCancelled }
    const { maxBytes } = this.#response
    const response = responseBytes === undefined ? this.#response : { bytesLeft: responseBytes, maxBytes }
    const shared = { response, clock: this.#clock }
    return new Work(steps === undefined ? options : { ...options, steps }, shared)
  }

  /** When the request is; undefined until something needs it. */
  get requestTime(): Date | undefined {
    return this.#clock.requestTime
  }

  /** When the request is: one time for all of its parts, read from the clock once. */
  requestTimeBy(now: () => Date): Date {
    return (this.#clock.requestTime ??= now())
  }

  /** Whether the response exceeded its limit. */
  get hasExceededResponse(): boolean {
    return this.#hasExceededResponse
  }

  get maxResponseBytes(): number {
    return this.#response.maxBytes
  }

  get responseBytesLeft(): number {
    return this.#response.bytesLeft
  }

  /** The limit to report to the caller: it does not include time in queues. */
  get timeLimitMs(): number {
    return this.#timeLimitMs
  }

  get remainingMs(): number {
    return this.#timeLimitMs + this.#waitedMs - (performance.now() - this.#startedMs)
  }

  /** Whether the caller has disconnected. */
  get isCancelled(): boolean {
    return this.#isCancelled()
  }

  /** Whether a worker thread takes over when the steps are spent. */
  get isInline(): boolean {
    return this.#stepsLeft !== Infinity
  }

  /** Lowers the time limit; a higher one is ignored. */
  limitTimeTo(ms: number): void {
    if (ms >= this.#timeLimitMs) return
    this.#timeLimitMs = ms
    if (!this.#isInEntry) this.#onTimeLimit?.(ms)
  }

  /**
   * Runs an entry of an atomic bulk, one at a time. A time limit that the entry sets begins and ends with it; steps and
   * response bytes are those of the bulk.
   */
  async duringEntry<T>(run: () => Promise<T>): Promise<T> {
    const [startedMs, timeLimitMs, waitedMs] = [this.#startedMs, this.#timeLimitMs, this.#waitedMs]
    this.#timeLimitMs = Math.max(0, this.remainingMs)
    this.#startedMs = performance.now()
    this.#waitedMs = 0
    this.#isInEntry = true
    try {
      return await run()
    } finally {
      this.#startedMs = startedMs
      this.#timeLimitMs = timeLimitMs
      this.#waitedMs += waitedMs
      this.#isInEntry = false
    }
  }

  /** Time in a queue does not count toward the limit. */
  waited(ms: number): void {
    this.#waitedMs += ms
  }

  spend(steps: number): void {
    if ((this.#untilCheck -= steps) < 0) this.check()
  }

  /** Throws when the time is over, the caller has disconnected, or this thread has spent its steps. */
  check(): void {
    this.#stepsLeft -= STEPS_BETWEEN_CHECKS - this.#untilCheck
    this.#untilCheck = STEPS_BETWEEN_CHECKS
    if (this.#isCancelled()) throw callerLeft()
    if (this.remainingMs < 0) throw timedOut(this.#timeLimitMs)
    if (this.#stepsLeft < 0 || (this.isInline && sectionMs() > MAX_INLINE_SECTION_MS)) {
      throw new TooMuchForThisThread()
    }
  }

  /** Throws when the parts of the response together would exceed the limit. */
  reserveResponse(bytes: number, tooLarge: (maxBytes: number) => Error): void {
    if (this.#response.bytesLeft < bytes) {
      this.#hasExceededResponse = true
      throw tooLarge(this.#response.maxBytes)
    }
    this.#response.bytesLeft -= bytes
  }

  /** Undoes the reservation for a part that is not sent. */
  releaseResponse(bytes: number): void {
    this.#response.bytesLeft += bytes
  }

  /** Work that may run again from its start: what an earlier attempt reserved of the response is free again. */
  repeatable<T extends readonly unknown[], R>(run: (...given: T) => R): (...given: T) => R {
    const { bytesLeft } = this.#response
    return (...given) => {
      this.#response.bytesLeft = bytesLeft
      return run(...given)
    }
  }

  /** To be called before work that cannot be interrupted: it must not run on the main thread. */
  requireAnotherThread(): void {
    if (this.isInline) throw new TooMuchForThisThread()
  }
}

function notCancelled(): boolean {
  return false
}

/** Charged for loops outside of any request, which have no limit. */
const OUTSIDE_REQUESTS = new Work({ timeLimitMs: Infinity })

let current = OUTSIDE_REQUESTS
let sectionStartedMs = 0

/** Limits a synchronous section by the clock as well, because steps are only an estimate of the time others wait. */
const MAX_INLINE_SECTION_MS = 25

function sectionMs(): number {
  return performance.now() - sectionStartedMs
}

/** Charges steps to the current request. */
export function spend(steps: number): void {
  current.spend(steps)
}

/** Charges for a text that is parsed, and of which values are made: to be called before. */
export function spendParsing(characters: number): void {
  current.spend(characters / CHARACTERS_PARSED_PER_STEP)
}

const CHARACTERS_PARSED_PER_STEP = 2

/** Charges time to the current request, for work that is measured rather than counted. */
export function spendTime(ms: number): void {
  current.spend(Math.ceil(ms * STEPS_PER_MS))
}

/** To be called before work that cannot be interrupted: it must not run on the main thread. */
export function requireAnotherThread(): void {
  current.requireAnotherThread()
}

/** Runs a synchronous section of a request's work; its loops are charged to the request. */
export function during<T>(work: Work, section: () => T): T {
  const outer = current
  if (outer === OUTSIDE_REQUESTS) sectionStartedMs = performance.now()
  current = work
  try {
    return section()
  } finally {
    current = outer
  }
}

export function timedOut(timeLimitMs: number): ServiceError {
  // rounded, because an entry of a bulk gets the time that earlier entries left
  const message = `the request took longer than ${Math.ceil(timeLimitMs)} ms; an index, a narrower query or a smaller request would help`
  return new ServiceError('store-crud:Timeout', message)
}

/** Ends the work of a request whose caller has disconnected; it is never sent. */
export function callerLeft(): ServiceError {
  return new ServiceError('crud:Unavailable', 'the caller hung up')
}
