/** Queries that ask the same of the same documents, told by a text that is the same for both. */
import type { Json } from '../../base/json/json.ts'
import type { Field } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import { isJoined } from './joins.ts'
import type { Query } from '../query.ts'
import type { FieldRef } from './scope.ts'

/** Some queries that mean the same are told apart all the same. */
export function queryKey(query: Query<FieldRef>, schema: Schema): string {
  return JSON.stringify([placeOf(schema), query], (_name, value: unknown) =>
    isRef(value) ? printRef(value) : value,
  )
}

function isRef(value: unknown): value is FieldRef {
  return typeof value === 'object' && value !== null && 'steps' in value && 'up' in value
}

/** How a request wrote it does not matter. */
function printRef({ up, steps, field }: FieldRef): Json {
  return [up, steps, printField(field)]
}

function printField(field: Field): Json {
  return isJoined(field) ? placeOf(field.join.schema) : field.kind === 'simple' ? field.type.name : field.kind
}

function placeOf({ entity, version, collection }: Schema): Json {
  return [collection.datasource, entity, version]
}
