/** The metadata part of a store, held in memory: the registry's partner in tests. */
import { ServiceError } from '../../../src/base/errors.ts'
import type { MetadataStore } from '../../../src/metadata/registry.ts'
import type { Collection } from '../../../src/schema/schema.ts'
import type {
  CollectionDefinition,
  EntityChange,
  HistoryRecord,
  MetadataRecords,
} from '../../../src/store/metadata-records.ts'

export interface MemoryMetadata extends MetadataStore {
  /** The last definition of each collection that the store received. */
  readonly prepared: Map<string, CollectionDefinition>
  /** Makes the next change fail. */
  failWith(error: Error): void
}

export function memoryMetadata(): MemoryMetadata {
  let epoch = 0
  let failure: Error | undefined
  const infos = new Map<string, string>()
  const schemas = new Map<string, Map<string, string>>()
  const collections = new Map<string, { readonly collection: Collection; readonly paths: Set<string> }>()
  const history = new Map<string, HistoryRecord[]>()
  const prepared = new Map<string, CollectionDefinition>()

  function read(): MetadataRecords {
    return {
      epoch,
      secret: 's',
      entities: [...infos].map(([entity, info]) => ({ entity, info })),
      schemas: [...schemas].flatMap(([entity, versions]) =>
        [...versions].map(([version, schema]) => ({ entity, version, schema })),
      ),
      collections: [...collections.values()].map(({ collection, paths }) => ({
        // Like a store that does not know the name it is configured under.
        collection: { ...collection, datasource: '' },
        paths: [...paths],
      })),
    }
  }

  function apply(change: EntityChange): void {
    const { entity, info, prepare } = change
    if (info === null) {
      infos.delete(entity)
      schemas.delete(entity)
    } else {
      const versions = schemas.get(entity) ?? new Map<string, string>()
      for (const { version, schema } of change.schemas) versions.set(version, schema)
      infos.set(entity, info)
      schemas.set(entity, versions)
    }
    if (prepare) remember(prepare)
    history.set(entity, [...(history.get(entity) ?? []), change.history])
  }

  function remember(definition: CollectionDefinition): void {
    const key = JSON.stringify(definition.collection)
    const paths = collections.get(key)?.paths ?? new Set()
    collections.set(key, { collection: definition.collection, paths: paths.union(new Set(definition.paths)) })
    prepared.set(definition.collection.entity, definition)
  }

  return {
    prepared,
    failWith(error) {
      failure = error
    },
    readEpoch: () => Promise.resolve(epoch),
    readMetadata: () => Promise.resolve(read()),
    hasDocuments: () => Promise.resolve(false),
    readMetadataHistory: (entity) => Promise.resolve(history.get(entity) ?? []),
    async changeMetadata(change) {
      await Promise.resolve()
      const failed = failure
      failure = undefined
      if (failed) throw failed
      if (change.expectedEpoch !== epoch) {
        throw new ServiceError('metadata:UpdateInvalidatesMetadata', 'metadata changed meanwhile')
      }
      for (const each of change.entities) apply(each)
      epoch++
    },
  }
}
