/** Bodies of operations for the entity that the user chose, from its metadata: the service takes them as they stand. */
import { EVERYTHING } from '../../client/data-client.ts'
import { type Json, type JsonObject, printJson } from '../../client/json.ts'
import type { EntityInfo, Field, Fields, Metadata } from '../../client/types.ts'
import { isPredefined } from '../../schema/columns.ts'
import type { Operation } from './operations.ts'

const EXAMPLE = 'example'
/** A field of every document; its value is the name of the entity. */
const ANYWHERE = 'objectType'

/** Undefined where the example of the operation holds for every entity. */
export function bodyFor({ id }: Operation, metadata: Metadata, version: string): string | undefined {
  const body = bodyOf(id.replace(/Default$/, ''), metadata, version)
  // an import is lines of documents
  return body && printJson(body, id.startsWith('import') ? undefined : 2)
}

function bodyOf(operation: string, metadata: Metadata, version: string): JsonObject | undefined {
  const field = fieldIn(metadata)
  switch (operation) {
    case 'find':
    case 'explain':
      return { query: anyValueOf(field), projection: EVERYTHING, range: [0, 9] }
    case 'aggregate':
      return {
        groupBy: [field],
        values: { count: { $count: true } },
        sort: { count: '$desc' },
        range: [0, 9],
      }
    case 'insert':
    case 'insertAlias':
      return { data: [documentOf(metadata)], projection: EVERYTHING }
    case 'save':
      return { data: [documentOf(metadata)], upsert: true, projection: EVERYTHING }
    case 'update':
      return { query: exampleOf(field), update: { $set: changeOf(metadata) }, projection: EVERYTHING }
    case 'delete':
      return { query: exampleOf(field) }
    case 'import':
    case 'createDocument':
    case 'replaceDocument':
      return documentOf(metadata)
    case 'patchDocument':
      return changeOf(metadata)
    case 'search':
      return {}
    case 'updateEntityInfo':
      return asJson(metadata.entityInfo)
    case 'createMetadata':
      return { entityInfo: asJson(metadata.entityInfo), schema: schemaOf(metadata, version) }
    case 'createSchema':
      return schemaOf(metadata, version)
    default:
      return undefined
  }
}

/** A text for a query; of an entity without any, what every document has. */
function fieldIn({ schema }: Metadata): string {
  return textIn(schema.fields, 'find')?.[0] ?? ANYWHERE
}

/** The first field of type string that everybody may use who may do this with documents. */
function textIn(
  fields: Fields,
  operation: 'find' | 'insert' | 'update',
): readonly [string, Field] | undefined {
  return ownFields(fields).find(
    ([, { type, access, constraints, documentVersion }]) =>
      type === 'string' &&
      documentVersion !== true &&
      (access?.[operation] ?? []).length === 0 &&
      (operation !== 'update' || constraints?.['identity'] !== true),
  )
}

function anyValueOf(field: string): JsonObject {
  return { field, op: '>=', rvalue: '' }
}

/** Matches what the example of an insert stored: what is sent without a second thought changes nothing else. */
function exampleOf(field: string): JsonObject {
  return { field, op: '=', rvalue: field === ANYWHERE ? '' : EXAMPLE }
}

function changeOf({ entityInfo, schema }: Metadata): JsonObject {
  const first = textIn(schema.fields, 'update')
  return first ? { [first[0]]: valueOf(first[1], entityInfo) ?? null } : {}
}

function documentOf({ entityInfo, schema }: Metadata): JsonObject {
  const first = textIn(schema.fields, 'insert')
  const more = first ? { [first[0]]: valueOf(first[1], entityInfo) ?? null } : {}
  return { ...more, ...requiredIn(schema.fields, entityInfo) }
}

function requiredIn(fields: Fields, info: EntityInfo): JsonObject {
  const values = ownFields(fields).flatMap(([name, field]): [string, Json][] => {
    const value = isRequired(field) ? valueOf(field, info) : undefined
    return value === undefined ? [] : [[name, value]]
  })
  return Object.fromEntries(values)
}

function isRequired({ constraints = {}, valueGenerator }: Field): boolean {
  const asked = ['required', 'identity', 'element-identity'].some((name) => constraints[name] === true)
  return asked && valueGenerator === undefined
}

/** Neither predefined ones nor an `_id` that the service makes. */
function ownFields(fields: Fields): readonly [string, Field][] {
  return Object.entries(fields).filter(
    ([name, { type }]) => !isPredefined(name) && !(name === '_id' && type === 'string'),
  )
}

/** A value of the type; undefined where a reader has to think of one. */
function valueOf({ type, constraints = {}, fields = {}, items }: Field, info: EntityInfo): Json | undefined {
  switch (type) {
    case 'string':
    case 'uid':
      return textFor(constraints, info)
    case 'integer':
    case 'biginteger':
    case 'double':
    case 'bigdecimal':
      return constraints['minimum'] ?? constraints['maximum'] ?? 1
    case 'boolean':
      return true
    case 'date':
      return '2026-01-02T03:04:05Z'
    case 'binary':
      return ''
    case 'object':
      return requiredIn(fields, info)
    case 'array': {
      const element = items && valueOf(items, info)
      return element === undefined
        ? []
        : Array.from({ length: Number(constraints['minItems'] ?? 0) }, () => element)
    }
    default:
      return undefined
  }
}

function textFor(
  { enum: name, minLength = 0, maxLength = EXAMPLE.length }: JsonObject,
  { enums = [] }: EntityInfo,
): string {
  const values = enums.find((each) => each.name === name)?.values
  const [first] = values ?? []
  if (first !== undefined) return first
  return EXAMPLE.padEnd(Number(minLength), 'x').slice(0, Math.max(Number(maxLength), Number(minLength)))
}

/** Of the version in the address, whose schema the service may not know yet. */
function schemaOf({ schema }: Metadata, version: string): JsonObject {
  const json = asJson(schema)
  return version === '' ? json : { ...json, version: { ...schema.version, value: version } }
}

/** Metadata is JSON; its type names only what the page looks at. */
function asJson(value: object): JsonObject {
  return value as JsonObject
}
