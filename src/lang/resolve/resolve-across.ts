/**
 * Resolves names that lead through references. A clause about joined documents holds if some joined document satisfies
 * the rest of the clause; a negated clause holds if none does.
 */
import { unreachable } from '../../base/errors.ts'
import { castOperand, castValues, invalidQuery, requireShallow } from './checks.ts'
import { isParameter } from '../operand.ts'
import {
  type Count,
  EVERY_DOCUMENT,
  type FieldPair,
  NO_DOCUMENT,
  type Named,
  type Query,
  type ValueClause,
  isFieldPair,
  isValueClause,
} from '../query.ts'
import { NEGATED_CONTAINS_OP, NEGATED_OP, isNegative } from '../operators.ts'
import { type Operand, resolvePair } from './resolve-pair.ts'
import { type Crossing, type FieldRef, type Scope, crossing } from './scope.ts'

type Resolve = (query: Query<Named>, scope: Scope) => Query<FieldRef>
type Clause = ValueClause<Named> | (Query<Named> & { readonly kind: 'elemMatch' })

/** Undefined when the clause stays in the document. */
export function resolveAcross(
  query: Query<Named>,
  scope: Scope,
  resolve: Resolve,
): Query<FieldRef> | undefined {
  if (isFieldPair(query)) return pairAcross(query, { scope, resolve })
  const isAboutOneName = isValueClause(query) || query.kind === 'elemMatch'
  return isAboutOneName ? clauseAcross(query, scope, resolve) : undefined
}

function clauseAcross(query: Clause, scope: Scope, resolve: Resolve): Query<FieldRef> | undefined {
  const crossed = crossing('array' in query ? query.array : query.field, scope)
  if (!crossed) return undefined
  const affirmed = affirmationOf(query)
  if (affirmed) return { kind: 'not', term: resolve(affirmed, scope) }
  if (crossed.count) return countedBy(query, crossed, resolve)
  if (crossed.rest) return related(crossed, resolve, resolve(renamed(query, crossed.rest), crossed.inner))
  return aboutAll(query, crossed, resolve)
}

/** The clause that a negated clause denies; undefined for an affirmative clause. */
function affirmationOf(query: Clause): Clause | undefined {
  switch (query.kind) {
    case 'compare':
      return isNegative(query.op) ? { ...query, op: NEGATED_OP[query.op] } : undefined
    case 'in':
      return query.negated ? { ...query, negated: false } : undefined
    case 'contains': {
      const op = NEGATED_CONTAINS_OP[query.op]
      return op && { ...query, op }
    }
    case 'regex':
    case 'elemMatch':
      return undefined
    default:
      return unreachable(query)
  }
}

function renamed(query: Clause, rest: Named): Clause {
  return 'array' in query ? { ...query, array: rest } : { ...query, field: rest }
}

/** A clause about the reference itself. */
function aboutAll(query: Clause, crossed: Crossing, resolve: Resolve): Query<FieldRef> {
  if (query.kind === 'elemMatch') return related(crossed, resolve, resolve(query.query, crossed.inner))
  if (query.kind === 'compare' && query.op === '$eq' && query.value === null) {
    return { kind: 'not', term: related(crossed, resolve, EVERY_DOCUMENT) }
  }
  const { path } = crossed.reference
  const message = `"${path}" leads to documents: ask about their fields ("${path}.*.…"), by elemMatch, or how many (${path}#)`
  throw invalidQuery(message, crossed.at)
}

function countedBy(query: Clause, crossed: Crossing, resolve: Resolve): Query<FieldRef> {
  if (query.kind !== 'compare' && query.kind !== 'in') {
    throw invalidQuery(`"${crossed.reference.path}" is a number of documents`, crossed.at)
  }
  const number = { ...crossed.reference, field: crossed.count! }
  const count = countIn(query, number, crossed.at)
  return count ? { ...related(crossed, resolve, EVERY_DOCUMENT), count } : NO_DOCUMENT
}

/** Undefined if the clause compares with null only, because a count is never null. */
function countIn(
  query: Clause & { kind: 'compare' | 'in' },
  number: FieldRef,
  place: string,
): Count | undefined {
  const { at } = query.field
  if (query.kind === 'compare') {
    return query.value === null ? undefined : { op: query.op, value: castOperand(query.value, number, at) }
  }
  // The shape of a prepared statement is fixed, so nulls could not be removed from its lists.
  if (isParameter(query.values)) throw invalidQuery('numbers of documents are not prepared', place)
  const values = castValues(query.values, number, at).filter((value) => value !== null)
  return values.length === 0 ? undefined : { op: '$in', values }
}

function pairAcross(
  query: FieldPair<Named>,
  { scope, resolve }: { readonly scope: Scope; readonly resolve: Resolve },
): Query<FieldRef> | undefined {
  const left = { named: query.field, scope, shift: 0 }
  const right = { named: query.rfield, scope, shift: 0 }
  if (!crossing(left.named, scope) && !crossing(right.named, scope)) return undefined
  const affirmed = affirmedPair(query)
  const resolved = pairOf(affirmed, { left, right, resolve })
  return affirmed === query ? resolved : { kind: 'not', term: resolved }
}

function affirmedPair(query: FieldPair<Named>): FieldPair<Named> {
  if (query.kind === 'inField') return query.negated ? { ...query, negated: false } : query
  return isNegative(query.op) ? { ...query, op: NEGATED_OP[query.op] } : query
}

interface Pair {
  readonly left: Operand
  readonly right: Operand
  readonly resolve: Resolve
}

/** Follows the references of one side, then of the other. The side that stays gets one shift per opened scope. */
function pairOf(query: FieldPair<Named>, { left, right, resolve }: Pair): Query<FieldRef> {
  const fromLeft = crossing(left.named, left.scope, left.shift)
  if (fromLeft) {
    const moved = { left: into(fromLeft), right: outside(right, fromLeft), resolve }
    return related(fromLeft, resolve, pairOf(query, moved))
  }
  const fromRight = crossing(right.named, right.scope, right.shift)
  if (!fromRight) return resolvePair(query, left, right)
  const moved = { left: outside(left, fromRight), right: into(fromRight), resolve }
  return related(fromRight, resolve, pairOf(query, moved))
}

function into({ rest, inner, reference, count, at }: Crossing): Operand {
  if (rest && !count) return { named: rest, scope: inner, shift: 0 }
  if (count) {
    const how =
      'compare it with a number ("rvalue") or with a list of numbers ("values"), not with another field'
    throw invalidQuery(`"${count.name}" is the number of documents that a reference joins; ${how}`, at)
  }
  throw invalidQuery(`"${reference.path}" is neither a simple value nor an array of simple values`, at)
}

function outside(operand: Operand, { depth }: Crossing): Operand {
  return { ...operand, shift: operand.shift + depth }
}

function related({ reference, inner, at }: Crossing, resolve: Resolve, query: Query<FieldRef>) {
  requireShallow(inner, at)
  // The definition of a reference follows no references, so `joins` is removed.
  const { joins, ...scope } = inner
  joins?.repeat(reference.field)
  const join = resolve(reference.field.join.query, scope)
  return { kind: 'related', reference, join, query } as const
}
