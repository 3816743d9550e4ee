/**
 * Compiles sorts. Ascending, null and missing come first. An array is sorted by its least element ascending, and by its
 * greatest descending.
 */
import { type Decimal, compareDecimal, parseDecimal } from '../../base/decimal.ts'
import { type Json, isNumber, numberText } from '../../base/json/json.ts'
import { spend } from '../../base/work/work.ts'
import { documentWords, scoreOfWords } from '../../schema/document-words.ts'
import { compareValues } from '../../schema/types.ts'
import { type Seen, comparables } from './candidates.ts'
import type { FieldRef } from '../resolve/scope.ts'
import type { TextSearch } from '../query.ts'
import type { SortKey } from '../sort.ts'
import { wantedPieces } from '../text-search.ts'

/** The positions of values in sorted order. The sort is stable. */
export function compileSort(
  sort: readonly SortKey<FieldRef>[],
): (values: readonly Seen[]) => readonly number[] {
  return (values) => {
    spend(values.length)
    const positions = [...values.keys()]
    if (sort.length === 0) return positions
    const columns = sort.map((key) => columnOf(values, key))
    return positions.sort((a, b) => {
      spend(sort.length)
      for (const compare of columns) {
        const order = compare(a, b)
        if (order !== 0) return order
      }
      return a - b
    })
  }
}

/**
 * The values by which a store sorts a document, one for each key. `sources` are those of the keys that lead through
 * references, in their order: the document at the end of the way, or a number of documents; undefined if there is none.
 */
export function sortValues(
  value: Json,
  sort: readonly SortKey<FieldRef>[],
  sources: readonly (Json | undefined)[] = [],
): readonly Json[] {
  const next = sources.values()
  return sort.map((key) =>
    key.field.joined ? joinedSortValue(next.next().value, key) : sortValue({ value }, key),
  )
}

/** The value of a key that leads through references, from what is at the end of the way. */
export function joinedSortValue(source: Json | undefined, key: SortKey<FieldRef>): Json {
  if (source === undefined) return null
  return key.field.joined?.counted ? source : sortValue({ value: source }, key)
}

type Directions = readonly Pick<SortKey<FieldRef>, 'descending'>[]

/** Compares the values of two documents, as `sortValues` returns them. */
export function compareSortValues(a: readonly Json[], b: readonly Json[], sort: Directions): number {
  return compareComparable(comparableKeys(a), comparableKeys(b), sort)
}

/** Sort values in a form that is compared without parsing numbers again. */
export function comparableKeys(values: readonly Json[]): readonly Key[] {
  return values.map((value) => keyOf(value))
}

export function compareComparable(a: readonly Key[], b: readonly Key[], sort: Directions): number {
  spend(sort.length)
  for (const [i, { descending }] of sort.entries()) {
    const order = compareNullsFirst(a[i]!, b[i]!, compareKeys)
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

/** Sort keys can be expensive, so each is computed at most once, and only if a comparison needs it. */
function columnOf(values: readonly Seen[], key: SortKey<FieldRef>): (a: number, b: number) => number {
  const known: Key[] = []
  const keyAt = (position: number): Key => {
    const before = known[position]
    return before === undefined ? (known[position] = keyOf(sortValue(values[position]!, key))) : before
  }
  const sign = key.descending ? -1 : 1
  return (a, b) => sign * compareNullsFirst(keyAt(a), keyAt(b), compareKeys)
}

/** Numbers that a JavaScript number cannot represent exactly are parsed as `Decimal`. */
export type Key = Exclude<Json, object> | Decimal

function keyOf(value: Json): Key {
  if (typeof value !== 'object' || value === null) return value
  // Other objects have no order.
  return isNumber(value) ? parseDecimal(numberText(value))! : null
}

function compareKeys(a: NonNullable<Key>, b: NonNullable<Key>): number {
  if (typeof a !== 'object' && typeof b !== 'object') return compareValues(a, b)
  return compareDecimal(decimalOf(a), decimalOf(b))
}

function decimalOf(key: NonNullable<Key>): Decimal {
  return typeof key === 'object' ? key : parseDecimal(String(key))!
}

/** Null is less than every value. */
function compareNullsFirst<T>(a: T | null, b: T | null, compare: (a: T, b: T) => number): number {
  if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1)
  return compare(a, b)
}

function scoreOf(value: Json | undefined, query: TextSearch<FieldRef>): number {
  const { fields, language, weights, terms } = query
  const words = documentWords(value, { fields: fields.map(({ steps }) => steps), language })
  return scoreOfWords(words, weights, wantedPieces(terms))
}

/** The value that stands for all candidates of the key: the least ascending, the greatest descending. */
function sortValue(seen: Seen, { field, descending }: SortKey<FieldRef>): Json {
  if (field.score) return field.score.reduce((sum, each) => sum + scoreOf(seen.value, each), 0)
  const candidates = comparables(seen, field)
  spend(candidates.length)
  let best = candidates[0] ?? null
  for (let i = 1; i < candidates.length; i++) {
    const each = candidates[i] ?? null
    const order = compareNullsFirst<Json>(each, best, compareValues)
    if (descending ? order > 0 : order < 0) best = each
  }
  return best
}
