/** Metadata as Lightblue's programs write and read it. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import type { Datasources } from '../../service/open/core.ts'
import type { MetadataService } from '../../service/service.ts'

export function lightblueMetadata(service: MetadataService, configured: Datasources): MetadataService {
  const stored = (body: Json | undefined): Json | undefined =>
    body === undefined ? body : mapDatastores(body, (datastore) => withStandIn(datastore, configured))
  const shown = (document: Json): Json => mapDatastores(document, asWritten)
  return {
    ...service,
    versions: (caller, entity) => {
      try {
        return service.versions(caller, entity)
      } catch (error) {
        return emptyIfUnknown(error)
      }
    },
    get: (caller, entity, version) => {
      try {
        return shown(service.get(caller, entity, version))
      } catch (error) {
        throw asUnknownVersion(error)
      }
    },
    create: async (caller, target, body, options) =>
      shown(await service.create(caller, target, stored(body), options)),
    createAll: async (caller, body, options) => shown(await service.createAll(caller, stored(body), options)),
    createSchema: async (caller, target, body, options) =>
      shown(await service.createSchema(caller, target, stored(body), options)),
    updateInfo: async (caller, entity, body, options) =>
      shown(await service.updateInfo(caller, entity, stored(body), options)),
    setStatus: async (caller, target, change) => shown(await service.setStatus(caller, target, change)),
    setDefault: async (caller, target) => shown(await service.setDefault(caller, target)),
    clearDefault: async (caller, entity) => shown(await service.clearDefault(caller, entity)),
    // Lightblue leaves documents where they are.
    remove: (caller, entity, options) =>
      service.remove(caller, entity, { documents: 'keep', ...options }).catch(emptyIfUnknown),
  }
}

function emptyIfUnknown(error: unknown): Json {
  if (error instanceof ServiceError && error.code === 'metadata:MissingEntityInfo') return []
  throw error
}

/** Lightblue does not tell an unknown entity from an unknown version. */
function asUnknownVersion(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'metadata:MissingEntityInfo') return error
  return new ServiceError('metadata:MissingSchema', error.message, { context: error.context })
}

/** Documents are metadata, entity info, or lists of these. */
function mapDatastores(document: Json, map: (datastore: JsonObject) => JsonObject): Json {
  if (isArray(document)) return document.map((each) => mapDatastores(each, map))
  if (!isObject(document)) return document
  const { entityInfo, datastore } = document
  return {
    ...document,
    ...(isObject(entityInfo) && { entityInfo: mapDatastores(entityInfo, map) }),
    ...(isObject(datastore) && { datastore: map(datastore) }),
  }
}

/** Backends that stand for the store of the service. */
const BACKENDS = ['mongo', 'rdbms', 'ldap']

/** The member of the stored datastore that keeps the names as they were written. */
const WRITTEN = 'lightblue'

/**
 * The stored document names a configured backend and datasource, so that it can be used without this mode, too. Other
 * unknown backends stay, and are refused.
 */
function withStandIn(datastore: JsonObject, { datasources, backendOf }: Datasources): JsonObject {
  const { backend, datasource, [WRITTEN]: _, ...rest } = datastore
  const isKnown = typeof datasource === 'string' && datasources.includes(datasource)
  const isNamed = datasource === undefined || datasource === null || isKnown
  const isForeign = typeof backend === 'string' && BACKENDS.includes(backend)
  if (!isForeign && isNamed) return datastore
  const standIn = isKnown ? datasource : datasources[0]!
  const written = {
    ...(backend !== undefined && { backend }),
    ...(datasource !== undefined && { datasource }),
  }
  return {
    ...rest,
    backend: isForeign ? backendOf(standIn) : (backend ?? null),
    datasource: standIn,
    [WRITTEN]: written,
  }
}

function asWritten(datastore: JsonObject): JsonObject {
  const { [WRITTEN]: written, datasource: _, backend: __, ...rest } = datastore
  return isObject(written) ? { ...rest, ...written } : datastore
}
