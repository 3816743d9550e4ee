/**
 * One writer, shared flushes: jobs that arrive in one turn of the event loop run in one transaction and wait for one
 * flush to disk. A job that fails takes back its own work only.
 */
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { ServiceError } from '../../base/errors.ts'
import { isDiskFull } from './failures.ts'

export interface Writer {
  /** Resolves when the work is on disk. The work is synchronous: nothing else runs inside its transaction. */
  run<T>(work: () => T): Promise<T>
  /**
   * A transaction of its own for work made of several steps. The work may await the steps, which all finish at once,
   * but nothing that takes a turn of the event loop: others would read what is not committed.
   */
  transact<T>(work: () => Promise<T>): Promise<T>
  /** Finishes what was begun. */
  drain(): Promise<void>
}

interface Job {
  readonly perform: () => Settle
  readonly reject: (reason: unknown) => void
}
type Settle = () => void

export function createWriter(database: DatabaseSync, afterCommit: () => void): Writer {
  const begin = database.prepare('begin immediate')
  const commit = database.prepare('commit')
  const guards = {
    save: database.prepare('savepoint job'),
    release: database.prepare('release job'),
    undo: database.prepare('rollback to job'),
  }
  let jobs: Job[] = []
  let flushed = Promise.resolve()

  function flush(): void {
    const batch = jobs
    jobs = []
    try {
      begin.run()
      // A job that is alone takes back everything when it fails, so it needs no guard of its own.
      const settle =
        batch.length === 1 ? [batch[0]!.perform()] : batch.map((job) => guarded(job, database, guards))
      commit.run()
      for (const each of settle) each()
      afterCommit()
    } catch (error) {
      for (const job of batch) job.reject(storeFailure(error))
      rollback(database)
    }
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
    async transact(work) {
      await nextTurn()
      const result = await alone(database, work)
      afterCommit()
      return result
    },
    async drain() {
      await nextTurn()
      await flushed
    },
  }
}

async function alone<T>(database: DatabaseSync, work: () => Promise<T>): Promise<T> {
  let isLate = false
  const watch = setImmediate(() => (isLate = true))
  database.exec('begin immediate')
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
