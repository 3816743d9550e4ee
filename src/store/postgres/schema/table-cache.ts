/** This process's cache of the catalogue. Other processes may change tables at any time; then it is reloaded. */
import type { Collection } from '../../../schema/schema.ts'
import { type Table, type Tables, keyOf, readTables } from './catalogue.ts'
import { isComplete } from './columns.ts'
import type { SqlSession } from '../connection/connection.ts'

export interface KnownTables {
  readonly tableOf: (collection: Collection) => Table | undefined
  readonly reload: () => Promise<void>
  /** Whether a table has columns that are not filled. */
  readonly hasIncomplete: () => boolean
}

/** `isCluster` is called for each reload: it is unknown before the first connection. */
export function createKnownTables(session: SqlSession, isCluster: () => boolean): KnownTables {
  let tables: Tables = new Map()
  let reads = 0
  let newest = 0
  return {
    tableOf: (collection) => tables.get(keyOf(collection)),
    hasIncomplete: () => tables.values().some(({ layout }) => !isComplete(layout)),
    async reload() {
      const no = ++reads
      const read = await readTables(session, isCluster())
      // A slow read may end after one that began later; its result is outdated.
      if (no < newest) return
      newest = no
      tables = read
    },
  }
}
