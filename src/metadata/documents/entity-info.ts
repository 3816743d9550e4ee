/**
 * Entity info: the part of metadata that all versions of an entity share. Parsed to a typed form, printed in
 * a canonical form.
 */
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { type Datasources, type Datastore, parseDatastore, printDatastore } from './datastore.ts'
import { booleanAt, fault, objectAt, otherMembers, optional, textAt } from './decode.ts'
import { type Enum, parseEnums, printEnum } from './enums.ts'
import { type Hook, parseHooks, printHook } from './hooks.ts'
import { type Index, parseIndexes, printIndex } from './indexes.ts'
import { checkEntityName } from './names.ts'

export interface EntityInfo {
  readonly name: string
  readonly defaultVersion: string | undefined
  readonly indexes: readonly Index[]
  readonly enums: readonly Enum[]
  readonly hooks: readonly Hook[]
  /** Whether earlier versions of documents are stored. */
  readonly history: boolean
  readonly datastore: Datastore
  /** Members without a meaning here, stored unchanged. */
  readonly properties: JsonObject
}

export function parseEntityInfo(value: Json, at: string, configured: Datasources): EntityInfo {
  const document = objectAt(value, at)
  const name = parseName(document, at)
  const datastoreAt = pointer(at, 'datastore')
  return {
    name,
    defaultVersion: optional(document, 'defaultVersion', { at, read: textOrNothing }),
    indexes: parseIndexes(document.indexes, pointer(at, 'indexes')),
    enums: optional(document, 'enums', { at, read: parseEnums }) ?? [],
    hooks: optional(document, 'hooks', { at, read: parseHooks }) ?? [],
    history: optional(document, 'history', { at, read: booleanAt }) ?? false,
    datastore: parseDatastore(document.datastore, datastoreAt, { entity: name, configured }),
    properties: otherMembers(document, ENTITY_INFO_KEYS),
  }
}

export function printEntityInfo(info: EntityInfo): JsonObject {
  const { name, defaultVersion, indexes, enums, hooks, history, datastore, properties } = info
  return {
    name,
    ...(defaultVersion === undefined ? {} : { defaultVersion }),
    indexes: indexes.map(printIndex),
    ...(enums.length === 0 ? {} : { enums: enums.map(printEnum) }),
    ...(hooks.length === 0 ? {} : { hooks: hooks.map(printHook) }),
    ...(history ? { history } : {}),
    datastore: printDatastore(datastore),
    ...properties,
    _id: `${name}|`,
  }
}

function parseName(document: JsonObject, at: string): string {
  const name = document.name ?? ''
  const isBlank = typeof name === 'string' && name.trim() === ''
  if (isBlank) throw fault('metadata:NoEntityName', 'entity info needs the "name" of the entity', at)
  const text = textAt(name, pointer(at, 'name'))
  checkEntityName(text, pointer(at, 'name'))
  return text
}

function textOrNothing(value: Json, at: string): string | undefined {
  return value === null ? undefined : textAt(value, at)
}

/** `_id` is generated when printing, so a value in a request is dropped. */
export const ENTITY_INFO_KEYS = [
  'name',
  'defaultVersion',
  'indexes',
  'enums',
  'hooks',
  'history',
  'datastore',
  '_id',
]
