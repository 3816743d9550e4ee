/** Opens the store that a location names. */
import { LOCATION_FORMS, parseLocation } from '../base/location.ts'
import { LocationError } from './postgres/connection/location.ts'
import type { Borrow } from '../base/work/loan.ts'
import { attachSqliteStore, openSqliteStore } from './sqlite/store.ts'
import type { Database } from './database.ts'

interface StoreOptions {
  readonly onTiming?: (operation: string, seconds: number) => void
  /** Told of what goes wrong where nobody waits for an answer. */
  readonly onError?: (error: unknown) => void
  /** Whether work that is too much for this thread may be left to another one. */
  readonly offloads?: boolean
  /** Given in a thread beside the one that owns an embedded database. */
  readonly borrow?: Borrow
}

/** A store of its own file is open when this resolves; one elsewhere connects in the background. */
export async function openStore(location: string, options: StoreOptions = {}): Promise<Database> {
  const parsed = parseLocation(location)
  // what was given is not repeated: there may be a password in it
  if (!parsed) throw new LocationError(`the location of a store is ${LOCATION_FORMS}`)
  const { onTiming, onError, offloads = false, borrow } = options
  const timing = onTiming && { onTiming }
  if (parsed.kind === 'sqlite') {
    const { directory } = parsed
    if (borrow) return attachSqliteStore({ directory, borrow, ...timing })
    return openSqliteStore({ directory, offloads, ...timing })
  }
  // a start on SQLite need not wait for the driver of another database to load
  const { openPostgresStore } = await import('./postgres/store.ts')
  const isBeside = borrow !== undefined
  return openPostgresStore({ url: parsed.url, isBeside, ...timing, ...(onError && { onError }) })
}
