/**
 * A pool of threads for slow statements, shared fairly between callers. A thread runs one statement at a time
 * and has no state between two, so that a thread that does not stop can be terminated and replaced.
 */
import { availableParallelism } from 'node:os'
import { createCallerActivity } from '../../../base/work/caller-activity.ts'
import { createFairQueue } from '../../../base/work/fair-queue.ts'
import type { ServiceError } from '../../../base/errors.ts'
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import type { Bounds } from '../../bounds.ts'
import { callerLeft, timedOut } from '../../../base/work/work.ts'
import { PAGE_BYTES } from '../../stream-pages.ts'
import { type Rows, type Thread, type Threads, createThreads } from './reader-threads.ts'
import type { ReaderData, ReaderRequest } from './reader-worker.ts'

export interface Readers extends AsyncDisposable {
  /** Notes that a caller is active, whatever thread serves it. Slow work of one takes less while others are. */
  noteCaller(caller: string | undefined): void
  /** Runs a statement to its end. `take` receives rows in batches; an error that it throws ends the statement. */
  read(reading: ReadRequest, take: TakeRows): Promise<void>
  /** The first column of every row, and all columns of the last one. */
  readKeys(
    reading: ReadRequest,
  ): Promise<{ readonly keys: readonly SqlValue[]; readonly last?: readonly SqlValue[] }>
  /** Runs statements that change the database, in one transaction. The caller has the right to write. */
  change(statements: readonly Statement[]): Promise<void>
  /** Returns the number of pages in the log, and how many of them have been moved into the database file. */
  checkpoint(): Promise<{ readonly logged: number; readonly moved: number }>
  /** Runs work while no statement runs; new statements wait for it. */
  whenQuiet<T>(work: () => Promise<T>): Promise<T>
}

/** The row type depends on the statement, so the callback declares it. */
type TakeRows = (rows: readonly never[]) => void

interface ReadRequest {
  readonly statement: Statement
  readonly bounds: Bounds
}

interface ReadersOptions extends ReaderData {
  readonly threads: number
  /** Those of the machine, when absent. */
  readonly processors?: number
}

/** Limits of the queue for threads; the time limit of a statement starts when it has a thread. */
const WAITING = { maxWaitMs: 30_000, maxWaiting: 2_000, maxWaitingPerCaller: 500 }

/** A statement that still runs this long after its cancellation is terminated with its thread. */
const GRACE_MS = 250

/** On fewer processors, a second slow statement of one caller takes the processor from the requests of others. */
const ENOUGH_PROCESSORS = 4

const BATCH_ROWS = 500
const BATCH_KEYS = 10_000

export function createReaders(options: ReadersOptions): Readers {
  const { threads: slots, processors = availableParallelism(), ...data } = options
  const activity = createCallerActivity()
  const queue = createFairQueue({
    slots,
    mayHaveMore: (caller) => processors >= ENOUGH_PROCESSORS || !activity.isAnotherActive(caller),
    ...WAITING,
  })
  const threads = createThreads(data)
  let quiet: Promise<unknown> | undefined
  let underWay = 0
  let onIdle = (): void => undefined

  async function run(reading: ReadRequest, { byKey, take }: Pick<Job, 'byKey' | 'take'>): Promise<void> {
    const { bounds } = reading
    const signal = bounds.getSignal?.()
    const arrivedMs = performance.now()
    const release = await queue.acquire(bounds.caller, signal).catch((error: unknown) => {
      throw signal?.aborted ? callerLeft() : error
    })
    bounds.work?.waited(performance.now() - arrivedMs)
    await quiet?.catch(() => undefined)
    if (threads.areClosed) {
      release()
      throw closed()
    }
    const thread = threads.take()
    underWay++
    const { outcome, isFree } = perform(thread, { ...reading, byKey, take })
    // The caller gets the outcome at once; the slot is released only when the thread is free.
    const onFree = (): void => {
      threads.giveBack(thread)
      if (--underWay === 0) onIdle()
      release()
    }
    isFree.then(onFree, onFree)
    await outcome
  }

  return {
    noteCaller: (caller) => {
      if (caller !== undefined) activity.note(caller)
    },
    read: (reading, take) =>
      run(reading, { byKey: false, take: ({ rows }) => take(rows as readonly never[]) }),
    async readKeys(reading) {
      // Joined at the end: a large array that grows leaves several times its size behind.
      const pieces: (readonly SqlValue[])[] = []
      let last: readonly SqlValue[] | undefined
      const take = (piece: Rows): void => {
        pieces.push(piece.rows as readonly SqlValue[])
        last = piece.lastRow ?? last
      }
      await run(reading, { byKey: true, take })
      return { keys: pieces.length === 1 ? pieces[0]! : pieces.flat(), ...(last && { last }) }
    },
    async change(statements) {
      await queryOn(threads, { kind: 'change', statements })
    },
    async checkpoint() {
      const { rows } = await queryOn(threads, { kind: 'checkpoint' })
      const [, logged, moved] = rows[0] as readonly [busy: number, logged: number, moved: number]
      return { logged, moved }
    },
    whenQuiet(work) {
      const { promise: idling, resolve } = Promise.withResolvers<void>()
      onIdle = resolve
      if (underWay === 0) resolve()
      const done = idling.then(work).finally(() => (quiet = undefined))
      quiet = done
      return done
    },
    [Symbol.asyncDispose]: () => threads.end(),
  }
}

/** Outside of the queue, for requests of the store itself. */
async function queryOn(threads: Threads, request: ReaderRequest): Promise<Rows> {
  if (threads.areClosed) throw closed()
  const thread = threads.take()
  try {
    return await thread.query(request)
  } finally {
    threads.giveBack(thread)
  }
}

interface Job extends ReadRequest {
  readonly byKey: boolean
  readonly take: (piece: Rows) => void
}

interface Performance {
  /** Settles as soon as the caller need not wait any longer. */
  readonly outcome: Promise<void>
  /** Resolves when the thread can run another statement, or has terminated. */
  readonly isFree: Promise<void>
}

function perform(thread: Thread, { statement, bounds, byKey, take }: Job): Performance {
  const cancelled = new Int32Array(new SharedArrayBuffer(4))
  const stopped = Promise.withResolvers<never>()
  const signal = bounds.getSignal?.()
  let ending: NodeJS.Timeout | undefined
  const stop = (reason: ServiceError): void => {
    Atomics.store(cancelled, 0, 1)
    stopped.reject(reason)
    ending ??= setTimeout(() => void thread.end(), GRACE_MS)
  }
  const onAbort = (): void => stop(callerLeft())
  signal?.addEventListener('abort', onAbort)
  if (signal?.aborted) onAbort()
  const { timeLimitMs } = bounds
  const timer = setTimeout(() => stop(timedOut(bounds.work?.timeLimitMs ?? timeLimitMs)), timeLimitMs)
  const { text, values } = statement

  async function readAll(): Promise<void> {
    thread.send({ kind: 'open', text, values, cancelled, byKey })
    const count = byKey ? BATCH_KEYS : BATCH_ROWS
    try {
      for (let isLast = false; !isLast;) {
        const piece = await thread.query({ kind: 'next', count, maxBytes: PAGE_BYTES })
        if (Atomics.load(cancelled, 0) === 1) return
        take(piece)
        isLast = piece.isLast
      }
    } finally {
      clearTimeout(timer)
      clearTimeout(ending)
      signal?.removeEventListener('abort', onAbort)
      thread.send({ kind: 'close' })
    }
  }

  const reading = readAll()
  return { outcome: Promise.race([reading, stopped.promise]), isFree: reading }
}

function closed(): Error {
  return new Error('the store is closed')
}
