/**
 * Authorizes the rows of an aggregation. Every field that it names must be readable, in the requested documents and in
 * those that references join; row rules of fields and entities narrow both.
 */
import { type Query, allOf } from '../lang/query.ts'
import type { Link, ResolvedAggregation } from '../lang/resolve/resolve-aggregate.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import { type QueryAccess, allowedQuery, queryAccessOf, requireReadable } from './authorize-query.ts'
import type { Caller } from './caller.ts'
import { requireEntity } from './require-entity.ts'
import { viewOf } from './view.ts'

interface AllowedRows {
  readonly aggregation: ResolvedAggregation
  readonly isNarrowed: boolean
}

/** Row rules of fields of the requested documents are added to `access`. */
export function allowedRows(
  aggregation: ResolvedAggregation,
  access: QueryAccess,
  caller: Caller,
): AllowedRows {
  // Innermost first, as the scopes of a row. The elements of an array belong to the document of the array.
  const scopes: QueryAccess[] = [access]
  const links = aggregation.chain.map((link): Opened => {
    const holder = scopes[0]!
    const own = link.kind === 'documents' ? accessTo(link, holder, caller) : holder
    scopes.unshift(own)
    if (link.kind === 'elements') return { link }
    return { link: { ...link, query: allowedQuery(link.query, [...scopes], caller) }, own }
  })
  for (const each of [...aggregation.keys, ...aggregation.values]) {
    if ('field' in each) requireReadable(each.field, scopes[each.field.up]!)
  }
  // Only now are the rules of all fields known.
  const chain = links.map(({ link, own }) =>
    own && link.kind === 'documents' ? narrowedLink(link, own) : link,
  )
  const isNarrowed = links.some(({ own }) => own && rulesOf(own).length > 0)
  return { aggregation: { ...aggregation, chain }, isNarrowed }
}

interface Opened {
  readonly link: Link
  /** Present for the documents of a reference. */
  readonly own?: QueryAccess
}

function accessTo(
  { reference }: Extract<Link, { readonly kind: 'documents' }>,
  holder: QueryAccess,
  caller: Caller,
): QueryAccess {
  requireReadable(reference, holder)
  const view = viewOf(reference.field.join.schema)(caller)
  requireEntity(view, ['find'], 'find')
  return queryAccessOf(view)
}

function narrowedLink(link: Extract<Link, { readonly kind: 'documents' }>, own: QueryAccess): Link {
  const rules = rulesOf(own)
  return rules.length === 0 ? link : { ...link, query: allOf([...rules, link.query]) }
}

function rulesOf({ view, rules }: QueryAccess): readonly Query<FieldRef>[] {
  return [...new Set([...view.rulesFor('find'), ...rules])]
}
