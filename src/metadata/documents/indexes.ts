/** Parses the indexes of entity info. `index-definitions.ts` resolves them against the schemas. */
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { booleanAt, fault, listAt, neededText, objectAt, optional, otherMembers, textAt } from './decode.ts'

export interface Index {
  readonly name: string | null
  readonly unique: boolean
  readonly fields: readonly IndexKey[]
  readonly properties: JsonObject
}

export interface IndexKey {
  readonly field: string
  readonly descending: boolean
  readonly caseInsensitive: boolean
  readonly properties: JsonObject
}

/** The declared indexes, plus the unique index of `_id` when it is not declared. */
export function parseIndexes(value: Json | undefined, at: string): readonly Index[] {
  const declared =
    value === undefined ? [] : listAt(value, at).map((each, i) => parseIndex(each, pointer(at, i)))
  refuseTwins(declared, at)
  return declared.some(isIdIndex) ? declared : [...declared, ID_INDEX]
}

export function printIndex({ name, unique, fields, properties }: Index): JsonObject {
  return { name, unique, fields: fields.map(printKey), ...properties }
}

/** The index on `_id`, which every store has without a declaration. */
export function isIdIndex({ unique, fields }: Index): boolean {
  return unique && fields.length === 1 && fields[0]!.field === '_id' && !fields[0]!.caseInsensitive
}

function parseIndex(value: Json, at: string): Index {
  const document = objectAt(value, at)
  const fields = listAt(document.fields ?? [], pointer(at, 'fields'))
  if (fields.length === 0) throw fault('metadata:ParseMissingElement', 'an index needs "fields"', at)
  const index: Index = {
    name: optional(document, 'name', { at, read: textOrNull }) ?? null,
    unique: optional(document, 'unique', { at, read: booleanAt }) ?? false,
    fields: fields.map((each, i) => parseKey(each, pointer(pointer(at, 'fields'), i))),
    properties: otherMembers(document, ['name', 'unique', 'fields']),
  }
  if (!index.unique && isIdIndex({ ...index, unique: true })) {
    throw fault('metadata:InvalidIndex', 'an index of _id alone must be unique', at)
  }
  return index
}

function parseKey(value: Json, at: string): IndexKey {
  const document = objectAt(value, at)
  const dir = document.dir ?? '$asc'
  if (dir !== '$asc' && dir !== '$desc') {
    throw fault(
      'metadata:InvalidIndex',
      'the direction of an index field is "$asc" or "$desc"',
      pointer(at, 'dir'),
    )
  }
  return {
    field: neededText(document, 'field', at),
    descending: dir === '$desc',
    caseInsensitive: optional(document, 'caseInsensitive', { at, read: booleanAt }) ?? false,
    properties: otherMembers(document, ['field', 'dir', 'caseInsensitive']),
  }
}

function printKey({ field, descending, caseInsensitive, properties }: IndexKey): JsonObject {
  return { field, dir: descending ? '$desc' : '$asc', caseInsensitive, ...properties }
}

function refuseTwins(indexes: readonly Index[], at: string): void {
  const seen = new Map<string, number>()
  for (const [i, { fields }] of indexes.entries()) {
    const list = fields.map(({ field, descending, caseInsensitive }) => [
      // The elements of a simple array may be named with or without `.*`.
      field.replace(/\.\*$/, ''),
      descending,
      caseInsensitive,
    ])
    const key = JSON.stringify(list)
    const twin = seen.get(key)
    if (twin !== undefined) {
      throw fault('metadata:InvalidIndex', `index ${i} has the same fields as index ${twin}`, pointer(at, i))
    }
    seen.set(key, i)
  }
}

function textOrNull(value: Json, at: string): string | null {
  return value === null ? null : textAt(value, at)
}

const ID_INDEX: Index = {
  name: null,
  unique: true,
  fields: [{ field: '_id', descending: false, caseInsensitive: false, properties: {} }],
  properties: {},
}
