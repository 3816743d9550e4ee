/**
 * The operators of clauses, and what each of them means wherever that decides something. All decisions are records or
 * closed unions: a new operator does not compile until every one of them is made.
 */

/** Says that a value is what it is compared with, or comes before or after it. */
export type AffirmativeOp = '$eq' | '$lt' | '$gt' | '$lte' | '$gte'
/** Holds wherever the operator that it denies does not, with missing values as well. */
export type NegativeOp = '$neq'
export type CompareOp = AffirmativeOp | NegativeOp

export type ContainsOp = '$any' | '$all' | '$none'

/** What a negative operator denies. */
export const DENIED: Readonly<Record<NegativeOp, AffirmativeOp>> = { $neq: '$eq' }

/** The same for what an array contains; undefined for an operator that affirms. */
export const CONTAINS_DENIED: Readonly<Record<ContainsOp, ContainsOp | undefined>> = {
  $any: undefined,
  $all: undefined,
  $none: '$any',
}

export function isNegative(op: CompareOp): op is NegativeOp {
  return Object.hasOwn(DENIED, op)
}

/** By the order of the two values, as `compareValues` gives it. */
export const HOLDS: Readonly<Record<CompareOp, (order: number) => boolean>> = {
  $eq: (order) => order === 0,
  $neq: (order) => order !== 0,
  $lt: (order) => order < 0,
  $gt: (order) => order > 0,
  $lte: (order) => order <= 0,
  $gte: (order) => order >= 0,
}

/** Whether it holds between null and null, which is the same as missing; nothing is less or greater than null. */
export const HOLDS_FOR_NULLS: Readonly<Record<AffirmativeOp, boolean>> = {
  $eq: true,
  $lt: false,
  $gt: false,
  $lte: false,
  $gte: false,
}

/** Whether null can be compared by it at all. */
export function comparesNull(op: CompareOp): boolean {
  return HOLDS_FOR_NULLS[isNegative(op) ? DENIED[op] : op]
}
