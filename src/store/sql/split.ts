/**
 * What the engine can answer of a query, and whether that is all of it. A part that it cannot answer is taken for true
 * where that lets more documents through, so that the rest, asked of these documents again, gives exactly the matches.
 */
import { unreachable } from '../../base/errors.ts'
import { EVERY_DOCUMENT, NO_DOCUMENT, type Query, allOf, conjunctsOf } from '../../lang/query.ts'
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
  return canPush(query) && partsOf(query).every((part) => isAnswerable(part, canPush))
}

function partsOf(query: Query<FieldRef>): readonly Query<FieldRef>[] {
  if (query.kind === 'and' || query.kind === 'or') return query.terms
  if (query.kind === 'not') return [query.term]
  if (query.kind === 'related') return [query.join, query.query]
  return query.kind === 'elemMatch' ? [query.query] : []
}

/** Holds wherever the query holds. */
function wider(query: Query<FieldRef>, canPush: CanPush): Query<FieldRef> {
  return bounded(query, canPush, EVERY_DOCUMENT)
}

/** Holds only where the query holds. */
function narrower(query: Query<FieldRef>, canPush: CanPush): Query<FieldRef> {
  return bounded(query, canPush, NO_DOCUMENT)
}

function bounded(query: Query<FieldRef>, canPush: CanPush, instead: Query<FieldRef>): Query<FieldRef> {
  if (!canPush(query)) return instead
  switch (query.kind) {
    case 'and':
    case 'or':
      return { ...query, terms: query.terms.map((term) => bounded(term, canPush, instead)) }
    case 'not':
      return { ...query, term: (instead === EVERY_DOCUMENT ? narrower : wider)(query.term, canPush) }
    case 'related':
      return query
    case 'elemMatch':
      return { ...query, query: bounded(query.query, canPush, instead) }
    case 'compare':
    case 'in':
    case 'regex':
    case 'compareFields':
    case 'inField':
    case 'contains':
      return query
    default:
      return unreachable(query)
  }
}

function isTrue(query: Query<FieldRef>): boolean {
  return query.kind === 'and' && query.terms.every(isTrue)
}
