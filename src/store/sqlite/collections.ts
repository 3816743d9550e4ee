/** Changes tables and indexes of collections together with metadata. */
import type { Engine } from '../engine.ts'
import type { Collections } from '../tables/metadata.ts'
import type { Catalogue } from './catalogue.ts'

export function collectionsOf(engine: Engine, catalogue: Catalogue): Collections {
  return {
    /** Uses its own transaction: jobs in a shared one would still write with the old tables and indexes. */
    async change(definition, work) {
      try {
        await engine.transaction(async (session) => {
          await work(session)
          if (definition) catalogue.prepare(definition)
        })
      } finally {
        catalogue.reload()
      }
    },
    reload: async () => catalogue.reload(),
  }
}
