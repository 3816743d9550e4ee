/**
 * Planner hints. Without statistics SQLite prefers a full scan in the requested order to an index range with
 * a sort, although ranges are mostly small. The hint makes the order unavailable from an index.
 */
import { unreachable } from '../../../base/errors.ts'
import type { CompareOp, ContainsOp } from '../../../lang/operators.ts'
import { type Query, conjunctsOf, isValueClause } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import { literalPrefix } from '../../sql/pattern/prefix.ts'
import type { Table } from '../catalogue.ts'

/** Whether to sort explicitly, so that an index can serve the filter. */
export function sortsAfterwards({ query, sort }: ReadPlan, table: Table): boolean {
  if (!query) return false
  const ways = conjunctsOf(query).map((term) => wayInto(term, table))
  const [first] = sort
  const isSortedByRange = ways.some((way) => way?.kind === 'range' && way.path === first?.field.field.path)
  return (
    !ways.some((way) => way?.kind === 'value') &&
    ways.some((way) => way?.kind === 'range') &&
    !isSortedByRange
  )
}

/** Whether an index returns the matches ordered by `_id`, and no other order is requested. */
export function comesInOrder({ query, sort, asOf }: ReadPlan, { indexes }: Table): boolean {
  if (asOf !== undefined || sort.length > 0 || query?.kind !== 'compare') return false
  const { field, op, value } = query
  const { path } = field.field
  const isOfIt = ({ fields: [first, ...others] }: IndexDefinition): boolean =>
    first?.path === path && !first.caseInsensitive && others.length === 0
  return op === '$eq' && value !== null && !field.steps.includes('*') && [...indexes.values()].some(isOfIt)
}

/** Whether an index finds the documents that satisfy the term. */
export function isServed(term: Query<FieldRef>, table: Table): boolean {
  if (term.kind === 'elemMatch') {
    return conjunctsOf(term.query).some((each) => each.kind === 'compare' && holdsElements(each.field, table))
  }
  if (!isValueClause(term)) return false
  switch (term.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return (
        term.field.field.path === '_id' ||
        holdsElements(term.field, table) ||
        wayInto(term, table) !== undefined
      )
    case 'contains':
      return IS_SERVED[term.op] && table.elements.has(`${term.array.field.path}.*`)
    default:
      return unreachable(term)
  }
}

/** Whether indexed elements lead to the documents; no index finds documents that lack an element. */
const IS_SERVED: Readonly<Record<ContainsOp, boolean>> = { $any: true, $all: true, $none: false }

function holdsElements({ field }: FieldRef, table: Table): boolean {
  return table.elements.has(field.path)
}

interface Way {
  readonly kind: 'value' | 'range'
  readonly path: string
}

function wayInto(term: Query<FieldRef>, table: Table): Way | undefined {
  if (term.kind !== 'compare' && term.kind !== 'in' && term.kind !== 'regex') return undefined
  const { path } = term.field.field
  const kind = term.kind === 'compare' ? WAYS[term.op] : 'range'
  return kind && isIndexed(path, term, table) ? { kind, path } : undefined
}

/** Undefined where no index finds the matches of the operator. */
const WAYS: Readonly<Record<CompareOp, Way['kind'] | undefined>> = {
  $eq: 'value',
  $neq: undefined,
  $lt: 'range',
  $gt: 'range',
  $lte: 'range',
  $gte: 'range',
}

function isIndexed(path: string, term: Query<FieldRef> & { field: FieldRef }, table: Table): boolean {
  if (term.kind === 'in' && term.negated) return false
  if (term.kind !== 'regex') return table.firsts.has(path)
  if (literalPrefix(term.pattern, term.flags) === '') return false
  return term.flags.caseInsensitive ? table.folded.has(path) : table.firsts.has(path)
}
