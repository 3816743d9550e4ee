/** Opens the database file: one process at a time, durable settings, our functions, and the tables of this release. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { orderKey } from '../../base/decimal.ts'
import { type Pattern, compilePattern } from '../../base/pattern.ts'
import { foldCase } from '../../base/text.ts'
import { migrate } from './migrations.ts'

export interface Connection extends Disposable {
  readonly database: DatabaseSync
  readonly file: string
}

/** Another process has the data directory. */
export class LockedError extends Error {
  readonly code = 'SMALT_LOCKED'
}

export function openConnection(directory: string): Connection {
  mkdirSync(directory, { recursive: true })
  const lock = takeLock(directory)
  const file = join(directory, 'smalt.db')
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full; pragma cache_size = -65536')
  database.exec('pragma temp_store = memory; pragma mmap_size = 268435456')
  addFunctions(database)
  migrate(database)
  return {
    database,
    file,
    [Symbol.dispose]() {
      database.close()
      lock.close()
    },
  }
}

/** The operating system releases this lock however the process ends. */
function takeLock(directory: string): DatabaseSync {
  const lock = new DatabaseSync(join(directory, 'smalt.lock'))
  try {
    lock.exec('pragma locking_mode = exclusive; begin exclusive; create table if not exists held(x); commit')
    lock.exec('begin exclusive')
    return lock
  } catch {
    lock.close()
    throw new LockedError(
      `${directory} is in use by another Smalt process; stop that one, or give this one another --data directory`,
    )
  }
}

/** Deterministic, so that indexes may be built on them; never on anything but their arguments. */
function addFunctions(database: DatabaseSync): void {
  const options = { deterministic: true } as const
  database.function('smalt_number', options, (text) => (typeof text === 'string' ? orderKey(text) : null))
  database.function('smalt_fold', options, (text) => (typeof text === 'string' ? foldCase(text) : null))
  database.function('smalt_match', options, (text, pattern, flags) => {
    if (typeof text !== 'string') return null
    return patternOf(String(pattern), String(flags)).occursIn(text) ? 1 : 0
  })
}

const patterns = new Map<string, Pattern>()

function patternOf(source: string, letters: string): Pattern {
  const key = `${letters}/${source}`
  const known = patterns.get(key)
  if (known) return known
  if (patterns.size >= 100) patterns.clear()
  const pattern = compilePattern(source, {
    caseInsensitive: letters.includes('i'),
    multiline: letters.includes('m'),
    extended: letters.includes('x'),
    dotall: letters.includes('s'),
  })!
  patterns.set(key, pattern)
  return pattern
}
