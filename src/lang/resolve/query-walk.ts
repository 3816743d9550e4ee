/** Walks over resolved queries: the fields they name, by scope, and copies with replaced parts. */
import { unreachable } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import type { Field } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  type Query,
  type Related,
  childrenOf,
  mapChildren,
  mapOwnFields,
  nodesOf,
  opensScope,
  ownFieldsOf,
} from '../query.ts'
import { isJoined } from './joins.ts'
import type { FieldRef } from './scope.ts'

/** Data about the scopes around a query, innermost first. Scopes beyond the end of the list are unknown. */
export type Scopes<S> = readonly (S | undefined)[]

/** The scopes around the child queries of a node. `joined` is the data for a document that a reference joins. */
export function scopesInside<S>(query: Query<FieldRef>, scopes: Scopes<S>, joined: S): Scopes<S> {
  if (!opensScope(query)) return scopes
  switch (query.kind) {
    case 'elemMatch': {
      // `$parent` inside climbs from the array, so scopes between the node and the array's holder are dropped.
      const holder = scopes[query.array.up]
      return [holder, ...passedScopes(query.array, holder), ...scopes.slice(query.array.up)]
    }
    case 'related':
      return [joined, ...passedScopes(query.reference, scopes[query.reference.up]), ...scopes]
    default:
      return unreachable(query)
  }
}

/** Every `*` on the path opens a scope in the same document. */
export function passedScopes<S>({ steps }: Pick<FieldRef, 'steps'>, holder: S): readonly S[] {
  return steps.filter((step) => step === '*').map(() => holder)
}

/** Every field that a query names, with the data of the scope in which it is resolved. */
export function* scopedFields<S>(
  query: Query<FieldRef>,
  scopes: Scopes<S>,
  joined: S,
): Generator<{ readonly ref: FieldRef; readonly scope: S | undefined }> {
  for (const ref of ownFieldsOf(query)) yield { ref, scope: scopes[ref.up] }
  const inside = scopesInside(query, scopes, joined)
  for (const child of childrenOf(query)) yield* scopedFields(child, inside, joined)
}

/** Whether the query names a field outside of its own scope. Otherwise a document alone decides it. */
export function looksOut(query: Query<FieldRef>): boolean {
  return scopedFields(query, ['inside'], 'inside').some(({ scope }) => scope === undefined)
}

/** Whether the query names fields of outer scopes only. False, to be safe, if it follows references. */
export function looksOnlyOut(query: Query<FieldRef>): boolean {
  if (query.kind === 'related') return false
  const fields = ownFieldsOf(query)
  return fields.length > 0 ? fields.every(({ up }) => up > 0) : childrenOf(query).every(looksOnlyOut)
}

/** All nodes that lead to other documents, nested ones included. */
export function relatedIn(query: Query<FieldRef>): IteratorObject<Related<FieldRef>> {
  return nodesOf(query).filter((node) => node.kind === 'related')
}

/** The query, evaluated from `by` scopes further in. Only for queries that follow no reference. */
export function shifted(query: Query<FieldRef>, by: number): Query<FieldRef> {
  if (query.kind === 'related') {
    throw new Error('a query that follows references cannot be asked from elsewhere')
  }
  const own = mapOwnFields(query, (ref) => ({ ...ref, up: ref.up + by }))
  return opensScope(own) ? own : mapChildren(own, (child) => shifted(child, by))
}

/** A cache key: equal for equal queries on the same entity. Equivalent queries may have different keys. */
export function queryKey(query: Query<FieldRef>, schema: Schema): string {
  return JSON.stringify([placeOf(schema), query], (_name, value: unknown) =>
    isRef(value) ? printRef(value) : value,
  )
}

function isRef(value: unknown): value is FieldRef {
  return typeof value === 'object' && value !== null && 'steps' in value && 'up' in value
}

/** The spelling of the path in the request is left out. */
function printRef({ up, steps, field }: FieldRef): Json {
  return [up, steps, printField(field)]
}

function printField(field: Field): Json {
  return isJoined(field) ? placeOf(field.join.schema) : field.kind === 'simple' ? field.type.name : field.kind
}

function placeOf({ entity, version, collection }: Schema): Json {
  return [collection.datasource, entity, version]
}
