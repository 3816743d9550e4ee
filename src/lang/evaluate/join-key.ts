/** Splits the query of a join into parts, and finds the pairs of fields whose values must be equal. */
import { type Json, isArray, isNumber, numberText } from '../../base/json/json.ts'
import { orderKey } from '../../base/decimal.ts'
import type { SimpleField } from '../../schema/field.ts'
import { asCompared } from '../../schema/kind.ts'
import { looksOut } from '../resolve/query-walk.ts'
import { type Seen, candidates, comparables } from './candidates.ts'
import { type Query, conjunctsOf } from '../query.ts'
import type { FieldRef } from '../resolve/scope.ts'

interface JoinParts {
  /** Conditions on the joined document alone. */
  readonly local: readonly Query<FieldRef>[]
  readonly correlated: readonly Query<FieldRef>[]
  /** The pair of the first correlated part that is an equality of values of one type. */
  readonly key?: JoinKey
}

export interface JoinKey {
  /** In the joined document. */
  readonly own: Side
  /** Outside of it. */
  readonly other: Side
}

export interface Side {
  readonly field: FieldRef
  /** Whether the field is an array of which any element may equal the other side. */
  readonly isList: boolean
}

export function partsOf(query: Query<FieldRef>): JoinParts {
  const terms = conjunctsOf(query)
  const correlated = terms.filter(looksOut)
  // Numbers of different types compare by value; a lookup with values of one type would miss equal ones.
  const key = pairsIn(correlated).find(({ own, other }) => typeIn(own) === typeIn(other))
  return { local: terms.filter((term) => !looksOut(term)), correlated, ...(key && { key }) }
}

/** All pairs of fields, inside and outside, that must be equal for the conjunction of the terms to hold. */
export function pairsIn(terms: readonly Query<FieldRef>[]): readonly JoinKey[] {
  return terms.flatMap((term) => pairIn(term) ?? [])
}

function pairIn(term: Query<FieldRef>): JoinKey | undefined {
  if (term.kind === 'compareFields' && term.op === '$eq') {
    return pairOf({ field: term.field, isList: false }, { field: term.rfield, isList: false })
  }
  if (term.kind !== 'inField' || term.negated) return undefined
  return pairOf({ field: term.field, isList: false }, { field: term.rfield, isList: true })
}

function pairOf(a: Side, b: Side): JoinKey | undefined {
  // Arrays that are compared as a whole have no single value to look up.
  if (typeIn(a) === undefined || typeIn(b) === undefined) return undefined
  if (a.field.up === 0 && b.field.up > 0) return { own: a, other: b }
  return b.field.up === 0 && a.field.up > 0 ? { own: b, other: a } : undefined
}

function typeIn({ field: { field }, isList }: Side): SimpleField['type'] | undefined {
  const value = isList && field.kind === 'array' ? field.element : field
  return value.kind === 'simple' ? value.type : undefined
}

/** The values of one side in the form in which they are compared; null stands for a missing value. */
export function keysOf({ field, isList }: Side, seen: Seen): readonly Json[] {
  if (!isList || field.field.kind !== 'array') return comparables(seen, field).map((each) => each ?? null)
  const compared = asCompared(field.field.element)
  return candidates(seen, field).flatMap((array) =>
    isArray(array) ? array.map((each) => compared(each) ?? null) : [],
  )
}

/** A query: some value of the side is one of `values`. */
export function isAmong({ field, isList }: Side, values: readonly Json[]): Query<FieldRef> {
  if (isList) return { kind: 'contains', array: field, op: '$any', values }
  return { kind: 'in', field, negated: false, values }
}

/** A map key: equal for equal values only. Numbers are keyed by value, not by spelling. */
export function keyText(value: Json): string {
  return isNumber(value) ? `n${orderKey(numberText(value))}` : JSON.stringify(value)
}
