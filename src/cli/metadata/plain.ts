/**
 * Metadata as people write them: without the parts that the service adds by itself. Files and answers of the service are
 * compared in this form.
 */
import { type Json, type JsonObject, isArray, isObject, member, sameJson } from '../../base/json/json.ts'

/** Keys come in one order, so that a file changes only where its content does. */
export function plainInfo(info: JsonObject): JsonObject {
  const { _id: _, datastore, indexes, enums, hooks, ...others } = info
  const name = typeof others['name'] === 'string' ? others['name'] : ''
  const listed = isArray(indexes) ? indexes.map(plainIndex).filter((each) => !isIdIndex(each)) : []
  return {
    ...others,
    ...plainDatastore(datastore, name),
    ...(listed.length > 0 && { indexes: listed }),
    ...(isArray(enums) && enums.length > 0 && { enums }),
    ...(isArray(hooks) && hooks.length > 0 && { hooks }),
  }
}

export function plainSchema(schema: JsonObject): JsonObject {
  const { _id: _, access, fields, ...others } = schema
  return {
    ...others,
    ...(isObject(access) && { access: plainAccess(access) }),
    ...(isObject(fields) && { fields: plainFields(fields, true) }),
  }
}

/** The kind of the store is left out, so that the same files fit SQLite and PostgreSQL. */
function plainDatastore(datastore: Json | undefined, entity: string): JsonObject {
  if (!isObject(datastore)) return {}
  const { backend: _, datasource, collection, ...others } = datastore
  const kept = {
    ...(datasource !== undefined && datasource !== 'default' && { datasource }),
    ...(collection !== undefined && collection !== entity && { collection }),
    ...others,
  }
  return Object.keys(kept).length > 0 ? { datastore: kept } : {}
}

function plainIndex(index: Json): Json {
  if (!isObject(index)) return index
  const { name, unique, fields, ...others } = index
  return {
    ...(typeof name === 'string' && { name }),
    ...(unique === true && { unique }),
    ...(isArray(fields) && { fields: fields.map(plainIndexField) }),
    ...others,
  }
}

function plainIndexField(field: Json): Json {
  if (!isObject(field)) return field
  const { dir, caseInsensitive, weight, ...others } = field
  return {
    ...others,
    ...(dir !== undefined && dir !== '$asc' && { dir }),
    ...(caseInsensitive === true && { caseInsensitive }),
    ...(weight !== undefined && weight !== 1 && { weight }),
  }
}

function isIdIndex(index: Json): boolean {
  return sameJson(index, { unique: true, fields: [{ field: '_id' }] })
}

const OPERATIONS = ['find', 'insert', 'update', 'delete']

function plainAccess(access: JsonObject): JsonObject {
  const known = OPERATIONS.filter((name) => {
    const list = member(access, name)
    return list !== undefined && !(isArray(list) && list.length === 0)
  }).map((name) => [name, access[name]!] as const)
  const others = Object.entries(access).filter(([name]) => !OPERATIONS.includes(name))
  return Object.fromEntries([...known, ...others])
}

function plainFields(fields: JsonObject, isTop: boolean): JsonObject {
  const kept = Object.entries(fields)
    .filter(([name]) => !name.endsWith('#') && !(isTop && name === 'objectType'))
    .map(([name, field]) => [name, plainField(field)] as const)
    .filter(([name, field]) => !(isTop && name === '_id' && sameJson(field, { type: 'string' })))
  return Object.fromEntries(kept)
}

function plainField(field: Json): Json {
  if (!isObject(field)) return field
  const { description, access, fields, items, ...others } = field
  return {
    ...others,
    ...(typeof description === 'string' && { description }),
    ...(isObject(access) && { access: plainAccess(access) }),
    ...(isObject(fields) && { fields: plainFields(fields, false) }),
    ...(isObject(items) && { items: plainField(items) }),
  }
}
