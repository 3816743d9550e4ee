/**
 * Rewrites spellings of Lightblue in a schema, before it is parsed, and warns about each: metadata is stored and
 * returned in one form. `index-paths.ts` does the same for the paths of indexes.
 */
import {
  type Json,
  type JsonObject,
  isArray,
  isObject,
  member,
  pointer,
  sameJson,
} from '../../base/json/json.ts'
import type { Finding } from '../finding.ts'
import { fault } from './decode.ts'

interface Respelled {
  readonly document: Json
  readonly warnings: readonly Finding[]
}

/** Accepts a schema or a whole metadata document. Values of a wrong type are left for the parser to refuse. */
export function respelled(document: Json): Respelled {
  const isWhole = member(document, 'schema') !== undefined
  const schema = isWhole ? member(document, 'schema') : document
  if (!isObject(document) || !isObject(schema)) return { document, warnings: [] }
  const warnings: Finding[] = []
  const version = member(member(schema, 'version'), 'value')
  const entity = member(schema, 'name')
  const warn = (at: string, msg: string): void => {
    const warning = { severity: 'warning', code: 'lightblue-spelling', at, msg } as const
    warnings.push(typeof version === 'string' ? { ...warning, version } : warning)
  }
  const context = { entity: typeof entity === 'string' ? entity : '', warn }
  // Warnings point into the metadata document, whatever part of it was sent.
  const place = { at: '/schema/fields', above: '', isInArray: false }
  const written = replaced(schema, 'fields', (fields) => respellFields(fields, place, context))
  return { document: isWhole ? { ...document, schema: written } : written, warnings }
}

interface Context {
  readonly entity: string
  readonly warn: (at: string, msg: string) => void
}

interface Place {
  readonly at: string
  /** The path of the container with a trailing dot; empty at the root. */
  readonly above: string
  readonly isInArray: boolean
}

function respellFields(fields: Json, { at, above, isInArray }: Place, context: Context): Json {
  if (!isObject(fields)) return fields
  const respell = ([name, field]: [string, Json]): [string, Json] => {
    const place = { at: pointer(at, name), path: above + name, isInArray }
    return [name, isObject(field) ? respellField(field, place, context) : field]
  }
  return Object.fromEntries(Object.entries(fields).map(respell))
}

interface FieldPlace {
  readonly at: string
  readonly path: string
  readonly isInArray: boolean
}

function respellField(field: JsonObject, place: FieldPlace, context: Context): JsonObject {
  const { at, path, isInArray } = place
  const constrained = respellConstraints(field, place, context)
  const generated = replaced(constrained, 'valueGenerator', (generator) =>
    respellGenerator(generator, place, context),
  )
  const inside = { at: pointer(at, 'fields'), above: `${path}.`, isInArray }
  if (field.type === 'object') {
    return replaced(generated, 'fields', (fields) => respellFields(fields, inside, context))
  }
  if (field.type !== 'array') return generated
  return replaced(generated, 'items', (items) => {
    if (!isObject(items)) return items
    const itemsAt = pointer(at, 'items')
    const element = { at: itemsAt, path: `${path}.*`, isInArray: false }
    const within = { at: pointer(itemsAt, 'fields'), above: `${path}.*.`, isInArray: true }
    return replaced(respellConstraints(items, element, context), 'fields', (fields) =>
      respellFields(fields, within, context),
    )
  })
}

function respellConstraints(
  field: JsonObject,
  { at, path, isInArray }: FieldPlace,
  { warn }: Context,
): JsonObject {
  return replaced(field, 'constraints', (written) => {
    const place = pointer(at, 'constraints')
    const merged = isArray(written) && written.every(isObject) ? mergedConstraints(written, place) : undefined
    if (merged) warn(place, `the constraints of "${path}" are an array; they are stored as one object`)
    const constraints = merged ?? written
    if (!isInArray || !isObject(constraints) || constraints.identity === undefined) return constraints
    const known = constraints['element-identity']
    if (known !== undefined && !sameJson(known, constraints.identity)) {
      const problem = '"identity" and "element-identity" mean the same in an array; leave one of them out'
      throw fault('metadata:InvalidConstraint', problem, place)
    }
    const msg = `"${path}" is in an array, so its "identity" is stored as "element-identity"`
    warn(pointer(place, 'identity'), msg)
    const renamed = Object.entries(constraints).map(([name, value]): [string, Json] =>
      name === 'identity' ? ['element-identity', value] : [name, value],
    )
    return Object.fromEntries(renamed)
  })
}

function mergedConstraints(list: readonly JsonObject[], at: string): JsonObject {
  const merged = new Map<string, Json>()
  for (const [i, each] of list.entries()) {
    for (const [name, value] of Object.entries(each)) {
      if (!sameJson(merged.get(name) ?? value, value)) {
        const problem = `"${name}" is declared twice, with different values`
        throw fault('metadata:InvalidConstraint', problem, pointer(pointer(at, i), name))
      }
      merged.set(name, value)
    }
  }
  return Object.fromEntries(merged)
}

/** The name follows from entity and field, so that all versions of the entity share the sequence. */
function respellGenerator(generator: Json, { at, path }: FieldPlace, { entity, warn }: Context): Json {
  if (!isObject(generator) || generator.type !== 'IntSequence') return generator
  const { configuration = {} } = generator
  if (!isObject(configuration)) return generator
  const { name: given, ...rest } = configuration
  const isNamed = given !== undefined && given !== null && !(typeof given === 'string' && given.trim() === '')
  if (isNamed) return generator
  const name = `${entity}.${path}`
  warn(pointer(at, 'valueGenerator'), `the sequence of "${path}" has no name; it is stored as "${name}"`)
  return { ...generator, configuration: { name, ...rest } }
}

/** The object with one member replaced, in its place; unchanged without that member. */
function replaced(object: JsonObject, key: string, replace: (value: Json) => Json): JsonObject {
  const value = member(object, key)
  return value === undefined ? object : { ...object, [key]: replace(value) }
}
