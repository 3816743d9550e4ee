/**
 * One writer, shared flushes: jobs that arrive in one turn of the event loop run in one transaction and wait for one
 * flush to disk. A job that fails takes back its own work only.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ServiceError } from '../../../base/errors.ts'
import { isDiskFull } from '../file/failures.ts'

export interface Writer {
  /** Resolves when the work is on disk. The work is synchronous: nothing else runs inside its transaction. */
  run<T>(work: () => T): Promise<T>
  /**
   * A transaction of its own for work made of several steps. The work may await the steps, which all finish at once,
   * but nothing that takes a turn of the event loop: others would read what is not committed.
   */
  transact<T>(work: () => Promise<T>, options?: { readonly isReadOnly?: boolean }): Promise<T>
  /** Finishes what was begun. */
  drain(): Promise<void>
}

/** The writer of the thread that owns the database, which can lend the right to write to another thread. */
export interface OwningWriter extends Writer {
  /** Resolves once nothing is being written; from then on all jobs wait until it is given back. */
  lend(): Promise<() => void>
}

interface Job {
  readonly perform: () => Settle
  readonly reject: (reason: unknown) => void
}
type Settle = () => void

/** Jobs that together take longer than this are spread over several turns of the event loop. */
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
    jobs = [...batch.slice(performed.length), ...jobs]
    if (jobs.length > 0) return nextTurn().then(flush)
  }

  function performAll(batch: readonly Job[], performed: Job[]): readonly Settle[] {
    const started = performance.now()
    const settle: Settle[] = []
    for (const job of batch) {
      if (performed.length > 0 && performance.now() - started > MAX_BATCH_MS) break
      performed.push(job)
      // A job that is alone takes back everything when it fails, so it needs no guard of its own.
      settle.push(batch.length === 1 ? job.perform() : guarded(job, database, guards))
    }
    return settle
  }

  /** Takes at least a turn of the event loop, so that no two of those who wait begin in the same one. */
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
      // Those who waited for the last loan to end write first.
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

/** The work may await its own steps, but nothing that takes a turn of the event loop. */
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
    // Some failures, such as a full disk, end the whole transaction; then the batch as a whole has failed.
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

/** What callers may know of a failure of the engine; the log has the rest. */
function storeFailure(error: unknown): unknown {
  return isDiskFull(error)
    ? new ServiceError('crud:Unavailable', 'the disk is full; nothing was stored')
    : error
}
