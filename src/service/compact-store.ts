/** Compacts the file of an embedded store without starting a service on it. */
import { parseLocation } from '../base/location.ts'
import { type Compacted, compactFile } from '../store/sqlite/file/compact.ts'
import { OpenError } from './open/stores.ts'
import { refuseAbsent } from './require-store.ts'

/** Undefined where the store is no file of ours. Throws an OpenError if it cannot be opened. */
export async function compactStore(location: string): Promise<Compacted | undefined> {
  try {
    const parsed = parseLocation(location)
    if (parsed?.kind !== 'sqlite') return undefined
    await refuseAbsent(location)
    return compactFile(parsed.directory)
  } catch (error) {
    throw new OpenError(location, error)
  }
}
