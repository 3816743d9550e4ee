/**
 * Alternatives about the documents of one reference become one condition on these documents: some document has a, or some
 * document has b, exactly if some document has a or b. A database plans one subselect in place of many, which takes it time
 * and memory that grow faster than their number.
 */
import type { Query, Related } from '../lang/query.ts'
import { isJoined } from '../lang/resolve/joins.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Caller } from './caller.ts'
import { viewOf } from './view.ts'

/** The alternatives before row rules are added. Those inside a merged one are merged when it is authorized. */
export function mergeReferences(query: Alternatives, caller: Caller): Query<FieldRef> {
  const groups = new Map<string, Related<FieldRef>[]>()
  for (const term of query.terms) {
    if (!isMergeable(term, caller)) continue
    const key = keyOf(term)
    const group = groups.get(key)
    if (group) group.push(term)
    else groups.set(key, [term])
  }
  const repeated = [...groups.values()].filter(({ length }) => length > 1)
  if (repeated.length === 0) return query
  const merged = new Map(repeated.map((group) => [group[0]!, mergedFrom(group)]))
  const absorbed = new Set<Query<FieldRef>>(repeated.flatMap((group) => group.slice(1)))
  const terms = query.terms
    .filter((term) => !absorbed.has(term))
    .map((term) => (term.kind === 'related' && merged.get(term)) || term)
  return terms.length === 1 ? terms[0]! : { kind: 'or', terms }
}

type Alternatives = Query<FieldRef> & { readonly kind: 'or' | 'and' }

/** Row rules of fields narrow the documents by the fields that a term names, so terms about different ones differ. */
function isMergeable(term: Query<FieldRef>, caller: Caller): term is Related<FieldRef> {
  if (term.kind !== 'related' || term.count) return false
  const { field } = term.reference
  return isJoined(field) && viewOf(field.join.schema)(caller).visibilityOf === undefined
}

/** In one scope, the same steps lead to the same reference, and its definition is the same for all terms. */
function keyOf({ reference: { up, steps } }: Related<FieldRef>): string {
  return JSON.stringify([up, steps])
}

function mergedFrom(group: readonly Related<FieldRef>[]): Related<FieldRef> {
  return { ...group[0]!, query: { kind: 'or', terms: group.map(({ query }) => query) } }
}
