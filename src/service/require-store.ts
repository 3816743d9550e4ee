/** Keeps what only reads a store from making one. */
import { type Location, parseLocation } from '../base/location.ts'
import { isStoreIn } from '../store/sqlite/transfer/export.ts'

/** Fails where there is no store: opening it would make an empty one. */
export async function refuseAbsent(location: string): Promise<void> {
  const parsed = parseLocation(location)
  if (!parsed || (await isThere(parsed))) return
  throw new Error('there is no store')
}

async function isThere(location: Location): Promise<boolean> {
  if (location.kind === 'sqlite') return isStoreIn(location.directory)
  // what works on SQLite need not wait for the driver of another database to load
  const { isStoreAt } = await import('../store/postgres/connection/store-exists.ts')
  return await isStoreAt(location.url)
}
