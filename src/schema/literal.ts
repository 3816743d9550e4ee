/** Casts literals of updates to the stored form of their field. */
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import type { Element, Field } from './field.ts'
import { LOOKS_LIKE } from './types.ts'

/** Casts nested values as well. Nulls are removed from objects, as in documents, and stay in arrays. */
export function castLiteral(
  value: Json,
  field: Field,
  location: { readonly at: string; readonly path: string },
): Json {
  if (value === null) return null
  switch (field.kind) {
    case 'simple': {
      const cast = field.type.cast(value)
      if (cast !== undefined) return cast
      throw incompatible(location, `is of type ${field.type.name}; send ${LOOKS_LIKE[field.type.name]}`)
    }
    case 'object':
      if (isObject(value)) return castMembers(value, field.fields, location)
      throw incompatible(location, 'is an object; send one, such as {"name": "Bern"}')
    case 'array':
      if (isArray(value)) return value.map((each) => castElement(each, field.element, location))
      throw incompatible(location, 'is an array; send one, such as [1, 2]')
    case 'reference':
      throw new ServiceError(
        'query-api:InvalidUpdate',
        `"${location.path}" is a reference and holds no data`,
        location,
      )
  }
}

function castElement(
  value: Json,
  element: Element,
  location: { readonly at: string; readonly path: string },
): Json {
  return castLiteral(value, element, { ...location, path: `${location.path}.*` })
}

function castMembers(
  value: JsonObject,
  fields: ReadonlyMap<string, Field>,
  location: { readonly at: string; readonly path: string },
): JsonObject {
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const field = fields.get(name)
    const path = `${location.path}.${name}`
    if (!field) {
      throw new ServiceError('metadata:InvalidFieldReference', `there is no field "${path}"`, {
        ...location,
        context: path,
      })
    }
    const cast = castLiteral(value[name]!, field, { ...location, path })
    if (cast !== null) members[name] = cast
  }
  return members
}

function incompatible(location: { readonly at: string; readonly path: string }, what: string): ServiceError {
  return new ServiceError('metadata:IncompatibleValue', `"${location.path}" ${what}`, {
    at: location.at,
    context: location.path,
  })
}
