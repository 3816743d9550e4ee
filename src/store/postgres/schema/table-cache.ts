/** The tables as this process knows them. Others may change them at any time; then they are read again. */
import type { Collection } from '../../../schema/schema.ts'
import { type Table, type Tables, keyOf, readTables } from './catalogue.ts'
import type { Session } from '../connection/connections.ts'

export interface KnownTables {
  readonly tableOf: (collection: Collection) => Table | undefined
  readonly reload: () => Promise<void>
}

export function createKnownTables(session: Session): KnownTables {
  let tables: Tables = new Map()
  let reads = 0
  let newest = 0
  return {
    tableOf: (collection) => tables.get(keyOf(collection)),
    async reload() {
      const no = ++reads
      const read = await readTables(session)
      // A slow one may end after one that was begun later.
      if (no < newest) return
      newest = no
      tables = read
    },
  }
}
