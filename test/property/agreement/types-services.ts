/** An entity whose versions disagree about types, on each kind of store, with and without indexes. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { ServiceError } from '../../../src/base/errors.ts'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import { printResponse } from '../../../src/service/response.ts'
import type { Service } from '../../../src/service/service.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import { ADMIN, EVERYTHING, metadataDocument, openServiceAt } from '../../support/service.ts'
import { directoryOf, freshPlace } from '../../support/store-kind.ts'
import { printFields } from './model.ts'
import type { TwoVersions } from './types-model.ts'

export const VERSIONS = ['1.0.0', '2.0.0'] as const

export interface TypesService {
  readonly name: string
  readonly isIndexed: boolean
  readonly kind: StoreKind
  readonly location: string
  readonly service: Service
}

export interface TypesServices extends AsyncDisposable {
  readonly all: readonly TypesService[]
}

export async function openTypesServices(): Promise<TypesServices> {
  await using stack = new AsyncDisposableStack()
  const all: TypesService[] = []
  for (const kind of ['sqlite', 'postgres'] as const) {
    for (const isIndexed of [false, true]) {
      const { location } = stack.use(await freshPlace(kind))
      const service = stack.use(await openServiceAt(location))
      all.push({ name: `${kind}${isIndexed ? ' with indexes' : ''}`, isIndexed, kind, location, service })
    }
  }
  const owned = stack.move()
  return { all, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

export interface TypesEntity extends TwoVersions {
  readonly name: string
  /** Of the version that stays in use where there are indexes, which cannot be of two types. */
  readonly kept: 0 | 1
  readonly indexes: readonly JsonObject[]
}

/** Gives what came of the indexes, some of which would be unique. */
export async function define(entity: TypesEntity, tester: TypesService): Promise<string> {
  const { name, versions, documents, kept, indexes } = entity
  const { metadata, data } = tester.service
  const info = { name, defaultVersion: VERSIONS[kept], datastore: { backend: tester.kind } }
  // The version that stays is the default one from the start.
  for (const i of [kept, 1 - kept] as const) {
    const version = { value: VERSIONS[i]!, changelog: 'made' }
    const body = metadataDocument(name, printFields(versions[i]!), { info, schema: { version } })
    await metadata.create(ADMIN, { entity: name, version: VERSIONS[i]! }, body)
  }
  for (const [i, sent] of documents.entries()) {
    const target = { entity: name, version: VERSIONS[i]! }
    const response = await data.insert(ADMIN, target, { data: [...sent], projection: EVERYTHING })
    assert.equal(response.status, 'COMPLETE', printResponse(response))
  }
  if (!tester.isIndexed) return ''
  await metadata.setStatus(ADMIN, { entity: name, version: VERSIONS[1 - kept]! }, { status: 'disabled' })
  return changeIndexes(tester, info, indexes)
}

async function changeIndexes(
  { service }: TypesService,
  info: JsonObject & { readonly name: string },
  indexes: readonly JsonObject[],
): Promise<string> {
  const update = (list: readonly JsonObject[]) =>
    service.metadata.updateInfo(ADMIN, info.name, { ...info, indexes: list })
  let outcome = 'made'
  try {
    await update(indexes)
  } catch (error) {
    if (!(error instanceof ServiceError) || error.code !== 'metadata:InvalidIndex') throw error
    outcome = error.message
  }
  // From here on all services are to answer alike, with and without indexes.
  if (indexes.some(({ unique }) => unique))
    await update(indexes.map((index) => ({ ...index, unique: false })))
  return outcome
}

/** The documents as they are stored, with what no version shows. */
export function storedDocuments({ location }: TypesService, entity: string): readonly JsonObject[] {
  const database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
  try {
    const { no } = database.prepare('select no from smalt_collection where entity = ?').get(entity)!
    const rows = database.prepare(`select doc from doc_${String(no)} order by id`).all()
    return rows.map(({ doc }) => parseTrusted(String(doc)) as JsonObject)
  } finally {
    database.close()
  }
}
