/**
 * Authorizes queries, entity by entity. A query that names a hidden field is refused; a field with row rules narrows the
 * query to documents in which the caller may read it. Otherwise the matches would reveal the values of hidden fields.
 */
import { ServiceError } from '../base/errors.ts'
import { isJoined } from '../lang/resolve/joins.ts'
import type { Projection } from '../lang/projection.ts'
import { type Query, type Related, allOf, fieldsOf, mapChildren, ownFieldsOf } from '../lang/query.ts'
import { type Scopes, scopesInside } from '../lang/resolve/query-walk.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Field } from '../schema/field.ts'
import type { Caller } from './caller.ts'
import type { Rule } from './conditions.ts'
import { mergeReferences } from './merge-references.ts'
import { requireEntity } from './require-entity.ts'
import { type View, viewOf } from './view.ts'

/** The documents of one entity that a query reads, with the fields that it names and their row rules. */
export interface QueryAccess {
  readonly view: View
  readonly rules: Set<Rule>
  readonly fields: Set<Field>
  /** Row rules of other entities that the query reaches through references. */
  readonly referencedEntityRules: Set<Rule>
}

export function queryAccessOf(view: View): QueryAccess {
  return { view, rules: new Set(), fields: new Set(), referencedEntityRules: new Set() }
}

/**
 * The query with the row rules of every referenced entity added. `scopes` has the entity of each scope, innermost first;
 * the rules for the outermost entity are collected in its `QueryAccess`.
 */
export function allowedQuery(
  query: Query<FieldRef>,
  scopes: Scopes<QueryAccess>,
  caller: Caller,
): Query<FieldRef> {
  if (query.kind === 'related') return allowedRelated(query, scopes, caller)
  if (query.kind === 'or' || query.kind === 'and') {
    const merged = mergeReferences(query, caller)
    if (merged !== query) return allowedQuery(merged, scopes, caller)
  }
  for (const field of ownFieldsOf(query)) requireReadable(field, scopes[field.up]!)
  // The elements of an array belong to the document of the array.
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
  for (const rule of rules) scopes.at(-1)!.referencedEntityRules.add(rule)
  return { ...related, join: allOf([...rules, join]), query }
}

/** Adds the row rules of a field, or throws if the caller may not read the field in any document. */
export function requireReadable(
  { field, path }: Pick<FieldRef, 'field' | 'path'>,
  { view, rules, fields }: QueryAccess,
): void {
  fields.add(field)
  const condition = view.conditionOn(field, 'find')
  if (condition === 'never') {
    throw new ServiceError('crud:NoAccess', `you may not read "${path}"`, { context: path })
  }
  for (const rule of condition) rules.add(rule)
}

/**
 * A pattern may name a hidden field, because the field is left out of the response; matching or sorting elements by one
 * is refused, because the result would depend on it. Embedded documents are stripped of hidden fields before they are
 * projected, so there only fields that are hidden in all documents are refused, and row rules need not be added.
 */
export function requireReadableProjection(
  projection: Projection<FieldRef>,
  queryAccess: QueryAccess,
  caller: Caller,
): void {
  for (const field of fieldsUsedInProjection(projection)) {
    requireReadable(field, field.of ? queryAccessOf(viewOf(field.of)(caller)) : queryAccess)
  }
}

function* fieldsUsedInProjection(projection: Projection<FieldRef>): Generator<FieldRef> {
  for (const item of projection) {
    if (item.kind === 'field') continue
    if (item.kind === 'match') yield* fieldsOf(item.query)
    for (const key of item.sort) yield key.field
    yield* fieldsUsedInProjection(item.projection)
  }
}
