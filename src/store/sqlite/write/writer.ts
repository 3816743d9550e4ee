/**
 * Group commit: jobs that arrive in one turn of the event loop share one transaction and one flush to disk. A
 * job that fails rolls back its own work only.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Bounds } from '../../bounds.ts'
import { storeFailure } from '../file/failures.ts'
import { type WaitLimits, type WaitLimit, type WriteLock, createWriteLock } from './write-lock.ts'

export interface Writer {
  /**
   * Resolves when the work is on disk. The work is synchronous, so nothing else runs inside its transaction. The bounds
   * limit how long it waits for another process or thread that writes.
   */
  run<T>(work: () => T, bounds?: Bounds): Promise<T>
  /**
   * Runs work of several steps in its own transaction. The work may await the steps, which complete
   * synchronously, but nothing that needs a turn of the event loop: other requests would read uncommitted
   * data.
   */
  transact<T>(work: () => Promise<T>, options?: WriterOptions): Promise<T>
  /** Waits until all jobs are finished. */
  drain(): Promise<void>
}

export interface WriterOptions {
  readonly isReadOnly?: boolean
  /** Limit how long it waits for another process or thread that writes. */
  readonly bounds?: Bounds | undefined
}

/** The writer of the thread that owns the database. It can lend the write lock to another thread. */
export interface OwningWriter extends Writer {
  /** Resolves when no job is running; all later jobs wait until the lock is returned. */
  lend(): Promise<() => void>
}

interface Job {
  readonly perform: () => Finish
  readonly reject: (reason: unknown) => void
  readonly bounds: Bounds | undefined
  /** Present once another process or thread had the lock when it was the job's turn. */
  waitLimit?: WaitLimit
}
type Finish = () => void

/** Time slice of a batch: the remaining jobs run in later turns of the event loop, so that reads are not delayed. */
const MAX_BATCH_MS = 10

export function createWriter(
  database: DatabaseSync,
  afterCommit: () => void,
  limits?: WaitLimits,
): OwningWriter {
  const lock = createWriteLock(database, limits)
  const commit = database.prepare('commit')
  const guards = guardsOn(database)
  let jobs: Job[] = []
  let isFlushing = false
  /** Resolves when all jobs are finished. */
  let flushed = Promise.resolve()

  function enqueue(job: Job): void {
    jobs.push(job)
    if (isFlushing) return
    isFlushing = true
    flushed = flush()
  }

  async function flush(): Promise<void> {
    do {
      await nextTurn()
      if (begin()) performBatch()
      else await waitForLock()
    } while (jobs.length > 0)
    isFlushing = false
  }

  /** All jobs fail when no transaction can begin. */
  function begin(): boolean {
    try {
      return lock.begin()
    } catch (error) {
      for (const job of jobs) job.reject(error)
      jobs = []
      return false
    }
  }

  function performBatch(): void {
    const batch = jobs
    const performed: Job[] = []
    jobs = []
    try {
      const finish = performAll(batch, performed, { database, guards })
      commit.run()
      for (const each of finish) each()
      afterCommit()
    } catch (error) {
      for (const job of performed) job.reject(storeFailure(error))
      rollback(database)
    }
    // Jobs beyond the time slice go before newer ones, so that jobs run in order of arrival.
    jobs = [...batch.slice(performed.length), ...jobs]
  }

  /** Another process or thread has the lock. Jobs keep their order, and those whose bounds are over end. */
  async function waitForLock(): Promise<void> {
    jobs = jobs.filter((job) => {
      const reason = (job.waitLimit ??= lock.waitLimit(job.bounds))()
      if (reason) job.reject(reason)
      return !reason
    })
    if (jobs.length > 0) await lock.pause()
  }

  return {
    run(work, bounds) {
      const { job, result } = jobFor(work, bounds)
      enqueue(job)
      return result
    },
    async transact(work, options) {
      const result = await inTransaction(work, { database, lock, ...options })
      afterCommit()
      return result
    },
    async lend() {
      do {
        await lock.untilReturned()
        // Jobs that waited for the previous loan run first.
        await flushed
        await nextTurn()
      } while (lock.isLent)
      return lock.lend()
    },
    async drain() {
      await nextTurn()
      await flushed
    },
  }
}

/** The result of the job resolves when it is finished. */
function jobFor<T>(
  work: () => T,
  bounds: Bounds | undefined,
): { readonly job: Job; readonly result: Promise<T> } {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const perform = (): Finish => {
    const result = work()
    return () => resolve(result)
  }
  return { job: { perform, reject, bounds }, result: promise }
}

interface BatchParts {
  readonly database: DatabaseSync
  readonly guards: Guards
}

/** Performs jobs for the time slice of a batch, and adds each to `performed` when it starts. */
function performAll(
  batch: readonly Job[],
  performed: Job[],
  { database, guards }: BatchParts,
): readonly Finish[] {
  const started = performance.now()
  const finish: Finish[] = []
  for (const job of batch) {
    if (performed.length > 0 && performance.now() - started > MAX_BATCH_MS) break
    performed.push(job)
    // A single job rolls back the whole transaction when it fails, so it needs no savepoint.
    finish.push(batch.length === 1 ? job.perform() : guarded(job, database, guards))
  }
  return finish
}

interface TransactionParts extends WriterOptions {
  readonly database: DatabaseSync
  readonly lock: WriteLock
}

/** The work may await its own steps, but nothing that needs a turn of the event loop; see `Writer.transact`. */
export async function inTransaction<T>(
  work: () => Promise<T> | T,
  { database, lock, ...options }: TransactionParts,
): Promise<T> {
  await untilBegun(lock, options)
  let isLate = false
  const watch = setImmediate(() => (isLate = true))
  try {
    const result = await work()
    if (isLate) throw new Error('a transaction waited for something outside of it')
    database.exec('commit')
    return result
  } catch (error) {
    rollback(database)
    throw storeFailure(error)
  } finally {
    clearImmediate(watch)
  }
}

/** Begins in a turn of the event loop in which no other transaction begins. */
async function untilBegun(lock: WriteLock, { isReadOnly, bounds }: WriterOptions): Promise<void> {
  let limit: WaitLimit | undefined
  await nextTurn()
  while (!lock.begin(isReadOnly)) {
    const reason = (limit ??= lock.waitLimit(bounds))()
    if (reason) throw reason
    await lock.pause()
    await nextTurn()
  }
}

interface Guards {
  readonly save: StatementSync
  readonly release: StatementSync
  readonly undo: StatementSync
}

function guardsOn(database: DatabaseSync): Guards {
  return {
    save: database.prepare('savepoint job'),
    release: database.prepare('release job'),
    undo: database.prepare('rollback to job'),
  }
}

function guarded(job: Job, database: DatabaseSync, guards: Guards): Finish {
  guards.save.run()
  try {
    const finish = job.perform()
    guards.release.run()
    return finish
  } catch (error) {
    // Some failures, such as a full disk, roll back the whole transaction; then the whole batch has failed.
    if (!database.isTransaction) throw error
    guards.undo.run()
    guards.release.run()
    return () => job.reject(storeFailure(error))
  }
}

function rollback(database: DatabaseSync): void {
  if (database.isTransaction) database.exec('rollback')
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
