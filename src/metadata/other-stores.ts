/**
 * Datasources besides the default one: they store documents and have a record of their collections, but no
 * metadata.
 */
import { isUnavailable } from '../base/errors.ts'
import type { CollectionDefinition, MetadataRecords, RemovedCollection } from '../store/metadata-records.ts'
import type { MetadataStore } from '../store/tables/metadata.ts'
import type { AllRecords, Entity } from './catalogue.ts'
import { presentDefinition } from './validate/validate-change.ts'

/** By the name of the datasource. */
export type OtherStores = ReadonlyMap<
  string,
  Pick<MetadataStore, 'readMetadata' | 'prepareCollection' | 'hasDocuments' | 'dropCollection'>
>

/**
 * Metadata is read first and collections second. A change writes the collection before the metadata, so in
 * this order the collections may be ahead of the metadata, but never behind it.
 */
export async function readAllRecords(
  store: Pick<MetadataStore, 'readMetadata'>,
  others: OtherStores,
  datasource: string,
): Promise<AllRecords> {
  const records = await store.readMetadata()
  const elsewhere = await Promise.all(
    [...others].map(async ([name, other]) => ({ name, collections: await collectionsIn(name, other) })),
  )
  return {
    ...records,
    collections: [
      ...named(records.collections, datasource),
      ...elsewhere.flatMap(({ collections }) => collections ?? []),
    ],
    unread: elsewhere.filter(({ collections }) => !collections).map(({ name }) => name),
  }
}

type Collections = MetadataRecords['collections']

async function collectionsIn(
  name: string,
  other: Pick<MetadataStore, 'readMetadata'>,
): Promise<Collections | undefined> {
  try {
    return named((await other.readMetadata()).collections, name)
  } catch (error) {
    if (isUnavailable(error)) return undefined
    throw error
  }
}

/** A store has no access to the name it is configured under. */
function named(collections: Collections, datasource: string): Collections {
  return collections.map(({ collection, paths }) => ({ collection: { ...collection, datasource }, paths }))
}

/**
 * Prepares a collection for a change that may still be refused, so everything that the present state needs
 * stays.
 */
export async function prepareElsewhere(
  others: OtherStores,
  entity: Entity | undefined,
  definition: CollectionDefinition,
): Promise<void> {
  const present = entity && presentDefinition(entity)
  const isSame = present && sameCollection(present, definition)
  const indexes = isSame ? [...definition.indexes, ...present.indexes] : definition.indexes
  // Switching history off and on again would leave a gap in it.
  const history = Boolean(definition.history || (isSame && present.history))
  await others.get(definition.collection.datasource)?.prepareCollection({ ...definition, indexes, history })
}

/**
 * Drops the preparations of a refused change, or the leftovers of the state before an accepted one. When the
 * store is unavailable, an unused index stays until the next change of the entity.
 */
export async function tidyElsewhere(others: OtherStores, entity: Entity | undefined): Promise<void> {
  if (!entity) return
  const present = presentDefinition(entity)
  try {
    await others.get(present.collection.datasource)?.prepareCollection(present)
  } catch (error) {
    if (!isUnavailable(error)) throw error
  }
}

/**
 * Drops a collection before its metadata is removed: if the process dies in between, the entity is there without
 * documents, and can be removed again.
 */
export async function removeElsewhere(
  others: OtherStores,
  removed: RemovedCollection | undefined,
): Promise<void> {
  if (removed?.isDropped) await others.get(removed.collection.datasource)?.dropCollection(removed.collection)
}

function sameCollection(a: CollectionDefinition, b: CollectionDefinition): boolean {
  return a.collection.datasource === b.collection.datasource && a.collection.name === b.collection.name
}
