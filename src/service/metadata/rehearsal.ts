/**
 * Changes of metadata that are not made: a registry of its own makes them in memory, so that the answer and everything
 * that would be changed are known beforehand.
 */
import type { OtherStores } from '../../metadata/other-stores.ts'
import type { MetadataStore } from '../../metadata/registry.ts'
import type { CollectionDefinition, MetadataChange, MetadataRecords } from '../../store/metadata-records.ts'

interface RehearsalStore {
  readonly store: MetadataStore
  readonly others: OtherStores
  /** The change that the registry asked for; undefined if there is nothing to change. */
  readonly wanted: () => MetadataChange | undefined
}

/** The records are those of the stores until the first change, and those that the change would result in afterwards. */
export function rehearsing(store: MetadataStore, others: OtherStores): RehearsalStore {
  let wanted: MetadataChange | undefined
  let changed: MetadataRecords | undefined
  return {
    store: {
      readEpoch: async () => changed?.epoch ?? (await store.readEpoch()),
      readMetadata: async () => changed ?? (await store.readMetadata()),
      readMetadataHistory: (entity) => store.readMetadataHistory(entity),
      hasDocuments: (collection) => store.hasDocuments(collection),
      async changeMetadata(change) {
        changed = changedBy(change, await store.readMetadata())
        wanted = change
      },
    },
    others: new Map(
      [...others].map(([name, other]) => [
        name,
        { ...other, prepareCollection: doNothing, dropCollection: doNothing },
      ]),
    ),
    wanted: () => wanted,
  }
}

async function doNothing(): Promise<void> {}

function changedBy({ entities: changes }: MetadataChange, records: MetadataRecords): MetadataRecords {
  const infos = new Map(records.entities.map(({ entity, info }) => [entity, info]))
  const schemas = new Map(records.schemas.map((each) => [`${each.entity}\n${each.version}`, each]))
  let { collections } = records
  for (const { entity, info, schemas: written, prepare } of changes) {
    if (info === null) {
      infos.delete(entity)
      for (const [key, each] of schemas) if (each.entity === entity) schemas.delete(key)
    } else infos.set(entity, info)
    for (const { version, schema } of written)
      schemas.set(`${entity}\n${version}`, { entity, version, schema })
    if (prepare) collections = withCollection(collections, prepare)
  }
  return {
    ...records,
    epoch: records.epoch + 1,
    entities: [...infos].map(([entity, info]) => ({ entity, info })),
    schemas: [...schemas.values()],
    collections,
  }
}

type Collections = MetadataRecords['collections']

function withCollection(collections: Collections, { collection, paths }: CollectionDefinition): Collections {
  const isOwn = (each: Collections[number]): boolean =>
    each.collection.name === collection.name && each.collection.entity === collection.entity
  const before = collections.find(isOwn)
  const all = { collection, paths: [...new Set([...(before?.paths ?? []), ...paths])] }
  return before ? collections.map((each) => (isOwn(each) ? all : each)) : [...collections, all]
}
