/**
 * What one request may cost: one clock and one budget of steps.
 *
 * Loops whose length a caller or a stored document decides call `spend` with the number of their steps. The request
 * that runs at the moment pays. JavaScript runs one function at a time, so "the request that runs" is a variable that
 * `during` sets around every synchronous stretch of its work; a loop cannot forget to carry it along, and a loop that
 * runs outside of any request still stops at the budget of `NOBODY`.
 */
import { ServiceError } from '../errors.ts'

/** The work is too much for the thread that serves everybody: it has to be done by another thread, from its start. */
export class TooMuchForThisThread extends Error {
  constructor() {
    super('this request is too expensive for the main thread')
  }
}

export interface WorkOptions {
  /** Milliseconds that the request may take. */
  readonly timeLimitMs: number
  /** Steps that this thread may spend on it; unlimited when absent. */
  readonly steps?: number
  /** Bytes that its answer may have, over all its parts; unlimited when absent. */
  readonly answerBytes?: number
  /** Whether nobody waits for the answer any more. */
  readonly isCancelled?: () => boolean
  /** Told when the request asks for less time. */
  readonly onTimeLimit?: (ms: number) => void
}

/** One step is about 50 ns. */
const STEPS_PER_MS = 20_000

/** What the main thread may spend on one request before another thread has to take over: about ten milliseconds. */
export const INLINE_STEPS = 200_000

/** How often the clock is read: after this many steps, which take well under a millisecond. */
const STEPS_BETWEEN_CHECKS = 4_096

export class Work {
  readonly #startedMs = performance.now()
  readonly #isCancelled: () => boolean
  readonly #onTimeLimit: ((ms: number) => void) | undefined
  readonly #answer: { bytesLeft: number; readonly maxBytes: number }
  #timeLimitMs: number
  #waitedMs = 0
  #stepsLeft: number
  #untilCheck = STEPS_BETWEEN_CHECKS
  #hasExceededAnswer = false

  constructor(options: WorkOptions, answer?: { bytesLeft: number; readonly maxBytes: number }) {
    const { timeLimitMs, steps = Infinity, answerBytes = Infinity, isCancelled = never } = options
    this.#timeLimitMs = timeLimitMs
    this.#stepsLeft = steps
    this.#isCancelled = isCancelled
    this.#onTimeLimit = options.onTimeLimit
    this.#answer = answer ?? { bytesLeft: answerBytes, maxBytes: answerBytes }
  }

  /** One of several requests that were sent as one: the time that is left, and a share of the answer. */
  part({ steps, answerBytes }: Partial<Pick<WorkOptions, 'steps' | 'answerBytes'>> = {}): Work {
    const options = { timeLimitMs: Math.max(0, this.remainingMs), isCancelled: this.#isCancelled }
    const { maxBytes } = this.#answer
    const answer = answerBytes === undefined ? this.#answer : { bytesLeft: answerBytes, maxBytes }
    return new Work(steps === undefined ? options : { ...options, steps }, answer)
  }

  /** Whether its answer was too large for what it may have. */
  get hasExceededAnswer(): boolean {
    return this.#hasExceededAnswer
  }

  get maxAnswerBytes(): number {
    return this.#answer.maxBytes
  }

  get answerBytesLeft(): number {
    return this.#answer.bytesLeft
  }

  /** The time limit as the caller knows it. */
  get timeLimitMs(): number {
    return this.#timeLimitMs
  }

  /** What is left of it. */
  get remainingMs(): number {
    return this.#timeLimitMs + this.#waitedMs - (performance.now() - this.#startedMs)
  }

  /** Whether another thread takes over when this one has spent its steps. */
  get isInline(): boolean {
    return this.#stepsLeft !== Infinity
  }

  /** A request may ask for less time than there is, never for more. */
  limitTimeTo(ms: number): void {
    if (ms >= this.#timeLimitMs) return
    this.#timeLimitMs = ms
    this.#onTimeLimit?.(ms)
  }

  /** Time in a queue is not the request's own. */
  waited(ms: number): void {
    this.#waitedMs += ms
  }

  spend(steps: number): void {
    if ((this.#untilCheck -= steps) < 0) this.check()
  }

  /** Throws when the time is over, when nobody waits any more, or when this thread has done its part. */
  check(): void {
    this.#stepsLeft -= STEPS_BETWEEN_CHECKS - this.#untilCheck
    this.#untilCheck = STEPS_BETWEEN_CHECKS
    if (this.#isCancelled()) throw callerLeft()
    if (this.remainingMs < 0) throw timedOut(this.#timeLimitMs)
    if (this.#stepsLeft < 0 || (this.isInline && stretchMs() > MAX_INLINE_STRETCH_MS)) {
      throw new TooMuchForThisThread()
    }
  }

  /** Throws once the parts of the answer together are larger than they may be. */
  reserveAnswer(bytes: number, tooLarge: (maxBytes: number) => Error): void {
    if (this.#answer.bytesLeft < bytes) {
      this.#hasExceededAnswer = true
      throw tooLarge(this.#answer.maxBytes)
    }
    this.#answer.bytesLeft -= bytes
  }

  /** What was reserved for a part that is not sent after all. */
  releaseAnswer(bytes: number): void {
    this.#answer.bytesLeft += bytes
  }

  /** Before something that cannot be interrupted once it has begun: the main thread must not begin it. */
  requireAnotherThread(): void {
    if (this.isInline) throw new TooMuchForThisThread()
  }
}

function never(): boolean {
  return false
}

/** Pays for loops outside of any request; no such loop takes anywhere near as long. */
const NOBODY = new Work({ timeLimitMs: Infinity })

let current = NOBODY
let stretchStartedMs = 0

/** However few steps it counts: steps are an estimate, and the others wait by the clock. */
const MAX_INLINE_STRETCH_MS = 25

function stretchMs(): number {
  return performance.now() - stretchStartedMs
}

/** Charges the request that runs at the moment. */
export function spend(steps: number): void {
  current.spend(steps)
}

/** The same for work that is measured rather than counted. */
export function spendTime(ms: number): void {
  current.spend(Math.ceil(ms * STEPS_PER_MS))
}

/** Before something that cannot be interrupted once it has begun: the main thread must not begin it. */
export function requireAnotherThread(): void {
  current.requireAnotherThread()
}

/** Runs a synchronous stretch of a request's work, whose loops it pays for. */
export function during<T>(work: Work, stretch: () => T): T {
  const outer = current
  if (outer === NOBODY) stretchStartedMs = performance.now()
  current = work
  try {
    return stretch()
  } finally {
    current = outer
  }
}

export function timedOut(timeLimitMs: number): ServiceError {
  const message = `the request took longer than ${timeLimitMs} ms; an index, a narrower query or a smaller request would help`
  return new ServiceError('store-crud:Timeout', message)
}

/** Nobody reads this; it only ends the work. */
export function callerLeft(): ServiceError {
  return new ServiceError('crud:Unavailable', 'the caller hung up')
}
