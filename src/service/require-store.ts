/** Prevents commands that only read a store from creating one. */
import { type Location, parseLocation } from '../base/location.ts'
import { isStoreIn } from '../store/sqlite/transfer/export.ts'

/** Fails if there is no store: opening it would create an empty one. */
export async function refuseAbsent(location: string): Promise<void> {
  if (await isStorePresent(location)) return
  throw new Error('there is no store')
}

/** An invalid location counts as present: opening it reports the mistake. */
export async function isStorePresent(location: string): Promise<boolean> {
  const parsed = parseLocation(location)
  return !parsed || (await isThere(parsed))
}

async function isThere(location: Location): Promise<boolean> {
  if (location.kind === 'sqlite') return isStoreIn(location.directory)
  // Imported on demand, so that commands on SQLite do not wait for another driver to load.
  const { isStoreAt } = await import('../store/postgres/connection/store-exists.ts')
  return await isStoreAt(location.url)
}
