/**
 * Splits a query into the part to push down and the residual. A part that cannot be pushed down is replaced
 * by a constant that lets more documents through; evaluating the residual on those documents gives exactly
 * the matches.
 */
import {
  EVERY_DOCUMENT,
  NO_DOCUMENT,
  type Query,
  allOf,
  conjunctsOf,
  mapChildren,
  nodesOf,
} from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { mentionsOthers } from './joining.ts'

export interface Split {
  /** Matches at least the documents that the query matches; absent when that is every document. */
  readonly pushed?: Query<FieldRef>
  /** Has to be evaluated on each document read; absent when the pushed part is exact. */
  readonly residual?: Query<FieldRef>
}

export function split(query: Query<FieldRef>, canPush: (part: Query<FieldRef>) => boolean): Split {
  const terms = conjunctsOf(query)
  const residual = terms.filter((term) => !isAnswerable(term, canPush))
  if (residual.length === 0) return { pushed: query }
  if (residual.some(mentionsOthers)) throw new Error('a residual query cannot read related documents')
  const pushed = terms.map((term) => wider(term, canPush)).filter((term) => !isTrue(term))
  return {
    ...(pushed.length > 0 && { pushed: allOf(pushed) }),
    residual: allOf(residual),
  }
}

type CanPush = (part: Query<FieldRef>) => boolean

/** Whether the whole query can be pushed down. */
export function isAnswerable(query: Query<FieldRef>, canPush: CanPush): boolean {
  return nodesOf(query).every(canPush)
}

/**
 * A query that is true wherever the original is: parts that cannot be pushed become true, or false under a
 * negation.
 */
function wider(query: Query<FieldRef>, canPush: CanPush): Query<FieldRef> {
  return bounded(query, canPush, EVERY_DOCUMENT)
}

function bounded(query: Query<FieldRef>, canPush: CanPush, instead: Query<never>): Query<FieldRef> {
  if (!canPush(query)) return instead
  // Not widened inside: `split` throws when a residual has conditions on other documents.
  if (query.kind === 'related') return query
  return mapChildren(query, (child, isNegated) =>
    bounded(child, canPush, isNegated ? oppositeOf(instead) : instead),
  )
}

function oppositeOf(query: Query<never>): Query<never> {
  return query === EVERY_DOCUMENT ? NO_DOCUMENT : EVERY_DOCUMENT
}

function isTrue(query: Query<FieldRef>): boolean {
  return query.kind === 'and' && query.terms.every(isTrue)
}
