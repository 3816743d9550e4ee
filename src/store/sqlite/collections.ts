/** Changes tables and indexes of collections together with metadata. */
import type { Engine } from '../engine.ts'
import type { Collections } from '../tables/metadata.ts'
import { raw, sql } from '../sql/fragment.ts'
import type { Catalogue } from './catalogue.ts'

export function collectionsOf(engine: Engine, catalogue: Catalogue): Collections {
  return {
    /** Uses its own transaction: jobs in a shared one would still write with the old tables and indexes. */
    async change(definitions, work) {
      try {
        await engine.transaction(async (session) => {
          await work(session)
          for (const definition of definitions) catalogue.prepare(definition)
        })
      } finally {
        catalogue.reload()
      }
    },
    hasDocuments: async ({ query }, collection) => {
      const table = catalogue.tableOf(collection)
      return table !== undefined && (await query(sql`select 1 from ${raw(table.name)} limit 1`)).length > 0
    },
    drop: async (_, collection) => catalogue.drop(collection),
    reload: async () => catalogue.reload(),
  }
}
