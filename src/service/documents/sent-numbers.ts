/**
 * The numbers of a document that a client sends as texts, because it reads them so: `"5.0"` and `"1e3"` mean what 5.0 and
 * 1e3 mean. Elsewhere only a plain integer such as `"5"` is taken as text for an integer.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../base/json/json.ts'
import { numberFrom } from '../../base/json/parse-trusted.ts'
import { memoized } from '../../base/memo.ts'
import { spend } from '../../base/work/work.ts'
import type { Field, Fields, ObjectField } from '../../schema/field.ts'
import { allFields } from '../../schema/schema.ts'
import { JSON_NUMBER } from '../../schema/types.ts'

/** Members that no number field defines stay as they are. */
export function withNumbers(document: JsonObject, root: ObjectField): JsonObject {
  return hasNumbers(root) ? membersWithNumbers(document, root.fields) : document
}

const hasNumbers = memoized((root: ObjectField): boolean =>
  allFields(root.fields).some((field) => isOfNumbers(field.kind === 'array' ? field.element : field)),
)

function membersWithNumbers(object: JsonObject, fields: Fields): JsonObject {
  const members: Record<string, Json> = {}
  for (const [name, value] of Object.entries(object)) {
    spend(1)
    const field = fields.get(name)
    members[name] = field ? valueWithNumbers(value, field) : value
  }
  return members
}

function valueWithNumbers(value: Json, field: Field): Json {
  if (field.kind === 'object') return isObject(value) ? membersWithNumbers(value, field.fields) : value
  if (field.kind === 'array' && isArray(value)) {
    spend(value.length)
    return value.map((each) => valueWithNumbers(each, field.element))
  }
  const isNumber = isOfNumbers(field) && typeof value === 'string' && JSON_NUMBER.test(value)
  return isNumber ? numberFrom(value) : value
}

function isOfNumbers(field: Field): boolean {
  return field.kind === 'simple' && field.type.family === 'number'
}
