/** A service with two SQLite datasources, whose reads can be counted: entities refer from the first to the second. */
import assert from 'node:assert/strict'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/base/limits.ts'
import { openService } from '../../src/service/open.ts'
import { type DataResponse, printResponse } from '../../src/service/response.ts'
import type { Service } from '../../src/service/service.ts'
import { ADMIN, failLoudly, metadataDocument } from './service.ts'
import { freshPlace } from './store-kind.ts'

export type Datasource = 'near' | 'far'

export interface TwoDatasources extends AsyncDisposable {
  readonly service: Service
  define(entity: string, datasource: Datasource, fields: Json): Promise<void>
  store(entity: string, documents: Json): Promise<void>
  find(entity: string, body: JsonObject): Promise<DataResponse>
}

export interface TwoDatasourcesOptions {
  readonly limits?: Partial<Limits>
  /** Told whenever a store has found what it was asked for. */
  readonly onFound?: () => void
}

export async function openTwoDatasources(options: TwoDatasourcesOptions = {}): Promise<TwoDatasources> {
  await using opened = new AsyncDisposableStack()
  const datasources: { name: Datasource; location: string }[] = []
  for (const name of ['near', 'far'] as const) {
    datasources.push({ name, location: opened.use(await freshPlace('sqlite')).location })
  }
  const service = opened.use(
    await openService({
      datasources,
      limits: { ...DEFAULT_LIMITS, ...options.limits },
      onInternalError: failLoudly,
      onStoreTiming: (operation) => operation === 'find' && options.onFound?.(),
    }),
  )
  const owned = opened.move()
  return {
    service,
    async define(entity, datasource, fields) {
      const info = { datastore: { backend: 'sqlite', datasource } }
      const document = metadataDocument(entity, fields, { info })
      await service.metadata.create(ADMIN, { entity, version: '1.0.0' }, document)
    },
    async store(entity, documents) {
      const response = await service.data.insert(ADMIN, { entity }, { data: documents })
      assert.equal(response.status, 'COMPLETE', printResponse(response))
    },
    find: (entity, body) => service.data.find(ADMIN, { entity }, body),
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}
