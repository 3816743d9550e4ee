/** What a query asks about, entity by entity: hidden fields are refused, and others are asked of readable documents only. */
import { ServiceError } from '../base/errors.ts'
import { isJoined } from '../lang/resolve/joins.ts'
import type { Projection } from '../lang/projection.ts'
import { type Query, type Related, allOf, fieldsOf, mapChildren, ownFieldsOf } from '../lang/query.ts'
import { type Scopes, scopesInside } from '../lang/resolve/query-walk.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Caller } from './caller.ts'
import type { Rule } from './conditions.ts'
import { requireEntity } from './require-entity.ts'
import { type View, viewOf } from './view.ts'

/** The documents of one entity that a query looks at, with the rules that its questions about them call for. */
export interface QueryAccess {
  readonly view: View
  readonly rules: Set<Rule>
  /** Those of other entities, to which references led from here. */
  readonly rulesElsewhere: Set<Rule>
}

export function queryAccessOf(view: View): QueryAccess {
  return { view, rules: new Set(), rulesElsewhere: new Set() }
}

/** The query with every referenced entity held to its own rules; `scopes` tells whose documents are seen, innermost first. */
export function allowedQuery(
  query: Query<FieldRef>,
  scopes: Scopes<QueryAccess>,
  caller: Caller,
): Query<FieldRef> {
  if (query.kind === 'related') return allowedRelated(query, scopes, caller)
  for (const field of ownFieldsOf(query)) requireReadable(field, scopes[field.up]!)
  // Elements stand in the document of their array.
  const inside = scopesInside(query, scopes, undefined)
  return mapChildren(query, (child) => allowedQuery(child, inside, caller))
}

function allowedRelated(
  related: Related<FieldRef>,
  scopes: Scopes<QueryAccess>,
  caller: Caller,
): Query<FieldRef> {
  const { reference } = related
  requireReadable(reference, scopes[reference.up]!)
  if (!isJoined(reference.field)) throw new Error('a reference that was not followed')
  const view = viewOf(reference.field.join.schema)(caller)
  requireEntity(view, ['find'], 'find')
  const own = queryAccessOf(view)
  const inside = scopesInside(related, scopes, own)
  const join = allowedQuery(related.join, inside, caller)
  const query = allowedQuery(related.query, inside, caller)
  const rules = new Set([...view.rulesFor('find'), ...own.rules])
  for (const rule of rules) scopes.at(-1)!.rulesElsewhere.add(rule)
  return { ...related, join: allOf([...rules, join]), query }
}

/** Asking about a field narrows the question to the documents in which it may be read; where that is none, it is refused. */
export function requireReadable(
  { field, path }: Pick<FieldRef, 'field' | 'path'>,
  { view, rules }: QueryAccess,
): void {
  const condition = view.conditionOn(field, 'find')
  if (condition === 'never') {
    throw new ServiceError('crud:NoAccess', `you may not read "${path}"`, { context: path })
  }
  for (const rule of condition) rules.add(rule)
}

/**
 * Naming a hidden field in a pattern is no question; matching or sorting elements by one is. Documents that references
 * show are without what is hidden in them before that, so that there only what is hidden in all of them is refused.
 */
export function requireReadableProjection(
  projection: Projection<FieldRef>,
  queryAccess: QueryAccess,
  caller: Caller,
): void {
  for (const field of projectedAbout(projection)) {
    requireReadable(field, field.of ? queryAccessOf(viewOf(field.of)(caller)) : queryAccess)
  }
}

function* projectedAbout(projection: Projection<FieldRef>): Generator<FieldRef> {
  for (const item of projection) {
    if (item.kind === 'field') continue
    if (item.kind === 'match') yield* fieldsOf(item.query)
    for (const key of item.sort) yield key.field
    yield* projectedAbout(item.projection)
  }
}
