/**
 * The operators of clauses and their properties. All properties are records or closed unions, so that a new operator
 * does not compile until each of them is decided.
 */

/** Decided by the order of the two values alone: equal, less or greater. Missing values do not satisfy it, except `$eq` null. */
export type PositiveOp = '$eq' | '$lt' | '$gt' | '$lte' | '$gte'
/** Holds exactly where the operator that it negates does not, also for missing values. */
type NegativeOp = '$neq'
export type CompareOp = PositiveOp | NegativeOp

export type ContainsOp = '$any' | '$all' | '$none'

/** The operator that a negative operator negates. */
export const NEGATED_OP: Readonly<Record<NegativeOp, PositiveOp>> = { $neq: '$eq' }

/** The same for `contains`; undefined for a positive operator. */
export const NEGATED_CONTAINS_OP: Readonly<Record<ContainsOp, ContainsOp | undefined>> = {
  $any: undefined,
  $all: undefined,
  $none: '$any',
}

export function isNegative(op: CompareOp): op is NegativeOp {
  return Object.hasOwn(NEGATED_OP, op)
}

/** Whether the operator holds for the result of `compareValues`. */
export const HOLDS: Readonly<Record<CompareOp, (order: number) => boolean>> = {
  $eq: (order) => order === 0,
  $neq: (order) => order !== 0,
  $lt: (order) => order < 0,
  $gt: (order) => order > 0,
  $lte: (order) => order <= 0,
  $gte: (order) => order >= 0,
}

/** Whether the operator holds for null and null. Missing counts as null; null has no order. */
export const HOLDS_FOR_NULLS: Readonly<Record<PositiveOp, boolean>> = {
  $eq: true,
  $lt: false,
  $gt: false,
  $lte: false,
  $gte: false,
}

/** Whether the operator accepts null as an operand. */
export function comparesNull(op: CompareOp): boolean {
  return HOLDS_FOR_NULLS[isNegative(op) ? NEGATED_OP[op] : op]
}
