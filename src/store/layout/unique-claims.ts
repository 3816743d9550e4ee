/**
 * Unique values as keys (claims), one for each value of a document: two documents with the same claim violate a unique
 * index. Claims also cover values that no index of an engine does: elements of arrays, case-folded text, fields that may
 * be absent.
 */
import { createHash } from 'node:crypto'
import { orderKey } from '../../base/decimal.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray, isNumber, member, numberText } from '../../base/json/json.ts'
import { type Step, parsePath } from '../../base/path.ts'
import { foldCase } from '../../base/text.ts'
import { isOfKind, kindOfType } from '../../schema/kind.ts'
import type { IndexDefinition, IndexField } from '../../schema/schema.ts'

/** Unique indexes by their number in the catalogue. */
export type UniqueIndexes = ReadonlyMap<number, IndexDefinition>

/** The keys of a document's claims, each once. */
export function claimsOf(document: JsonObject, indexes: UniqueIndexes): ReadonlySet<string> {
  const keys = new Set<string>()
  for (const [no, { fields }] of indexes) {
    for (const row of rowsOf(document, fields)) {
      const values = row.map((value, i) => canonical(value, fields[i]!))
      if (values.some((value) => value !== null)) keys.add(shortened(`${no}:${JSON.stringify(values)}`))
    }
  }
  return keys
}

/** A unique index that cannot be built. */
export function repeatedValues({ fields }: IndexDefinition): ServiceError {
  const names = fields.map(({ path }) => path).join(', ')
  const message = `documents already repeat values of the unique index on ${names}`
  return new ServiceError('metadata:InvalidIndex', message)
}

/** The number of the index of a claim. */
export function indexOfClaim(key: string): number {
  return Number.parseInt(key, 10)
}

/** Equal values, and only they, have the same canonical form. A value of another kind than the type counts as missing. */
function canonical(value: Json | undefined, { type, caseInsensitive }: IndexField): Json {
  if (value === undefined || value === null || !isOfKind(value, kindOfType(type))) return null
  if (isNumber(value)) return [orderKey(numberText(value))]
  return typeof value === 'string' && caseInsensitive ? foldCase(value) : value
}

/** The engine rejects long keys, so the end of a long key is replaced by a hash of all of it. */
function shortened(key: string): string {
  return key.length <= 200
    ? key
    : `${key.slice(0, 100).toWellFormed()}#${createHash('sha256').update(key).digest('base64url')}`
}

/**
 * One row for each element. All fields lie in the same nested arrays, and values of outer levels repeat for
 * each inner element.
 */
function rowsOf(
  document: JsonObject,
  fields: readonly IndexField[],
): readonly (readonly (Json | undefined)[])[] {
  const paths = fields.map(({ path }) => parsePath(path, ''))
  const deepest = paths.toSorted((a, b) => stars(b) - stars(a))[0]!
  const levels: (readonly Step[])[] = [[]]
  let rows: (readonly (Json | undefined)[])[] = [[document]]
  for (const [i, step] of deepest.entries()) {
    if (step !== '*') continue
    const head = deepest.slice(levels.at(-1)!.length, i)
    rows = rows.flatMap((row) => elementsOf(at(row.at(-1), head)).map((element) => [...row, element]))
    levels.push(deepest.slice(0, i + 1))
  }
  const places = paths.map((path) => {
    const level = levels.findLastIndex((steps) => steps.every((step, k) => step === path[k]))
    return { level, rest: path.slice(levels[level]!.length) }
  })
  return rows.map((row) => places.map(({ level, rest }) => at(row[level], rest)))
}

/** An element without the inner array still has a row for its other fields. */
function elementsOf(array: Json | undefined): readonly (Json | undefined)[] {
  return isArray(array) && array.length > 0 ? array : [undefined]
}

function at(value: Json | undefined, steps: readonly Step[]): Json | undefined {
  return steps.reduce<Json | undefined>((each, step) => member(each, String(step)), value)
}

function stars(path: readonly Step[]): number {
  return path.filter((step) => step === '*').length
}
