/** This process's cache of the catalogue. Other processes may change tables at any time; then it is reloaded. */
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
      // A slow read may end after one that began later; its result is outdated.
      if (no < newest) return
      newest = no
      tables = read
    },
  }
}
