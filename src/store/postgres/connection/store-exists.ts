/** Checks whether a database contains a store, without creating one. */
import { openConnections } from './connections.ts'
import { toServiceError } from './failures.ts'
import { readLocation } from './location.ts'

/** Looks for the table that a store of every release has. */
export async function isStoreAt(url: string): Promise<boolean> {
  const location = readLocation(url)
  await using connections = openConnections(location, () => undefined)
  // Reads the system catalogue, because a qualified name fails if the role may not use the schema.
  const text =
    'select 1 from pg_class join pg_namespace on pg_namespace.oid = relnamespace where nspname = $1 and relname = $2'
  try {
    return (await connections.quick.query({ text, values: [location.schema, 'smalt_release'] })).length > 0
  } catch (error) {
    throw toServiceError(error)
  }
}
