/** Prevents commands that only read a store from creating one. */
import { type Location, parseLocation } from '../base/location.ts'
import { isStoreIn } from '../store/sqlite/transfer/export.ts'

/** Fails if there is no store: opening it would create an empty one. */
export async function refuseAbsent(location: string): Promise<void> {
  const parsed = parseLocation(location)
  if (!parsed || (await isThere(parsed))) return
  throw new Error('there is no store')
}

async function isThere(location: Location): Promise<boolean> {
  if (location.kind === 'sqlite') return isStoreIn(location.directory)
  // Imported on demand, so that commands on SQLite do not wait for another driver to load.
  const { isStoreAt } = await import('../store/postgres/connection/store-exists.ts')
  return await isStoreAt(location.url)
}
