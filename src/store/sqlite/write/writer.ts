/**
 * Group commit: jobs that arrive in one turn of the event loop share one transaction and one flush to disk. A
 * job that fails rolls back its own work only.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { NoRoomError } from '../../../base/errors.ts'
import { isDiskFull } from '../file/failures.ts'

export interface Writer {
  /** Resolves when the work is on disk. The work is synchronous, so nothing else runs inside its transaction. */
  run<T>(work: () => T): Promise<T>
  /**
   * Runs work of several steps in its own transaction. The work may await the steps, which complete
   * synchronously, but nothing that needs a turn of the event loop: other requests would read uncommitted
   * data.
   */
  transact<T>(work: () => Promise<T>, options?: { readonly isReadOnly?: boolean }): Promise<T>
  /** Waits until all jobs are finished. */
  drain(): Promise<void>
}

/** The writer of the thread that owns the database. It can lend the write lock to another thread. */
export interface OwningWriter extends Writer {
  /** Resolves when no job is running; all later jobs wait until the lock is returned. */
  lend(): Promise<() => void>
}

interface Job {
  readonly perform: () => Settle
  readonly reject: (reason: unknown) => void
}
type Settle = () => void

/** Time slice of a batch: the remaining jobs run in later turns of the event loop, so that reads are not delayed. */
const MAX_BATCH_MS = 10

export function createWriter(database: DatabaseSync, afterCommit: () => void): OwningWriter {
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const guards = {
    save: database.prepare('savepoint job'),
    release: database.prepare('release job'),
    undo: database.prepare('rollback to job'),
  }
  let jobs: Job[] = []
  let flushed = Promise.resolve()
  let lent: Promise<void> | undefined

  function flush(): void | Promise<void> {
    if (lent) return lent.then(flush)
    const batch = jobs
    jobs = []
    const performed: Job[] = []
    try {
      begin.run()
      const settle = performAll(batch, performed)
      commit.run()
      for (const each of settle) each()
      afterCommit()
    } catch (error) {
      for (const job of performed) job.reject(storeFailure(error))
      rollback(database)
    }
    // Jobs beyond the time slice go before newer ones, so that jobs run in order of arrival.
    jobs = [...batch.slice(performed.length), ...jobs]
    if (jobs.length > 0) return nextTurn().then(flush)
  }

  function performAll(batch: readonly Job[], performed: Job[]): readonly Settle[] {
    const started = performance.now()
    const settle: Settle[] = []
    for (const job of batch) {
      if (performed.length > 0 && performance.now() - started > MAX_BATCH_MS) break
      performed.push(job)
      // A single job rolls back the whole transaction when it fails, so it needs no savepoint.
      settle.push(batch.length === 1 ? job.perform() : guarded(job, database, guards))
    }
    return settle
  }

  /** Waits at least one turn of the event loop, so that no two waiters start in the same turn. */
  async function untilReturned(): Promise<void> {
    await lent
    await nextTurn()
    if (lent) await untilReturned()
  }

  function enqueue(job: Job): void {
    if (jobs.length === 0) flushed = nextTurn().then(flush)
    jobs.push(job)
  }

  return {
    run<T>(work: () => T): Promise<T> {
      const { promise, resolve, reject } = Promise.withResolvers<T>()
      const perform = (): Settle => {
        const result = work()
        return () => resolve(result)
      }
      enqueue({ perform, reject })
      return promise
    },
    async transact(work, { isReadOnly = false } = {}) {
      await untilReturned()
      const result = await inTransaction(database, work, isReadOnly)
      afterCommit()
      return result
    },
    async lend() {
      // Jobs that waited for the previous loan run first.
      await flushed
      await untilReturned()
      const { promise, resolve } = Promise.withResolvers<void>()
      lent = promise
      return () => {
        lent = undefined
        resolve()
      }
    },
    async drain() {
      await nextTurn()
      await flushed
    },
  }
}

/** The work may await its own steps, but nothing that needs a turn of the event loop; see `Writer.transact`. */
export async function inTransaction<T>(
  database: DatabaseSync,
  work: () => Promise<T> | T,
  isReadOnly: boolean,
): Promise<T> {
  let isLate = false
  const watch = setImmediate(() => (isLate = true))
  database.exec(isReadOnly ? 'begin' : 'begin immediate')
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

interface Guards {
  readonly save: StatementSync
  readonly release: StatementSync
  readonly undo: StatementSync
}

function guarded(job: Job, database: DatabaseSync, guards: Guards): Settle {
  guards.save.run()
  try {
    const settle = job.perform()
    guards.release.run()
    return settle
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

/** The public error for a failure of the engine; the log has the details. */
function storeFailure(error: unknown): unknown {
  return isDiskFull(error) ? new NoRoomError('the disk is full; nothing was stored') : error
}
