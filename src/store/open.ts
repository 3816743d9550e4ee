/** Opens the store at a location. */
import { LOCATION_FORMS, parseLocation } from '../base/location.ts'
import { LocationError } from './postgres/connection/location.ts'
import type { Borrow } from '../base/work/loan.ts'
import type { SqliteMemory } from './sqlite/file/memory.ts'
import { attachSqliteStore } from './sqlite/attached-store.ts'
import { openSqliteStore } from './sqlite/store.ts'
import type { Database } from './database.ts'

interface StoreOptions {
  readonly onTiming?: (operation: string, seconds: number) => void
  /** Receives errors of background work. */
  readonly onError?: (error: unknown) => void
  /** Receives a sentence about a database whose settings break a promise of ours. */
  readonly onWarning?: (message: string) => void
  /** Whether heavy work may run on another thread. */
  readonly offloads?: boolean
  /** For an embedded database. */
  readonly memory?: SqliteMemory
  /** Present in a worker thread: borrows the write lock of the thread that owns an embedded database. */
  readonly borrow?: Borrow
}

/** An embedded store is open when this resolves; a remote one connects in the background. */
export async function openStore(location: string, options: StoreOptions = {}): Promise<Database> {
  const parsed = parseLocation(location)
  // The message does not repeat the location, because it may contain a password.
  if (!parsed) throw new LocationError(`the location of a store is ${LOCATION_FORMS}`)
  const { onTiming, onError, onWarning, offloads = false, borrow, memory } = options
  const timing = onTiming && { onTiming }
  if (parsed.kind === 'sqlite') {
    const { directory } = parsed
    const sized = memory && { memory }
    if (borrow) return attachSqliteStore({ directory, borrow, ...timing, ...sized })
    return openSqliteStore({ directory, offloads, ...timing, ...sized, ...(onError && { onError }) })
  }
  // Imported on demand, so that a start on SQLite does not load the driver of PostgreSQL.
  const { openPostgresStore } = await import('./postgres/store.ts')
  const isBeside = borrow !== undefined
  return openPostgresStore({
    url: parsed.url,
    isBeside,
    ...timing,
    ...(onError && { onError }),
    ...(onWarning && { onWarning }),
  })
}
