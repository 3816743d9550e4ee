/** Indexes that are being written by a form. Members that the form does not know stay as they are. */
import { type Json, type JsonObject, isArray, isObject, numberIn, textOf } from '../client/json.ts'
import { isSet } from './members.ts'

/** The languages that an index of words knows the stems of. */
export const LANGUAGES = [
  'arabic', 'armenian', 'danish', 'dutch', 'english', 'finnish', 'french', 'german', 'greek', 'hindi', 'hungarian',
  'indonesian', 'irish', 'italian', 'lithuanian', 'nepali', 'norwegian', 'portuguese', 'romanian', 'russian', 'serbian',
  'spanish', 'swedish', 'tamil', 'turkish',
] as const // prettier-ignore

export const DIRECTIONS = ['$asc', '$desc'] as const

export const NEW_INDEX: JsonObject = { fields: [{ field: '', dir: '$asc' }] }

/** An index that a form can show; any other value is shown as JSON. */
export interface IndexDraft {
  readonly isOfWords: boolean
  readonly keys: readonly JsonObject[]
}

export function indexIn(value: Json): IndexDraft | undefined {
  if (!isObject(value)) return undefined
  const { kind, fields = [], name = null } = value
  if (kind !== undefined && kind !== 'text') return undefined
  if (name !== null && typeof name !== 'string') return undefined
  if (!isArray(fields) || !fields.every(isKey)) return undefined
  return { isOfWords: kind === 'text', keys: fields }
}

function isKey(value: Json): value is JsonObject {
  return isObject(value) && typeof (value['field'] ?? '') === 'string'
}

/** The index that every entity has; whoever removes it gets it back. */
export function isIdIndex(value: Json): boolean {
  const draft = indexIn(value)
  const [key, ...others] = draft?.keys ?? []
  if (!key || others.length > 0 || !isObject(value) || Object.keys(value).some((each) => !PLAIN.has(each)))
    return false
  return key['field'] === '_id' && isSet(value['unique']) && !isSet(key['caseInsensitive'])
}

const PLAIN = new Set(['name', 'unique', 'fields'])

/** An index of words has neither order nor case, and one of values no language and no weights. */
export function withKind(index: JsonObject, isOfWords: boolean): JsonObject {
  const { kind: _kind, language, unique: _unique, fields, ...rest } = index
  const keys = isArray(fields) ? fields.filter(isKey) : []
  if (!isOfWords) return { ...rest, fields: keys.map(({ weight: _weight, ...key }) => key) }
  return {
    ...rest,
    kind: 'text',
    ...(language !== undefined && { language }),
    fields: keys.map(({ dir: _dir, caseInsensitive: _case, ...key }) => key),
  }
}

/** Without a name, an index of values has none; one of words needs one, and the service says so. */
export function withName(index: JsonObject, name: string): JsonObject {
  return { ...index, name: name === '' && index['kind'] !== 'text' ? null : name }
}

/** What was typed as a weight; text that is no number stays text, and the service says what is wrong. */
export function weightIn(text: string): Json | undefined {
  const trimmed = text.trim()
  return trimmed === '' ? undefined : (numberIn(trimmed) ?? trimmed)
}

/** The list with one of its elements a place further to the front. */
export function movedUp<T>(list: readonly T[], i: number): readonly T[] {
  return list.toSpliced(i - 1, 2, list[i]!, list[i - 1]!)
}

export function pathsText(keys: readonly JsonObject[]): string {
  return keys
    .map(({ field }) => textOf(field))
    .filter((path) => path !== '')
    .join(', ')
}
