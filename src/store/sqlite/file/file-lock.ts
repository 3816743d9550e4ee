/** Locks the data directory for one process. The operating system releases the locks however the process ends. */
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isBusy } from './failures.ts'

/** Another process has the data directory locked. */
class LockedError extends Error {
  readonly code = 'SMALT_LOCKED'
}

/** The time that another process may use the file briefly. */
const WAIT_MS = 2_000

/** Locked until it is disposed. */
export function lockData(directory: string): Disposable {
  const lock = lockDirectory(directory)
  try {
    requireUnused(join(directory, 'smalt.db'))
  } catch (error) {
    lock.close()
    throw error
  }
  return { [Symbol.dispose]: () => lock.close() }
}

/** Decides between processes that start at the same time. */
function lockDirectory(directory: string): DatabaseSync {
  const lock = new DatabaseSync(join(directory, 'smalt.lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive; create table if not exists held(x); commit')
    lock.exec('begin exclusive')
    return lock
  } catch (error) {
    lock.close()
    if (!isBusy(error)) throw error
    throw new LockedError(
      `${directory} is in use by another Smalt process; stop that one, or give this one another --data directory`,
    )
  }
}

/**
 * The lock file can be removed, and the database can be reached by another path. But every process that has
 * the database open has a lock on the file itself, whatever its name, so exclusive access to it proves that
 * there is none.
 */
function requireUnused(file: string): void {
  if (!existsSync(file)) return
  // Under another name the write-ahead log, which has the latest writes, would be another file.
  if (statSync(file).nlink > 1) {
    throw new LockedError(
      `${file} has more than one name (hard links), and writing by both would destroy it; remove the others, or copy the file`,
    )
  }
  using alone = new DatabaseSync(file, { timeout: WAIT_MS })
  try {
    alone.exec('pragma locking_mode = exclusive')
    alone.prepare('select 1 from sqlite_schema').get()
  } catch (error) {
    if (!isBusy(error)) throw error
    throw new LockedError(
      `${file} is in use by another process, a Smalt service or a tool that has it open; end that one, or give this one another --data directory`,
    )
  }
}
