/** Parses the indexes of entity info. `index-definitions.ts` resolves them against the schemas. */
import { type Json, type JsonObject, pointer } from '../../base/json/json.ts'
import { LANGUAGES, type Language, isLanguage } from '../../base/stemmers.ts'
import {
  booleanAt,
  fault,
  listAt,
  neededPath,
  neededText,
  objectAt,
  optional,
  otherMembers,
  textAt,
} from './decode.ts'

export interface Index {
  readonly name: string | null
  /** Present for an index of words, which serves text search. */
  readonly kind?: 'text'
  /** Present if the index has the stems of the words in this language. */
  readonly language?: Language
  readonly unique: boolean
  readonly fields: readonly IndexKey[]
  readonly properties: JsonObject
}

export interface IndexKey {
  readonly field: string
  readonly descending: boolean
  readonly caseInsensitive: boolean
  /** Present in an index of words: how much an occurrence in this field counts. */
  readonly weight?: number
  readonly properties: JsonObject
}

/** The declared indexes, plus the unique index of `_id` when it is not declared. */
export function parseIndexes(value: Json | undefined, at: string): readonly Index[] {
  const declared =
    value === undefined ? [] : listAt(value, at).map((each, i) => parseIndex(each, pointer(at, i)))
  refuseTwins(declared, at)
  refuseNamesakes(declared, at)
  return declared.some(isIdIndex) ? declared : [...declared, ID_INDEX]
}

export function printIndex({ name, kind, language, unique, fields, properties }: Index): JsonObject {
  if (kind === 'text') {
    return { name, kind, ...(language && { language }), fields: fields.map(printWeighted), ...properties }
  }
  return { name, unique, fields: fields.map(printKey), ...properties }
}

/** The index on `_id`, which every store has without a declaration. */
export function isIdIndex({ unique, fields }: Index): boolean {
  return unique && fields.length === 1 && fields[0]!.field === '_id' && !fields[0]!.caseInsensitive
}

function parseIndex(value: Json, at: string): Index {
  const document = objectAt(value, at)
  if (document.kind !== undefined) return parseWordIndex(document, at)
  const fields = listAt(document.fields ?? [], pointer(at, 'fields'))
  if (fields.length === 0) throw fault('metadata:ParseMissingElement', 'an index needs "fields"', at)
  const index: Index = {
    name: optional(document, 'name', { at, read: textOrNull }) ?? null,
    unique: optional(document, 'unique', { at, read: booleanAt }) ?? false,
    fields: fields.map((each, i) => parseKey(each, pointer(pointer(at, 'fields'), i))),
    properties: otherMembers(document, INDEX_KEYS),
  }
  if (!index.unique && isIdIndex({ ...index, unique: true })) {
    throw fault('metadata:InvalidIndex', 'an index of _id alone must be unique', at)
  }
  return index
}

function parseWordIndex(document: JsonObject, at: string): Index {
  if (document.kind !== 'text') {
    throw fault('metadata:InvalidIndex', 'the only kind of index to declare is "text"', pointer(at, 'kind'))
  }
  const fields = listAt(document.fields ?? [], pointer(at, 'fields'))
  if (fields.length === 0) throw fault('metadata:ParseMissingElement', 'an index needs "fields"', at)
  if (optional(document, 'unique', { at, read: booleanAt }) === true) {
    throw fault('metadata:InvalidIndex', 'an index of kind "text" cannot be unique', pointer(at, 'unique'))
  }
  const language = optional(document, 'language', { at, read: languageAt })
  return {
    name: neededText(document, 'name', at),
    kind: 'text',
    ...(language && { language }),
    unique: false,
    fields: fields.map((each, i) => parseWeighted(each, pointer(pointer(at, 'fields'), i))),
    properties: otherMembers(document, WORD_INDEX_KEYS),
  }
}

function languageAt(value: Json, at: string): Language {
  if (isLanguage(value)) return value
  const message = `the language of an index is one of ${LANGUAGES.join(', ')}; without it, words are searched as they are written`
  throw fault('metadata:InvalidIndex', message, at)
}

function parseWeighted(value: Json, at: string): IndexKey {
  const document = objectAt(value, at)
  for (const key of ['dir', 'caseInsensitive']) {
    if (document[key] === undefined) continue
    const message = `"${key}" has no meaning in an index of kind "text"; it has words without order and case`
    throw fault('metadata:InvalidIndex', message, pointer(at, key))
  }
  const weight = document['weight'] ?? 1
  if (typeof weight !== 'number' || !Number.isInteger(weight) || weight < 1 || weight > MAX_WEIGHT) {
    const message = `a weight is an integer from 1 to ${MAX_WEIGHT}, such as 3`
    throw fault('metadata:InvalidIndex', message, pointer(at, 'weight'))
  }
  return {
    field: neededPath(document, 'field', at),
    descending: false,
    caseInsensitive: false,
    weight,
    properties: otherMembers(document, WORD_FIELD_KEYS),
  }
}

const MAX_WEIGHT = 1_000

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
    field: neededPath(document, 'field', at),
    descending: dir === '$desc',
    caseInsensitive: optional(document, 'caseInsensitive', { at, read: booleanAt }) ?? false,
    properties: otherMembers(document, INDEX_FIELD_KEYS),
  }
}

function printKey({ field, descending, caseInsensitive, properties }: IndexKey): JsonObject {
  return { field, dir: descending ? '$desc' : '$asc', caseInsensitive, ...properties }
}

function printWeighted({ field, weight = 1, properties }: IndexKey): JsonObject {
  return { field, weight, ...properties }
}

/** A text search names its index. */
function refuseNamesakes(indexes: readonly Index[], at: string): void {
  const seen = new Set<string>()
  for (const [i, { name, kind }] of indexes.entries()) {
    if (kind === undefined || name === null) continue
    if (seen.has(name)) {
      const message = `two indexes of kind "text" have the name "${name}"; a text search could not tell them apart`
      throw fault('metadata:InvalidIndex', message, pointer(at, i))
    }
    seen.add(name)
  }
}

/** Two indexes on the same fields are a mistake. */
export function refuseTwins(indexes: readonly Index[], at: string): void {
  const seen = new Map<string, number>()
  for (const [i, { kind, language, fields }] of indexes.entries()) {
    const list = fields.map(({ field, descending, caseInsensitive }) => [
      // The elements of a simple array may be named with or without `.*`.
      field.replace(/\.\*$/, ''),
      descending,
      caseInsensitive,
    ])
    const key = JSON.stringify([kind, language, list])
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

export const INDEX_KEYS = ['name', 'unique', 'fields']
export const INDEX_FIELD_KEYS = ['field', 'dir', 'caseInsensitive']
export const WORD_INDEX_KEYS = [...INDEX_KEYS, 'kind', 'language']
export const WORD_FIELD_KEYS = ['field', 'weight']

const ID_INDEX: Index = {
  name: null,
  unique: true,
  fields: [{ field: '_id', descending: false, caseInsensitive: false, properties: {} }],
  properties: {},
}
