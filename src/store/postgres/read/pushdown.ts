/** Which parts of a query the database evaluates. The rest is the residual, which the service evaluates in memory. */
import { memoized } from '../../../base/memo.ts'
import { type Query, childrenOf } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import { postgresPattern } from '../../sql/pattern/postgres-pattern.ts'
import { type Split, isAnswerable, split } from '../../sql/split.ts'
import { wasRefused } from './refused.ts'

interface Pushdown {
  readonly split: (query: Query<FieldRef>) => Split
  /** Whether the query can be pushed down completely. */
  readonly answers: (query: Query<FieldRef>) => boolean
  /** Whether one statement may read the documents of several collections. */
  readonly canJoin: boolean
}

type CanPush = (part: Query<FieldRef>) => boolean

function pushdown(canPush: CanPush, canJoin: boolean): Pushdown {
  const isPushable: CanPush = (part) => !wasRefused(part) && canPush(part)
  const splitOnce = memoized((query: Query<FieldRef>) => split(query, isPushable))
  const answersOnce = memoized((query: Query<FieldRef>) => isAnswerable(query, isPushable))
  return {
    split: (query) => (wasRefused(query) ? { residual: query } : splitOnce(query)),
    answers: (query) => !wasRefused(query) && answersOnce(query),
    canJoin,
  }
}

/** Regular expressions are pushed down only where PostgreSQL's dialect gives them the same meaning. */
const hasSameMeaning: CanPush = (part) =>
  part.kind !== 'regex' || postgresPattern(part.pattern, part.flags) !== undefined

const ON_ONE_SERVER = pushdown(hasSameMeaning, true)

/**
 * Citus refuses sub-selects inside of sub-selects. A path through nested arrays is one sub-select (`isFlat`), but other
 * loops over arrays inside of each other are not. Of joins in sub-selects it refuses some and gives wrong results for
 * others, so joined documents are read separately.
 */
const isPushedToCluster: CanPush = (part) => hasSameMeaning(part) && (isLogical(part) || loopsIn(part) <= 1)

const ON_CLUSTER = pushdown(isPushedToCluster, false)

/** Columns of words cover only current documents. */
const isOfPast: CanPush = ({ kind }) => kind !== 'text'

const PAST_ON_CLUSTER = pushdown((part) => isOfPast(part) && isPushedToCluster(part), false)
const PAST_ON_ONE_SERVER = pushdown((part) => isOfPast(part) && hasSameMeaning(part), true)

export function pushdownTo({ isDistributed }: { readonly isDistributed: boolean }, asOf?: number): Pushdown {
  if (asOf !== undefined) return isDistributed ? PAST_ON_CLUSTER : PAST_ON_ONE_SERVER
  return isDistributed ? ON_CLUSTER : ON_ONE_SERVER
}

/** These have no loops of their own, and each of their terms is decided by itself. */
function isLogical({ kind }: Query<FieldRef>): boolean {
  return kind === 'and' || kind === 'or' || kind === 'not'
}

/** How many sub-selects for loops over arrays the query has inside of each other. */
function loopsIn(query: Query<FieldRef>): number {
  switch (query.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      return Math.min(stars(query.field), 1)
    case 'compareFields':
      // Whole arrays are compared element by element.
      return (
        stars(query.field) + stars(query.rfield) + (isArray(query.field) || isArray(query.rfield) ? 1 : 0)
      )
    case 'inField':
      // The other side is an array, whose elements are compared.
      return stars(query.field) + stars(query.rfield) + 1
    case 'contains':
      return query.op === '$all' || query.values.includes(null) ? stars(query.array) + 1 : 1
    case 'elemMatch':
      return 1 + loopsIn(query.query)
    case 'text':
      return 0
    case 'related':
      return Infinity
    case 'and':
    case 'or':
    case 'not':
      return childrenOf(query).reduce((most, each) => Math.max(most, loopsIn(each)), 0)
  }
}

function isArray({ field }: FieldRef): boolean {
  return field.kind === 'array'
}

function stars({ steps }: FieldRef): number {
  return steps.filter((step) => step === '*').length
}
