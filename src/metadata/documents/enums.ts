/** Named lists of allowed texts, declared in entity info and used by the constraint `enum`. */
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { fault, listAt, neededText, objectAt, optional, otherMembers, textsAt } from './decode.ts'

export interface Enum {
  readonly name: string
  readonly values: readonly string[]
  readonly annotatedValues: readonly AnnotatedValue[] | undefined
  readonly properties: JsonObject
}

interface AnnotatedValue {
  readonly name: string
  readonly description: string
  readonly properties: JsonObject
}

export function parseEnums(value: Json, at: string): readonly Enum[] {
  const enums = listAt(value, at).map((each, i) => parseEnum(each, pointer(at, i)))
  const seen = new Set<string>()
  for (const [i, { name }] of enums.entries()) {
    if (seen.has(name)) {
      throw fault('metadata:DuplicateEnum', `the enum "${name}" is declared twice`, pointer(at, i))
    }
    seen.add(name)
  }
  return enums
}

export function printEnum({ name, values, annotatedValues, properties }: Enum): JsonObject {
  if (!annotatedValues) return { name, values, ...properties }
  return { name, values, annotatedValues: annotatedValues.map(printAnnotated), ...properties }
}

function parseEnum(value: Json, at: string): Enum {
  const document = objectAt(value, at)
  const name = neededText(document, 'name', at)
  const annotatedValues = optional(document, 'annotatedValues', { at, read: parseAnnotated })
  const plain = optional(document, 'values', { at, read: textsAt })
  const values = [...new Set(annotatedValues?.map((each) => each.name) ?? plain ?? [])]
  if (values.length === 0)
    throw fault('metadata:ParseMissingElement', `the enum "${name}" needs "values"`, at)
  const listedTwice = plain && annotatedValues
  if (listedTwice && !sameSet(plain, values)) {
    throw fault('metadata:IllFormedMetadata', '"values" and "annotatedValues" must name the same values', at)
  }
  return { name, values, annotatedValues, properties: otherMembers(document, ENUM_KEYS) }
}

function parseAnnotated(value: Json, at: string): readonly AnnotatedValue[] {
  return listAt(value, at).map((each, i) => {
    const place = pointer(at, i)
    const document = objectAt(each, place)
    return {
      name: neededText(document, 'name', place),
      description: neededText(document, 'description', place),
      properties: otherMembers(document, ENUM_VALUE_KEYS),
    }
  })
}

function printAnnotated({ name, description, properties }: AnnotatedValue): JsonObject {
  return { name, description, ...properties }
}

function sameSet(some: readonly string[], others: readonly string[]): boolean {
  return new Set(some).symmetricDifference(new Set(others)).size === 0
}

export const ENUM_KEYS = ['name', 'values', 'annotatedValues']
export const ENUM_VALUE_KEYS = ['name', 'description']
