/** Walks over resolved queries: what they look at, seen from the scopes around them, and copies with other parts. */
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
  mapQuery,
  nodesOf,
  opensScope,
  ownFieldsOf,
} from '../query.ts'
import { isJoined } from './joins.ts'
import type { FieldRef } from './scope.ts'

/** What is known of the scopes around a query, the innermost first; nothing is known beyond the end of the list. */
export type Scopes<S> = readonly (S | undefined)[]

/** The scopes around the queries inside a node; `joined` stands for the document that a reference joins. */
export function scopesInside<S>(query: Query<FieldRef>, scopes: Scopes<S>, joined: S): Scopes<S> {
  if (!opensScope(query)) return scopes
  switch (query.kind) {
    case 'elemMatch': {
      // Names inside climb from the array, wherever that is seen from.
      const holder = scopes[query.array.up]
      return [holder, ...passedScopes(query.array, holder), ...scopes.slice(query.array.up)]
    }
    case 'related':
      return [joined, ...passedScopes(query.reference, scopes[query.reference.up]), ...scopes]
    default:
      return unreachable(query)
  }
}

/** Every `*` on the way opens a scope of its own in the same document. */
export function passedScopes<S>({ steps }: Pick<FieldRef, 'steps'>, holder: S): readonly S[] {
  return steps.filter((step) => step === '*').map(() => holder)
}

/** Every field a query names, with what is known of the scope that it is looked up in. */
export function* scopedFields<S>(
  query: Query<FieldRef>,
  scopes: Scopes<S>,
  joined: S,
): Generator<{ readonly ref: FieldRef; readonly scope: S | undefined }> {
  for (const ref of ownFieldsOf(query)) yield { ref, scope: scopes[ref.up] }
  const inside = scopesInside(query, scopes, joined)
  for (const child of childrenOf(query)) yield* scopedFields(child, inside, joined)
}

/** Whether it names a field outside of its own scope; otherwise it can be asked of a document alone. */
export function looksOut(query: Query<FieldRef>): boolean {
  return scopedFields(query, ['inside'], 'inside').some(({ scope }) => scope === undefined)
}

/** Whether it asks about nothing in its own scope; of a query that follows references that is not known. */
export function looksOnlyOut(query: Query<FieldRef>): boolean {
  if (query.kind === 'related') return false
  const fields = ownFieldsOf(query)
  return fields.length > 0 ? fields.every(({ up }) => up > 0) : childrenOf(query).every(looksOnlyOut)
}

/** The parts that lead to other documents, those inside of others among them. */
export function relatedIn(query: Query<FieldRef>): IteratorObject<Related<FieldRef>> {
  return nodesOf(query).filter((node) => node.kind === 'related')
}

/** The query as it is asked from `by` scopes further in; only for queries that follow no reference. */
export function shifted(query: Query<FieldRef>, by: number): Query<FieldRef> {
  if (query.kind === 'related') {
    throw new Error('a query that follows references cannot be asked from elsewhere')
  }
  const own = mapOwnFields(query, (ref) => ({ ...ref, up: ref.up + by }))
  return opensScope(own) ? own : mapChildren(own, (child) => shifted(child, by))
}

export type Comparison<F> = Query<F> & { readonly kind: 'compare' }

/** The query with other comparisons in their places; what holds none that changes stays the very same. */
export function mapCompared<F>(
  query: Query<F>,
  change: (comparison: Comparison<F>) => Comparison<F>,
): Query<F> {
  return mapQuery(query, (node) => (node.kind === 'compare' ? change(node) : node))
}

/** The same text for queries that ask the same of the same documents; some that mean the same have different texts. */
export function queryKey(query: Query<FieldRef>, schema: Schema): string {
  return JSON.stringify([placeOf(schema), query], (_name, value: unknown) =>
    isRef(value) ? printRef(value) : value,
  )
}

function isRef(value: unknown): value is FieldRef {
  return typeof value === 'object' && value !== null && 'steps' in value && 'up' in value
}

/** How a request wrote it does not matter. */
function printRef({ up, steps, field }: FieldRef): Json {
  return [up, steps, printField(field)]
}

function printField(field: Field): Json {
  return isJoined(field) ? placeOf(field.join.schema) : field.kind === 'simple' ? field.type.name : field.kind
}

function placeOf({ entity, version, collection }: Schema): Json {
  return [collection.datasource, entity, version]
}
