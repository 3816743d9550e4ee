/** Tables and indexes of collections, changed together with metadata. */
import type { Engine } from '../engine.ts'
import type { Collections } from '../tables/metadata.ts'
import type { Catalogue } from './catalogue.ts'

export function collectionsOf(engine: Engine, catalogue: Catalogue): Collections {
  return {
    /** A transaction of its own: jobs that shared it would still write by the tables and indexes of before. */
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
