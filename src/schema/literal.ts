/** Literals of updates in the stored form of the field they are meant for. */
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject } from '../base/json/json.ts'
import type { Element, Field } from './field.ts'

/** Casts all the way down; nulls vanish from objects as they do from documents, and stay in arrays. */
export function castLiteral(
  value: Json,
  field: Field,
  place: { readonly at: string; readonly path: string },
): Json {
  if (value === null) return null
  switch (field.kind) {
    case 'simple': {
      const cast = field.type.cast(value)
      if (cast !== undefined) return cast
      throw misfit(place, `is of type ${field.type.name}; the value given is not`)
    }
    case 'object':
      if (isObject(value)) return castMembers(value, field.fields, place)
      throw misfit(place, 'is an object; the value given is not')
    case 'array':
      if (isArray(value)) return value.map((each) => castElement(each, field.element, place))
      throw misfit(place, 'is an array; the value given is not')
    case 'reference':
      throw new ServiceError(
        'query-api:InvalidUpdate',
        `"${place.path}" is a reference and holds no data`,
        place,
      )
  }
}

function castElement(
  value: Json,
  element: Element,
  place: { readonly at: string; readonly path: string },
): Json {
  return castLiteral(value, element, { ...place, path: `${place.path}.*` })
}

function castMembers(
  value: JsonObject,
  fields: ReadonlyMap<string, Field>,
  place: { readonly at: string; readonly path: string },
): JsonObject {
  const members: Record<string, Json> = {}
  for (const name of Object.keys(value)) {
    const field = fields.get(name)
    const path = `${place.path}.${name}`
    if (!field) {
      throw new ServiceError('metadata:InvalidFieldReference', `there is no field "${path}"`, {
        ...place,
        context: path,
      })
    }
    const cast = castLiteral(value[name]!, field, { ...place, path })
    if (cast !== null) members[name] = cast
  }
  return members
}

function misfit(place: { readonly at: string; readonly path: string }, what: string): ServiceError {
  return new ServiceError('metadata:IncompatibleValue', `"${place.path}" ${what}`, {
    at: place.at,
    context: place.path,
  })
}
