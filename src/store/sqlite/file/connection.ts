/** Opens the database file: one process at a time, durable settings, our functions, and the tables of this release. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { timedOut } from '../../../base/work/work.ts'
import { addFunctions } from './functions.ts'
import { lockData } from './file-lock.ts'
import { migrate } from '../migrations.ts'

export interface Connection extends Disposable {
  readonly database: DatabaseSync
  readonly file: string
  /** Runs watched statements, which fail with a timeout once they take longer. */
  readonly within: <T>(timeLimitMs: number, work: () => T) => T
}

/** Somebody may just be looking into the file, such as a backup. Later nobody who only reads is in the way. */
const WAIT_MS = 5_000

/** The engine cuts the write-ahead log to this size when it begins anew; `wal-checkpoints.ts` shortens a longer one. */
export const LOG_BYTES = 16 * 1024 * 1024

export function openConnection(directory: string): Connection {
  // the data are for whoever runs the service, and for nobody else on the machine
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const file = join(directory, 'smalt.db')
  using opened = new DisposableStack()
  const lock = opened.use(lockData(directory))
  const database = opened.adopt(new DatabaseSync(file, { timeout: WAIT_MS }), (each) => each.close())
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536')
  database.exec(
    `pragma temp_store = memory; pragma mmap_size = 268435456; pragma journal_size_limit = ${LOG_BYTES}`,
  )
  const within = watching(database)
  migrate(database)
  database.exec('pragma busy_timeout = 0')
  // From here on whoever asked for the connection closes it.
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

/** A further connection of the process that has the directory already. */
export function attachConnection(directory: string): Connection {
  const file = join(directory, 'smalt.db')
  const database = new DatabaseSync(file, { timeout: WAIT_MS })
  database.exec('pragma synchronous = full; pragma cache_size = -16384')
  database.exec(
    `pragma temp_store = memory; pragma mmap_size = 268435456; pragma journal_size_limit = ${LOG_BYTES}`,
  )
  return { database, file, within: watching(database), [Symbol.dispose]: () => database.close() }
}

/** Adds our functions, by which watched statements notice that their time is over. */
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
