/**
 * Planner hints. Without statistics SQLite prefers a full scan in the requested order to an index range with
 * a sort, although ranges are mostly small. The hint makes the order unavailable from an index.
 */
import { unreachable } from '../../../base/errors.ts'
import type { Json } from '../../../base/json/json.ts'
import type { CompareOp, ContainsOp } from '../../../lang/operators.ts'
import { isParameter } from '../../../lang/operand.ts'
import { type Query, conjunctsOf, eachAlternativeHas, isValueClause } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { ReadPlan } from '../../../plan/plan.ts'
import type { IndexDefinition } from '../../../schema/schema.ts'
import { literalPrefix } from '../../sql/pattern/prefix.ts'
import { isWholeArray } from '../../sql/translation.ts'
import { asConditionOnAllElements } from '../../sql/where.ts'
import type { Table } from '../catalogue.ts'

/** Whether to sort explicitly, so that an index can serve the filter. */
export function sortsAfterwards({ query, sort }: ReadPlan, table: Table): boolean {
  if (!query) return false
  const accesses = conjunctsOf(query).map((term) => indexAccess(term, table))
  const first = sort[0]?.field.joined ? undefined : sort[0]
  const isSortedByRange = accesses.some(
    (access) => access?.kind === 'range' && access.path === first?.field.field.path,
  )
  return (
    !accesses.some((access) => access?.kind === 'value') &&
    accesses.some((access) => access?.kind === 'range') &&
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
    return conjunctsOf(term.query).some((each) => {
      const implied = asConditionOnAllElements(each, term.array)
      return implied !== undefined && isServedByElements(implied, table)
    })
  }
  if (term.kind === 'text') return term.terms.some(({ isExcluded }) => !isExcluded)
  // SQLite looks up each alternative by its own index, if every one of them has one.
  if (term.kind === 'or') return eachAlternativeHas(term, (each) => isServed(each, table))
  if (!isValueClause(term)) return false
  switch (term.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return isServedById(term) || isServedByElements(term, table) || indexAccess(term, table) !== undefined
    case 'contains':
      return IS_SERVED[term.op](term.values) && table.elements.has(`${term.array.field.path}.*`)
    default:
      return unreachable(term)
  }
}

/** Whether indexed elements lead to the documents. The index has no null, and finds no document that lacks an element. */
const IS_SERVED: Readonly<Record<ContainsOp, (values: readonly Json[]) => boolean>> = {
  $any: (values) => !values.includes(null),
  $all: (values) => values.some((value) => value !== null),
  $none: () => false,
}

/** A condition on the value of a field. */
type FieldCondition = Query<FieldRef> & { readonly kind: 'compare' | 'in' | 'regex' }

function isServedById(term: FieldCondition): boolean {
  return term.field.field.path === '_id' && !ignoresCase(term) && accessKind(term) !== undefined
}

/** The index of an array contains its elements. It lacks documents without the array, which null matches. */
function isServedByElements(term: FieldCondition, table: Table): boolean {
  const { steps, field } = term.field
  const { path } = field
  const isIndexed =
    (ignoresCase(term) ? table.foldedElements : table.elements).has(path) ||
    (isEquality(term) && table.foldedElements.has(path))
  return isWholeArray(steps) && isIndexed && accessKind(term) !== undefined && !matchesNull(term)
}

function matchesNull(term: FieldCondition): boolean {
  if (term.kind === 'compare') return term.value === null
  return term.kind === 'in' && !isParameter(term.values) && term.values.includes(null)
}

interface IndexAccess {
  readonly kind: 'value' | 'range'
  readonly path: string
}

/** How a plain index finds the matches of the term; undefined where none does. */
function indexAccess(term: Query<FieldRef>, table: Table): IndexAccess | undefined {
  if (term.kind !== 'compare' && term.kind !== 'in' && term.kind !== 'regex') return undefined
  const kind = accessKind(term)
  const { path } = term.field.field
  const isIndexed =
    (ignoresCase(term) ? table.folded : table.firsts).has(path) ||
    (isEquality(term) && !matchesNull(term) && table.folded.has(path))
  return kind && isIndexed ? { kind, path } : undefined
}

/** An index of folded text leads to equal texts, too. */
function isEquality(term: FieldCondition): boolean {
  return term.kind === 'in' ? !term.negated : term.kind === 'compare' && term.op === '$eq'
}

/** How an index of the field would find the matches; undefined where none could. */
function accessKind(term: FieldCondition): IndexAccess['kind'] | undefined {
  switch (term.kind) {
    case 'compare':
      return ACCESS_KINDS[term.op]
    case 'in':
      return term.negated ? undefined : 'range'
    case 'regex':
      return literalPrefix(term.pattern, term.flags) === '' ? undefined : 'range'
    default:
      return unreachable(term)
  }
}

const ACCESS_KINDS: Readonly<Record<CompareOp, IndexAccess['kind'] | undefined>> = {
  $eq: 'value',
  $neq: undefined,
  $lt: 'range',
  $gt: 'range',
  $lte: 'range',
  $gte: 'range',
}

function ignoresCase(term: FieldCondition): boolean {
  return term.kind === 'regex' && term.flags.caseInsensitive
}
