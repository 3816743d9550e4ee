/**
 * Aggregations as data, generic in the type of a field like queries. `evaluate/aggregate.ts` and `store/sql/aggregate.ts`
 * interpret them.
 */
import { parseDecimal } from '../base/decimal.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonNumber, isNumber, numberText } from '../base/json/json.ts'
import { numberFrom } from '../base/json/parse-trusted.ts'
import type { Period } from '../schema/periods/period.ts'
import { TYPES, type TypeName } from '../schema/types.ts'
import type { Query } from './query.ts'
import type { SortKey } from './sort.ts'

/** What documents, or elements of their arrays, are grouped by. */
export interface GroupKey<F> {
  /** The name in the result. */
  readonly name: string
  readonly field: F
  /** Groups dates by the beginning of a period. */
  readonly truncate?: Truncation
}

export interface Truncation {
  readonly period: Period
  /** Absent: UTC. */
  readonly timeZone?: string
}

/** A value that is computed for each group. */
export type GroupValue<F> =
  | { readonly name: string; readonly op: '$count' }
  | { readonly name: string; readonly op: FieldAggregate; readonly field: F }

export const FIELD_AGGREGATES = ['$sum', '$avg', '$min', '$max', '$distinct'] as const
export type FieldAggregate = (typeof FIELD_AGGREGATES)[number]

/** The parsed parts of a request. */
export interface Aggregation<F> {
  readonly keys: readonly GroupKey<F>[]
  readonly values: readonly GroupValue<F>[]
  /** Conditions on names of the result. */
  readonly having?: Query<F>
  /** By names of the result. */
  readonly sort: readonly SortKey<F>[]
}

/** How a value of the result is represented: numbers are exact decimals or doubles. */
export type ResultKind = 'count' | 'exact' | 'double' | 'boolean' | 'text'

/** A row of the result: one value for each result field. */
export type Group = readonly Json[]

/** Groups of one page, in order, and how many groups there are. */
export interface Groups {
  readonly groups: readonly Group[]
  readonly matchCount: number
}

/** Integers have no fraction; a decimal keeps the largest scale of its values. */
export function keepsScale(type: TypeName): boolean {
  return type === 'bigdecimal'
}

/** More groups than this are returned only by range. */
export const MAX_GROUPS = 10_000

/** An exact number of a result, from its digits. */
export function exactResult(text: string): Json {
  const shown = parseDecimal(text) ? text : withExponent(text)
  if (parseDecimal(shown)) return numberFrom(shown)
  throw new ServiceError('query-api:InvalidAggregation', 'a result has more digits than a number may have')
}

/** Stores print zeros after the point instead of an exponent, which may be more digits than a number may have. */
function withExponent(text: string): string {
  const [, sign = '', zeros = '', digits] = /^(-?)0\.(0*)(\d+)$/.exec(text) ?? []
  return digits === undefined ? text : `${sign}${digits}e-${zeros.length + digits.length}`
}

/** A double of a group. JSON has no infinity; a number beyond all doubles stands for it. */
export function doubleResult(value: number): JsonNumber {
  return Number.isFinite(value) ? value : JSON.rawJSON(value > 0 ? '1e1999' : '-1e1999')
}

/** A value of a group as it is returned: doubles in the form in which they are stored. */
export function shownResult(value: Json, kind: ResultKind): Json {
  if (kind !== 'double' || !isNumber(value)) return value
  const stored = TYPES.double.cast(Number(numberText(value)))
  if (stored !== undefined) return stored
  throw new ServiceError('query-api:InvalidAggregation', 'a result exceeds the range of a double')
}
