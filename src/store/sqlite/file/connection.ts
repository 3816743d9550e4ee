/**
 * Opens the database file: exclusive to one process, with durable settings, our SQL functions, and migrations
 * applied.
 */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { timedOut } from '../../../base/work/work.ts'
import { addFunctions } from './functions.ts'
import { type SqliteMemory, memoryOfThread, memoryPragmas } from './memory.ts'
import { lockData } from './file-lock.ts'
import { migrate } from '../migrations.ts'

export interface Connection extends Disposable {
  readonly database: DatabaseSync
  readonly file: string
  /** Runs watched statements; they fail with a timeout after this time. */
  readonly within: <T>(timeLimitMs: number, work: () => T) => T
}

/** Another process may read the file briefly, for example a backup. After opening, readers do not block. */
const WAIT_MS = 5_000

/**
 * SQLite truncates the write-ahead log to this size when it restarts it; `wal-checkpoints.ts` shortens a
 * longer one.
 */
export const LOG_BYTES = 16 * 1024 * 1024

export function openConnection(directory: string, memory: SqliteMemory): Connection {
  // Only the user that runs the service may read the data.
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = join(directory, 'smalt.db')
  using opened = new DisposableStack()
  const lock = opened.use(lockData(directory))
  const database = opened.adopt(new DatabaseSync(file, { timeout: WAIT_MS }), (each) => each.close())
  // Has an effect on a new file only, and only before anything else; `smalt compact` changes an older one.
  database.exec('pragma auto_vacuum = incremental')
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  database.exec(`${memoryPragmas(memory)}; pragma journal_size_limit = ${LOG_BYTES}`)
  const within = watching(database)
  migrate(database)
  database.exec('pragma busy_timeout = 0')
  // The caller owns the connection from here on.
  opened.move()
  return {
    database,
    file,
    within,
    [Symbol.dispose]() {
      database.close()
      lock[Symbol.dispose]()
    },
  }
}

/** Opens another connection in the process that has the directory locked. */
export function attachConnection(directory: string, memory: SqliteMemory): Connection {
  const file = join(directory, 'smalt.db')
  const database = new DatabaseSync(file, { timeout: WAIT_MS })
  database.exec('pragma synchronous = full')
  database.exec(`${memoryPragmas(memoryOfThread(memory))}; pragma journal_size_limit = ${LOG_BYTES}`)
  // Its requests end in time while another process writes; see `write-lock.ts`.
  database.exec('pragma busy_timeout = 0')
  return { database, file, within: watching(database), [Symbol.dispose]: () => database.close() }
}

/** Adds our SQL functions, which make watched statements fail after their time limit. */
function watching(database: DatabaseSync): Connection['within'] {
  const watch = { until: Infinity, limitMs: 0 }
  addFunctions(database, () => {
    if (performance.now() > watch.until) throw timedOut(watch.limitMs)
  })
  return (timeLimitMs, work) => {
    watch.until = performance.now() + timeLimitMs
    watch.limitMs = Math.round(timeLimitMs)
    try {
      return work()
    } finally {
      watch.until = Infinity
    }
  }
}
