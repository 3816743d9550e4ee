/** All metadata of the service in memory: read from the store's records, compiled on first use. */
import { ServiceError } from '../base/errors.ts'
import { sameJson } from '../base/json/json.ts'
import { parseTrusted } from '../base/json/parse-trusted.ts'
import { once, weaklyCached } from '../base/memo.ts'
import type { Collection, Schema } from '../schema/schema.ts'
import type { MetadataRecords } from '../store/metadata-records.ts'
import { collectionOf, compileSchema } from './compile.ts'
import { compileRoot } from './compile-fields.ts'
import type { Datasources } from './documents/datastore.ts'
import { type EntityInfo, parseEntityInfo } from './documents/entity-info.ts'
import { type SchemaDocument, parseSchemaDocument } from './documents/schema-document.ts'
import { formsOf, isWhole } from './stored-forms.ts'
import { type MemberNames, memberNames, withDisordered } from './stored-order.ts'

/** The metadata of the service, with the collections of all its datasources. */
export interface AllRecords extends MetadataRecords {
  /** Datasources that were unreachable; their collections are unknown. */
  readonly unread: readonly string[]
}

export interface Catalogue {
  readonly epoch: number
  readonly secret: string
  /** Whether the collections of some datasource could not be read. */
  readonly isPartial: boolean
  readonly entities: ReadonlyMap<string, Entity>
  /**
   * The paths, forms and order that a collection has recorded for everything that was ever stored there, also by an entity that was
   * removed.
   */
  readonly storedIn: (collection: Collection) => readonly string[]
}

export interface Entity {
  readonly info: EntityInfo
  /** The stored text. */
  readonly infoText: string
  /** In order of creation. */
  readonly versions: ReadonlyMap<string, Version>
  /** The same as in the catalogue, for collections of the entity. */
  readonly storedIn: Catalogue['storedIn']
  /**
   * The source of the entity: as long as its records do not change, the entity is reused with everything
   * compiled for it.
   */
  readonly records: EntityRecords
}

export type Heading = Pick<SchemaDocument, 'version' | 'status'>

interface Version {
  readonly text: string
  readonly document: () => SchemaDocument
  /** The small part that lists of versions show. */
  readonly heading: () => Heading
  /** Needed of all versions of a collection that an earlier release made; so it is kept as long as the version. */
  readonly memberNames: () => MemberNames
  /** The compiled form that requests use. */
  readonly schema: () => Schema
}

export const EMPTY: Catalogue = {
  epoch: -1,
  secret: '',
  isPartial: false,
  entities: new Map(),
  storedIn: () => [],
}

export function readCatalogue(records: AllRecords, previous: Catalogue, configured: Datasources): Catalogue {
  const schemas = Map.groupBy(records.schemas, ({ entity }) => entity)
  const collections = Map.groupBy(records.collections, ({ collection }) => collection.entity)
  const entities = records.entities.map(({ entity, info }): [string, Entity] => {
    const own = {
      info,
      schemas: schemas.get(entity) ?? [],
      collections: collections.get(entity) ?? [],
      unread: records.unread,
    }
    const known = previous.entities.get(entity)
    const isSame = known !== undefined && sameRecords(known.records, own)
    return [entity, isSame ? known : readEntity(own, { entity, known, configured })]
  })
  const { epoch, secret, unread } = records
  return {
    epoch,
    secret,
    isPartial: unread.length > 0,
    entities: new Map(entities),
    storedIn: (collection) =>
      pathsIn(collection, { collections: collections.get(collection.entity) ?? [], unread }),
  }
}

interface EntityRecords {
  readonly info: string
  readonly schemas: MetadataRecords['schemas']
  readonly collections: MetadataRecords['collections']
  readonly unread: readonly string[]
}

/** Compares texts without parsing them: metadata may be large, and usually nothing has changed. */
function sameRecords(a: EntityRecords, b: EntityRecords): boolean {
  return (
    a.info === b.info &&
    a.schemas.length === b.schemas.length &&
    a.schemas.every(({ version, schema }, i) => {
      const other = b.schemas[i]!
      return version === other.version && schema === other.schema
    }) &&
    sameJson(a.unread, b.unread) &&
    a.collections.length === b.collections.length &&
    a.collections.every((one, i) => isSameCollection(one, b.collections[i]!))
  )
}

type CollectionRecord = EntityRecords['collections'][number]

function isSameCollection(a: CollectionRecord, b: CollectionRecord): boolean {
  const [one, other] = [a.collection, b.collection]
  const isSame = one.datasource === other.datasource && one.name === other.name && one.entity === other.entity
  return isSame && sameJson(a.paths, b.paths)
}

function readEntity(
  records: EntityRecords,
  from: {
    readonly entity: string
    readonly known: Entity | undefined
    readonly configured: Datasources
  },
): Entity {
  const info = readInfo(records.info, from.entity, from.configured)
  const storedIn = (collection: Collection): readonly string[] => pathsIn(collection, records)
  const stored = once(() => {
    const remembered = storedIn(collectionOf(info))
    return withDisordered(withForms(remembered, versions), () =>
      versions.map(([, { memberNames: names }]) => names()),
    )
  })
  const versions = records.schemas.map(({ version, schema }): [string, Version] => {
    const before = from.known?.versions.get(version)
    const document =
      before?.text === schema
        ? before.document
        : weaklyCached(() => parseSchemaDocument(parseTrusted(schema), ''))
    const heading =
      before?.text === schema
        ? before.heading
        : once((): Heading => ({ version: document().version, status: document().status }))
    const names =
      before?.text === schema ? before.memberNames : once(() => memberNames(compileRoot(document().fields)))
    return [
      version,
      {
        text: schema,
        document,
        heading,
        memberNames: names,
        schema: once(() => compileSchema(info, document(), stored())),
      },
    ]
  })
  return { info, infoText: records.info, versions: new Map(versions), storedIn, records }
}

/** What the record of an earlier release lacks is derived from the existing versions. */
function withForms(
  remembered: readonly string[],
  versions: readonly (readonly [string, Version])[],
): readonly string[] {
  if (isWhole(remembered)) return remembered
  const forms = versions.flatMap(([, { document }]) => formsOf(compileRoot(document().fields).fields))
  return [...new Set([...remembered, ...forms])]
}

function pathsIn(
  { datasource, name }: Collection,
  { collections, unread }: Pick<EntityRecords, 'collections' | 'unread'>,
): readonly string[] {
  if (unread.includes(datasource)) return UNKNOWN_PATHS
  return collections
    .filter(({ collection }) => collection.datasource === datasource && collection.name === name)
    .flatMap(({ paths }) => paths)
}

/**
 * No version has this path, so with an unreachable datasource no version counts as covering its collection.
 */
const UNKNOWN_PATHS = ['']

function readInfo(text: string, entity: string, configured: Datasources): EntityInfo {
  try {
    return parseEntityInfo(parseTrusted(text), '', configured)
  } catch (error) {
    throw error instanceof ServiceError ? error.within(`the stored entity info of ${entity}`) : error
  }
}
