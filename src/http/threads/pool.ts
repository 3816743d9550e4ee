/**
 * The pool of worker threads for requests that are too much for the main thread. Threads are started on demand, shared
 * fairly between callers, and terminated when they exceed the time limit of a request or have been idle for a while.
 */
import { workerFile } from '../../base/work/worker-file.ts'
import { Worker } from 'node:worker_threads'
import { ServiceError } from '../../base/errors.ts'
import { type FairQueue, createFairQueue } from '../../base/work/fair-queue.ts'
import { type Work, callerLeft, timedOut } from '../../base/work/work.ts'
import type { Loan } from '../../base/work/loan.ts'
import type { OnSlow } from '../../service/slow/slow-request.ts'
import {
  type FromThread,
  type JobMessage,
  type Refusal,
  type ReplyMessage,
  type ThreadData,
  type ToThread,
  errorFrom,
  refusalOf,
} from './messages.ts'

export interface Threads extends AsyncDisposable {
  run(job: Job): Promise<ReplyMessage>
}

export interface Job extends Pick<JobMessage, 'task' | 'caller' | 'body'> {
  readonly work: Work
  /** The account for the fair queue. */
  readonly chargedTo: string
  /** Aborted when the caller no longer waits. */
  readonly signal: AbortSignal
  readonly mayWrite: boolean
  /** Charges a cost to the rate limit of the caller; throws where it is exceeded. */
  readonly charge: (cost: number) => void
}

export interface ThreadOptions extends ThreadData {
  /** Whether all data is in embedded databases, where a worker thread must borrow the writer before it writes. */
  readonly isEmbedded: boolean
  readonly epoch: () => number
  /** Lends the writer of an embedded datasource: the right to write to it. */
  readonly lend: (datasource: string) => Promise<Loan>
  readonly onInternalError: (error: unknown) => void
  readonly onWarning: (message: string) => void
  readonly onStoreTiming?: ((operation: string, seconds: number) => void) | undefined
  readonly onSlow: OnSlow
  readonly idleMs?: number
}

/** A thread that was idle for this long is terminated, to release its memory. */
const IDLE_MS = 10_000
/** Threads check the time limit themselves. One that is inside a call without checks is terminated this much later. */
const GRACE_MS = 400
/** A thread with a larger heap is not reused but terminated, to release its memory at once. */
const MAX_IDLE_HEAP_BYTES = 128 * 1024 * 1024
/** Maximum heap of one request, including intermediate values. */
const MAX_HEAP_MB = 1_024
/** Most of a request is garbage soon; V8 would let several times as much of it pile up in each thread. */
const MAX_YOUNG_MB = 16

export function createThreads(options: ThreadOptions): Threads {
  const { idleMs = IDLE_MS } = options
  const queue: FairQueue = createFairQueue({
    slots: options.limits.threads,
    maxWaitMs: options.limits.queryTimeMs,
    maxWaiting: 1_000,
    maxWaitingPerCaller: 100,
  })
  const idle: Thread[] = []
  const all = new Set<Thread>()
  let isEnded = false

  function take(): Thread {
    if (isEnded) throw threadsEnded()
    const known = idle.pop()
    if (known) return known
    const thread = new Thread(options, () => {
      all.delete(thread)
      const at = idle.indexOf(thread)
      if (at >= 0) idle.splice(at, 1)
    })
    all.add(thread)
    return thread
  }

  function putBack(thread: Thread): void {
    if (!all.has(thread)) return
    if (thread.isUnusable || thread.heapBytes > MAX_IDLE_HEAP_BYTES) {
      void thread.end()
      return
    }
    idle.push(thread)
    thread.endAfter(idleMs)
  }

  return {
    async run(job) {
      const arrived = performance.now()
      const release = await queue.acquire(job.chargedTo, job.signal).catch((error: unknown) => {
        throw job.signal.aborted ? callerLeft() : error
      })
      job.work.waited(performance.now() - arrived)
      try {
        if (job.signal.aborted) throw callerLeft()
        const thread = take()
        try {
          return await thread.run(job)
        } finally {
          putBack(thread)
        }
      } finally {
        release()
      }
    },
    async [Symbol.asyncDispose]() {
      isEnded = true
      await Promise.all([...all].map((thread) => thread.end()))
    },
  }
}

interface Running {
  readonly job: Job
  readonly resolve: (reply: ReplyMessage) => void
  readonly reject: (error: unknown) => void
  /** Sets the time limit, counted from now. */
  readonly limitTo: (ms: number) => void
}

class Thread {
  heapBytes = 0
  isUnusable = false
  readonly #options: ThreadOptions
  readonly #worker: Worker
  readonly #onEnd: (error: unknown) => void
  /** The writers it has borrowed; the pool returns them when the thread ends. */
  readonly #loans = new Map<number, Loan>()
  #running: Running | undefined
  #idleTimer: NodeJS.Timeout | undefined
  #isEnded = false
  #hasBorrowed = false

  constructor(options: ThreadOptions, onEnd: () => void) {
    const { datasources, limits, compatibility } = options
    const data: ThreadData = { datasources, limits, compatibility }
    this.#options = options
    this.#worker = new Worker(workerFile('thread', import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB, maxYoungGenerationSizeMb: MAX_YOUNG_MB },
    })
    this.#worker.unref()
    this.#onEnd = (error) => {
      if (this.#isEnded) return
      this.#isEnded = true
      clearTimeout(this.#idleTimer)
      onEnd()
      this.#running?.reject(error)
    }
    this.#worker.on('message', (message: FromThread) => this.#receive(message))
    this.#worker.on('error', (error) => this.#onEnd(isOutOfMemory(error) ? tooMuchMemory() : error))
    this.#worker.on('exit', () => {
      this.#onEnd(new Error('a thread ended by itself'))
      // its transactions are rolled back only now, so another writer must not start earlier
      for (const loan of this.#loans.values()) loan.giveBack({ lastVersion: 0, hasEvents: false })
    })
  }

  async run(job: Job): Promise<ReplyMessage> {
    clearTimeout(this.#idleTimer)
    const { promise, resolve, reject } = Promise.withResolvers<ReplyMessage>()
    const cancelled = new Int32Array(new SharedArrayBuffer(4))
    const onAbort = (): void => void Atomics.store(cancelled, 0, 1)
    job.signal.addEventListener('abort', onAbort)
    let timer: NodeJS.Timeout | undefined
    const limitTo = (ms: number): void => {
      clearTimeout(timer)
      timer = setTimeout(() => void this.end(this.#outcomeOf(job)), ms + GRACE_MS)
    }
    this.#running = { job, resolve, reject, limitTo }
    this.#hasBorrowed = false
    const { task, caller, body, work } = job
    const timeLimitMs = Math.max(0, work.remainingMs)
    limitTo(timeLimitMs)
    const [epoch, responseBytes] = [this.#options.epoch(), work.responseBytesLeft]
    const { requestTime } = work
    this.#post({ kind: 'job', task, caller, body, timeLimitMs, responseBytes, requestTime, epoch, cancelled })
    try {
      return await promise
    } finally {
      clearTimeout(timer)
      job.signal.removeEventListener('abort', onAbort)
      this.#running = undefined
    }
  }

  /** A thread may be terminated just after a commit. Only one that cannot have written is reported as timed out. */
  #outcomeOf({ work, mayWrite }: Job): ServiceError {
    const hasWritten = mayWrite && (!this.#options.isEmbedded || this.#hasBorrowed)
    return hasWritten ? outcomeUnknown() : timedOut(work.timeLimitMs)
  }

  endAfter(ms: number): void {
    this.#idleTimer = setTimeout(() => void this.end(), ms).unref()
  }

  /** Terminates the thread. It gets no further job; the running one is rejected with `reason`. */
  async end(reason: unknown = threadsEnded()): Promise<void> {
    this.#onEnd(reason)
    await this.#worker.terminate()
  }

  #receive(message: FromThread): void {
    const { onInternalError, onWarning, onStoreTiming, onSlow } = this.#options
    switch (message.kind) {
      case 'reply':
        this.heapBytes = message.heapBytes
        this.#running?.resolve(message.reply)
        break
      case 'refused':
        this.heapBytes = message.heapBytes
        this.#running?.reject(errorFrom(message.refusal))
        break
      case 'failed':
        this.#running?.reject(message.error)
        break
      case 'unusable':
        this.isUnusable = true
        break
      case 'time limit':
        this.#running?.job.work.limitTimeTo(message.timeLimitMs)
        this.#running?.limitTo(message.timeLimitMs)
        break
      case 'charge':
        this.#post({ kind: 'charged', refusal: this.#charge(message.cost) })
        break
      case 'borrow':
        void this.#lend(message.loan, message.datasource)
        break
      case 'give back':
        this.#loans.get(message.loan)?.giveBack(message.written)
        this.#loans.delete(message.loan)
        break
      case 'timing':
        onStoreTiming?.(message.operation, message.seconds)
        break
      case 'slow':
        onSlow(message.slow)
        break
      case 'internal error':
        onInternalError(message.error)
        break
      case 'warning':
        onWarning(message.message)
        break
    }
  }

  async #lend(id: number, datasource: string): Promise<void> {
    const loan = await this.#options.lend(datasource)
    if (this.#isEnded) {
      loan.giveBack({ lastVersion: 0, hasEvents: false })
      return
    }
    this.#loans.set(id, loan)
    this.#hasBorrowed = true
    this.#post({ kind: 'lent', loan: id, lastVersion: loan.lastVersion })
  }

  #charge(cost: number): Refusal | undefined {
    try {
      this.#running?.job.charge(cost)
      return undefined
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error
      return refusalOf(error)
    }
  }

  #post(message: ToThread): void {
    this.#worker.postMessage(message)
  }
}

function threadsEnded(): Error {
  return new Error('the threads were ended')
}

function outcomeUnknown(): ServiceError {
  const message =
    'the request took too long and was ended while it wrote; read what is there before you repeat it'
  return new ServiceError('store-crud:OutcomeUnknown', message)
}

function isOutOfMemory(error: unknown): boolean {
  return (error as { readonly code?: string }).code === 'ERR_WORKER_OUT_OF_MEMORY'
}

function tooMuchMemory(): ServiceError {
  const message = 'the request needs more memory than one request may use; send less at once, or ask for less'
  return new ServiceError('crud:ResultSizeTooLarge', message)
}
