/**
 * Conditions on the documents of one reference become one condition on these documents, where that means the same: some
 * document has a, or some document has b, exactly if some document has a or b; and no document has a, and no document has
 * b, exactly if no document has a or b. A database plans one subselect in place of many, which takes it time and memory
 * that grow faster than their number.
 */
import type { Query, Related } from '../lang/query.ts'
import { isJoined } from '../lang/resolve/joins.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Caller } from './caller.ts'
import { viewOf } from './view.ts'

/** The terms before row rules are added. Those inside a merged one are merged when it is authorized. */
export function mergeReferences(query: Terms, caller: Caller): Query<FieldRef> {
  const groups = new Map<string, Mergeable[]>()
  for (const term of query.terms) {
    const related = MERGED_IN[query.kind](term)
    if (!related || !isMergeable(related, caller)) continue
    const key = keyOf(related)
    const group = groups.get(key)
    if (group) group.push({ term, related })
    else groups.set(key, [{ term, related }])
  }
  const repeated = [...groups.values()].filter(({ length }) => length > 1)
  if (repeated.length === 0) return query
  const merged = new Map(repeated.map((group) => [group[0]!.term, mergedFrom(group)]))
  const absorbed = new Set(repeated.flatMap((group) => group.slice(1).map(({ term }) => term)))
  const terms = query.terms.filter((term) => !absorbed.has(term)).map((term) => merged.get(term) ?? term)
  return terms.length === 1 ? terms[0]! : { kind: query.kind, terms }
}

type Terms = Query<FieldRef> & { readonly kind: 'or' | 'and' }

interface Mergeable {
  readonly term: Query<FieldRef>
  /** The term, or what it denies. */
  readonly related: Related<FieldRef>
}

const MERGED_IN: Readonly<Record<Terms['kind'], (term: Query<FieldRef>) => Related<FieldRef> | undefined>> = {
  or: (term) => (term.kind === 'related' ? term : undefined),
  and: (term) => (term.kind === 'not' && term.term.kind === 'related' ? term.term : undefined),
}

/** Row rules of fields narrow the documents by the fields that a term names, so terms about different ones differ. */
function isMergeable({ count, reference: { field } }: Related<FieldRef>, caller: Caller): boolean {
  return (
    count === undefined && isJoined(field) && viewOf(field.join.schema)(caller).visibilityOf === undefined
  )
}

/** In one scope, the same steps lead to the same reference, and its definition is the same for all terms. */
function keyOf({ reference: { up, steps } }: Related<FieldRef>): string {
  return JSON.stringify([up, steps])
}

function mergedFrom(group: readonly Mergeable[]): Query<FieldRef> {
  const [{ term, related }] = group as readonly [Mergeable, ...Mergeable[]]
  const some = {
    ...related,
    query: { kind: 'or', terms: group.map(({ related: { query } }) => query) },
  } as const
  return term.kind === 'not' ? { kind: 'not', term: some } : some
}
