/**
 * What the engine can answer of a query, and whether that is all of it. A part that it cannot answer is taken for true
 * where that lets more documents through, so that the rest, asked of these documents again, gives exactly the matches.
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
  /** What has to be asked of each document that comes; absent when nothing has. */
  readonly residual?: Query<FieldRef>
}

export function split(query: Query<FieldRef>, canPush: (part: Query<FieldRef>) => boolean): Split {
  const terms = conjunctsOf(query)
  const residual = terms.filter((term) => !isAnswerable(term, canPush))
  if (residual.length === 0) return { pushed: query }
  if (residual.some(mentionsOthers)) throw new Error('documents cannot tell what others are related to them')
  const pushed = terms.map((term) => wider(term, canPush)).filter((term) => !isTrue(term))
  return {
    ...(pushed.length > 0 && { pushed: allOf(pushed) }),
    residual: allOf(residual),
  }
}

type CanPush = (part: Query<FieldRef>) => boolean

/** Whether no part of it is left over. */
export function isAnswerable(query: Query<FieldRef>, canPush: CanPush): boolean {
  return nodesOf(query).every(canPush)
}

/** Holds wherever the query holds: what cannot be pushed is taken for true, and for false under a negation. */
function wider(query: Query<FieldRef>, canPush: CanPush): Query<FieldRef> {
  return bounded(query, canPush, EVERY_DOCUMENT)
}

function bounded(query: Query<FieldRef>, canPush: CanPush, instead: Query<never>): Query<FieldRef> {
  if (!canPush(query)) return instead
  // Split above refuses what is left over of these.
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
