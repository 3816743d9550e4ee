/** A service on one or two stores, whose entities refer to each other: all in one place, or the first one apart. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/base/limits.ts'
import { openService } from '../../src/service/open.ts'
import { printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import type { StoreKind } from '../../src/store/store.ts'
import { ADMIN, EVERYTHING, documentsOf, failLoudly, metadataDocument } from './service.ts'
import { reusedPlace } from './store-kind.ts'

/** Where the first entity lives, and where all others do. */
export interface Placing {
  readonly name: string
  readonly first: StoreKind
  readonly others: StoreKind
}

export const PLACINGS: readonly Placing[] = [
  { name: 'SQLite', first: 'sqlite', others: 'sqlite' },
  { name: 'PostgreSQL', first: 'postgres', others: 'postgres' },
  { name: 'SQLite, others on PostgreSQL', first: 'sqlite', others: 'postgres' },
  { name: 'PostgreSQL, others on SQLite', first: 'postgres', others: 'sqlite' },
]

export interface EntityDefinition {
  readonly name: string
  readonly fields: Json
  readonly info?: JsonObject
  readonly schema?: JsonObject
}

export interface ReferencesServiceOptions {
  readonly limits?: Partial<Limits>
  /** Absent: a fault of our own fails the test that caused it. */
  readonly onInternalError?: (error: unknown) => void
}

export interface ReferencesService extends AsyncDisposable {
  readonly service: Service
  /** Makes version 1.0.0 of all of them, however they refer to each other; the first may live apart. */
  define(entities: readonly EntityDefinition[]): Promise<void>
  /** Stores documents, all of which must be sound; gives them back as they are stored. */
  store(entity: string, documents: Json): Promise<readonly JsonObject[]>
}

export async function openReferencesService(
  { first, others }: Placing,
  { limits = {}, onInternalError = failLoudly }: ReferencesServiceOptions = {},
): Promise<ReferencesService> {
  await using opened = new AsyncDisposableStack()
  const datasources = [{ name: 'default', location: opened.use(await reusedPlace(first)).location }]
  if (first !== others) {
    datasources.push({ name: 'other', location: opened.use(await reusedPlace(others)).location })
  }
  const service = opened.use(
    await openService({
      datasources,
      limits: { ...DEFAULT_LIMITS, ...limits },
      onInternalError,
    }),
  )
  const owned = opened.move()
  const near = { backend: first, datasource: 'default' }
  const far = first === others ? near : { backend: others, datasource: 'other' }
  const create = async (entities: readonly EntityDefinition[], version: string): Promise<void> => {
    for (const [i, { name, fields, info, schema }] of entities.entries()) {
      const document = metadataDocument(name, version === BEFORE ? withoutReferences(fields) : fields, {
        info: { defaultVersion: version, datastore: i === 0 ? near : far, ...info },
        schema: { version: { value: version, changelog: 'made' }, ...schema },
      })
      await service.metadata.create(ADMIN, { entity: name, version }, document)
    }
  }
  return {
    service,
    async define(entities) {
      await create(entities, BEFORE)
      await create(entities, '1.0.0')
    },
    async store(entity, documents) {
      const body = { data: documents, projection: EVERYTHING }
      const response = await service.data.insert(ADMIN, { entity }, body)
      assert.equal(response.status, 'COMPLETE', printResponse(response))
      return documentsOf(response)
    },
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** Entities may refer to each other in a circle, so they have to be there before they do. */
const BEFORE = '0.1.0'

export function withoutReferences(fields: Json): Json {
  return Object.fromEntries(
    Object.entries(fields as Record<string, JsonObject>).flatMap(([name, field]): [string, Json][] => {
      if (field['type'] === 'reference') return []
      const { items, fields: members } = field
      return [
        [
          name,
          {
            ...field,
            ...(members !== undefined && { fields: withoutReferences(members) }),
            ...(items !== undefined && { items: elementOf(items as JsonObject) }),
          },
        ],
      ]
    }),
  )
}

function elementOf(items: JsonObject): Json {
  return items['fields'] === undefined ? items : { ...items, fields: withoutReferences(items['fields']) }
}
