/** The datastore of an entity: its datasource and collection, checked against the configured datasources. */
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { fault, neededText, objectAt, optional, otherMembers, textAt } from './decode.ts'

export interface Datastore {
  readonly datasource: string
  readonly collection: string
  readonly backend: string
  readonly properties: JsonObject
}

/** The configured datasources; the first is the default one. */
export interface Datasources {
  readonly backends: readonly string[]
  readonly datasources: readonly string[]
  readonly backendOf: (datasource: string) => string
}

/** Absent: the default datasource, and a collection with the name of the entity. */
export function parseDatastore(
  value: Json | undefined,
  at: string,
  { entity, configured }: { readonly entity: string; readonly configured: Datasources },
): Datastore {
  if (value === undefined) return defaultDatastore(entity, configured)
  const document = objectAt(value, at)
  const datasource = parseDatasource(document, at, configured)
  const collection = optional(document, 'collection', { at, read: textAt }) ?? entity
  if (!COLLECTION.test(collection)) {
    const rule = 'names are a letter or "_", then letters, digits, "_" and "-"'
    const problem = `"${collection}" cannot name a collection: ${rule}`
    throw fault('metadata:InvalidDatastore', problem, pointer(at, 'collection'))
  }
  const backend = parseBackend(document, at, { datasource, configured })
  return { datasource, collection, backend, properties: otherMembers(document, DATASTORE_KEYS) }
}

export function printDatastore({ datasource, collection, backend, properties }: Datastore): JsonObject {
  return { datasource, collection, backend, ...properties }
}

function defaultDatastore(entity: string, configured: Datasources): Datastore {
  const datasource = configured.datasources[0]!
  return { datasource, collection: entity, backend: configured.backendOf(datasource), properties: {} }
}

function parseDatasource(document: JsonObject, at: string, { datasources }: Datasources): string {
  const datasource = optional(document, 'datasource', { at, read: textAt }) ?? datasources[0]!
  if (datasources.includes(datasource)) return datasource
  const problem = `there is no datasource "${datasource}"; there is ${datasources.join(', ')}`
  throw fault('metadata:InvalidDatastore', problem, pointer(at, 'datasource'))
}

/** Absent: the backend of the datasource. */
function parseBackend(
  document: JsonObject,
  at: string,
  { datasource, configured }: { readonly datasource: string; readonly configured: Datasources },
): string {
  const actual = configured.backendOf(datasource)
  if (document.backend === undefined) return actual
  const backend = neededText(document, 'backend', at)
  if (!configured.backends.includes(backend)) {
    const known = configured.backends.join(', ')
    const problem = `"${backend}" is no configured backend; there is ${known}`
    throw fault('metadata:UnknownBackend', problem, pointer(at, 'backend'))
  }
  if (actual === backend) return backend
  const problem = `the datasource "${datasource}" is of the backend ${actual}, not ${backend}`
  throw fault('metadata:InvalidDatastore', problem, pointer(at, 'datasource'))
}

export const DATASTORE_KEYS = ['datasource', 'collection', 'backend']
const COLLECTION = /^[A-Za-z_][A-Za-z0-9_-]*$/
