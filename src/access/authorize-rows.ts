/**
 * Authorizes the rows of an aggregation, and sort keys. Every field that they name must be readable, in the requested
 * documents and in those that references join; row rules of fields and entities narrow both.
 */
import { type Query, allOf } from '../lang/query.ts'
import type { Link, ResolvedAggregation } from '../lang/resolve/resolve-aggregate.ts'
import { type DocumentsLink, type FieldRef, linksOf } from '../lang/resolve/scope.ts'
import type { SortKey } from '../lang/sort.ts'
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
  const { scopes, narrowed } = openChain(aggregation.chain, access, caller)
  for (const each of [...aggregation.keys, ...aggregation.values]) {
    if ('field' in each) requireReadable(each.field, scopes[each.field.up]!)
  }
  const { chain, rules } = narrowed()
  return { aggregation: { ...aggregation, chain }, isNarrowed: rules.length > 0 }
}

/** The key, narrowed to what the caller may see of other documents; where that is nothing, it counts as null. */
export function allowedKey(key: SortKey<FieldRef>, access: QueryAccess, caller: Caller): SortKey<FieldRef> {
  const { field } = key
  if (!field.joined) {
    requireReadable(field, access)
    return key
  }
  const { scopes, narrowed } = openChain(linksOf(field.joined), access, caller)
  // A number of documents tells nothing of their fields, and its reference was checked with the others.
  if (!field.joined.counted) requireReadable(field, scopes[0]!)
  const { chain, rules } = narrowed()
  for (const rule of rules) access.referencedEntityRules.add(rule)
  const links = chain.slice(0, field.joined.links.length)
  const [counted] = chain.slice(links.length)
  return { ...key, field: { ...field, joined: { links, ...(counted && { counted }) } } }
}

interface OpenedChain<L extends Link> {
  /** Innermost first, as the scopes of a row. */
  readonly scopes: readonly QueryAccess[]
  /** The links with the row rules of their documents. To be called when all fields are checked: they add rules. */
  readonly narrowed: () => { readonly chain: readonly L[]; readonly rules: readonly Query<FieldRef>[] }
}

function openChain<L extends Link>(chain: readonly L[], access: QueryAccess, caller: Caller): OpenedChain<L> {
  const scopes: QueryAccess[] = [access]
  const opened = chain.map((link) => {
    const holder = scopes[0]!
    // The elements of an array belong to the document of the array.
    const own = link.kind === 'documents' ? accessTo(link, holder, caller) : holder
    scopes.unshift(own)
    if (link.kind === 'elements') return { link }
    return { link: { ...link, query: allowedQuery(link.query, [...scopes], caller) }, own }
  })
  return {
    scopes,
    narrowed: () => ({
      chain: opened.map(({ link, own }) => (own ? narrowedLink(link, own) : link)),
      rules: opened.flatMap(({ own }) => (own ? rulesOf(own) : [])),
    }),
  }
}

function accessTo({ reference }: DocumentsLink, holder: QueryAccess, caller: Caller): QueryAccess {
  requireReadable(reference, holder)
  const view = viewOf(reference.field.join.schema)(caller)
  requireEntity(view, ['find'], 'find')
  return queryAccessOf(view)
}

function narrowedLink<L extends Link>(link: L, own: QueryAccess): L {
  const rules = rulesOf(own)
  if (link.kind === 'elements' || rules.length === 0) return link
  return { ...link, query: allOf([...rules, link.query]) }
}

function rulesOf({ view, rules }: QueryAccess): readonly Query<FieldRef>[] {
  return [...new Set([...view.rulesFor('find'), ...rules])]
}
