/** Whether a database holds a store, found out without making one. */
import { openConnections } from './connections.ts'
import { toServiceError } from './failures.ts'
import { readLocation } from './location.ts'

/** Asks for the table that every store has, whatever its release. */
export async function isStoreAt(url: string): Promise<boolean> {
  const location = readLocation(url)
  await using connections = openConnections(location, () => undefined)
  // by the catalogue, since a name would be refused where the schema may not be used
  const text =
    'select 1 from pg_class join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relname = $2'
  try {
    return (await connections.quick.query({ text, values: [location.schema, 'smalt_release'] })).length > 0
  } catch (error) {
    throw toServiceError(error)
  }
}
