/**
 * Resolves queries, sorts and array projections against a schema: every path becomes a `FieldRef`, and every literal is
 * cast to the stored form of its field's type. Invalid requests are refused here, before anything runs.
 */
import { ServiceError, unreachable } from '../../base/errors.ts'
import {
  castList,
  castOperand,
  castValues,
  invalidQuery,
  requireArray,
  requireShallow,
  requireText,
} from './checks.ts'
import type { Projection, ProjectionItem } from '../projection.ts'
import { isShown } from './joins.ts'
import { isNegative } from '../operators.ts'
import { EVERY_DOCUMENT, type Named, type Query, neverWritten } from '../query.ts'
import { resolveAcross } from './resolve-across.ts'
import { resolveJoined } from './resolve-joined.ts'
import { resolvePair } from './resolve-pair.ts'
import { SCORE, resolveScore } from './resolve-score.ts'
import { resolveText } from './resolve-text.ts'
import { type FieldRef, type Scope, elementScope, resolveField, resolveFieldAs, withCode } from './scope.ts'
import type { SortKey } from '../sort.ts'

export function resolveQuery(query: Query<Named>, scope: Scope): Query<FieldRef> {
  return (scope.joins && resolveAcross(query, scope, resolveQuery)) ?? resolveHere(query, scope)
}

function resolveHere(query: Query<Named>, scope: Scope): Query<FieldRef> {
  switch (query.kind) {
    case 'compare':
      return resolveCompare(query, scope)
    case 'in': {
      const field = resolveField(query.field, scope)
      return { ...query, field, values: castList(query.values, field, query.field.at) }
    }
    case 'regex': {
      const field = resolveField(query.field, scope)
      requireText(field, query.field.at)
      return { ...query, field }
    }
    case 'compareFields':
    case 'inField':
      return resolvePair(
        query,
        { named: query.field, scope, shift: 0 },
        { named: query.rfield, scope, shift: 0 },
      )
    case 'contains': {
      const array = resolveField(query.array, scope)
      const element = requireArray(array, query.array.at).element
      if (element.kind !== 'simple')
        throw invalidQuery(`"${array.path}" holds objects; use elemMatch`, query.array.at)
      return {
        ...query,
        array,
        values: castValues(query.values, { ...array, field: element }, query.array.at),
      }
    }
    case 'text':
      return resolveText(query, scope)
    case 'elemMatch': {
      const array = resolveField(query.array, scope)
      requireArray(array, query.array.at)
      const inner = elementScope(query.array, scope)
      requireShallow(inner, query.array.at)
      return { ...query, array, query: resolveQuery(query.query, inner) }
    }
    case 'and':
    case 'or':
      return { kind: query.kind, terms: query.terms.map((term) => resolveQuery(term, scope)) }
    case 'not':
      return { kind: 'not', term: resolveQuery(query.term, scope) }
    case 'related':
      return neverWritten(query)
    default:
      return unreachable(query)
  }
}

/** With `searched`, a resolved query, the sort may be by relevance. Where the scope follows references, so may the sort. */
export function resolveSort(
  sort: readonly SortKey<Named>[],
  scope: Scope,
  searched?: { readonly query?: Query<FieldRef> },
): readonly SortKey<FieldRef>[] {
  return sort.map((key) => {
    if (searched && key.field.path === SCORE)
      return { ...key, field: resolveScore(key.field, searched.query) }
    const field = sortedBy(key.field, scope)
    if (field.field.kind === 'simple' && field.field.type.family !== undefined) return { ...key, field }
    const message = `"${field.path}" has no order to sort by`
    throw new ServiceError('query-api:InvalidSort', message, { at: key.field.at })
  })
}

function sortedBy(named: Named, scope: Scope): FieldRef {
  return withCode(
    'query-api:InvalidSort',
    () => (scope.joins && resolveJoined(named, scope, resolveQuery)) ?? resolveField(named, scope),
  )
}

export function resolveProjection(projection: Projection<Named>, scope: Scope): Projection<FieldRef> {
  return projection.flatMap((item): readonly ProjectionItem<FieldRef>[] => {
    if (item.kind === 'field') return [item]
    const array = knownField(item.array, scope)
    if (!array) return []
    if (array.field.kind !== 'array') {
      const message = `"${array.path}" is not an array, so it has no elements to select`
      throw new ServiceError('query-api:InvalidProjection', message, { at: item.array.at })
    }
    const inner = elementScope(item.array, scope)
    const shared = {
      array,
      projection: resolveProjection(item.projection, inner),
      sort: resolveSort(item.sort, inner),
    }
    if (item.kind === 'match') return [{ ...item, ...shared, query: resolveQuery(item.query, inner) }]
    return [{ ...item, ...shared }]
  })
}

/** An unknown field in a projection is ignored like a hidden one, so that the two cannot be distinguished. */
function knownField(named: Named, scope: Scope): FieldRef | undefined {
  try {
    return resolveFieldAs('query-api:InvalidProjection', named, scope)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'metadata:InvalidFieldReference') return undefined
    throw error
  }
}

function resolveCompare(query: Query<Named> & { kind: 'compare' }, scope: Scope): Query<FieldRef> {
  const field = resolveField(query.field, scope)
  if (query.value === null && isShown(field.field)) return hasDocuments(field, isNegative(query.op))
  if (query.value === null) return { ...query, field }
  return { ...query, field, value: castOperand(query.value, field, query.field.at) }
}

/** Whether an embedded reference has documents. */
function hasDocuments(array: FieldRef, wanted: boolean): Query<FieldRef> {
  const some: Query<FieldRef> = { kind: 'elemMatch', array, query: EVERY_DOCUMENT }
  return wanted ? some : { kind: 'not', term: some }
}
