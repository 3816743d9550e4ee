/**
 * Queries as a closed union of plain data, generic in how they name a field: `Query<Named>` is what was parsed,
 * `Query<FieldRef>` what was resolved against a schema. `evaluate/match.ts` and `store/sql/where.ts` interpret it;
 * code that only visits or replaces nodes uses the functions below, so that a new node is described here once.
 */
import { unreachable } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import type { PatternFlags } from '../base/pattern.ts'
import { type ListOperand, type Operand, literalOf, literalsOf } from './operand.ts'
import type { CompareOp, ContainsOp } from './operators.ts'

export type Query<F> = Clause<F> | ScopeQuery<F> | LogicalQuery<F>

/** A query without other queries inside. */
export type Clause<F> = ValueClause<F> | FieldPair<F>

/** One field against literals. */
export type ValueClause<F> =
  | { readonly kind: 'compare'; readonly field: F; readonly op: CompareOp; readonly value: Operand }
  | { readonly kind: 'in'; readonly field: F; readonly negated: boolean; readonly values: ListOperand }
  | { readonly kind: 'regex'; readonly field: F; readonly pattern: string; readonly flags: PatternFlags }
  | {
      readonly kind: 'contains'
      readonly array: F
      readonly op: ContainsOp
      readonly values: readonly Json[]
    }

/** One field against another. */
export type FieldPair<F> =
  | { readonly kind: 'compareFields'; readonly field: F; readonly op: CompareOp; readonly rfield: F }
  | { readonly kind: 'inField'; readonly field: F; readonly negated: boolean; readonly rfield: F }

/** Opens scopes: the names inside are looked up in an element, or in a document that a reference joins. */
export type ScopeQuery<F> =
  | { readonly kind: 'elemMatch'; readonly array: F; readonly query: Query<F> }
  | Related<F>

export type LogicalQuery<F> =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Query<F>[] }
  | { readonly kind: 'not'; readonly term: Query<F> }

/**
 * Of the documents that a reference joins some match the query, or as many as `count` says. Requests name references
 * as they name arrays; this is what such a name becomes once it is resolved. `join` tells which documents are joined;
 * it and the query are asked of each of them, in a scope around which every `*` on the way to the reference opens one.
 */
export interface Related<F> {
  readonly kind: 'related'
  readonly reference: F
  readonly join: Query<F>
  readonly query: Query<F>
  readonly count?: Count
}

/** What a number of documents is: compared with one, or among several. */
export type Count =
  | { readonly op: CompareOp; readonly value: Operand }
  | { readonly op: '$in'; readonly values: readonly Json[] }

/** For those who read queries as they were written. */
export function neverWritten(_query: Related<Named>): never {
  throw new Error('only resolved queries tell of related documents')
}

/** A field as the request names it, with the place of the name for error messages. */
export interface Named {
  readonly path: string
  readonly at: string
}

type KindOf<Q extends Query<unknown>> = Q['kind']

/** Adding a node to one of the groups above does not compile until it is listed here. */
const GROUPS: Readonly<
  Record<KindOf<ValueClause<unknown>>, 'value'> &
    Record<KindOf<FieldPair<unknown>>, 'pair'> &
    Record<KindOf<ScopeQuery<unknown>>, 'scope'> &
    Record<KindOf<LogicalQuery<unknown>>, 'logical'>
> = {
  compare: 'value',
  in: 'value',
  regex: 'value',
  contains: 'value',
  compareFields: 'pair',
  inField: 'pair',
  elemMatch: 'scope',
  related: 'scope',
  and: 'logical',
  or: 'logical',
  not: 'logical',
}

export function isValueClause<F>(query: Query<F>): query is ValueClause<F> {
  return GROUPS[query.kind] === 'value'
}

export function isFieldPair<F>(query: Query<F>): query is FieldPair<F> {
  return GROUPS[query.kind] === 'pair'
}

export function isClause<F>(query: Query<F>): query is Clause<F> {
  return isValueClause(query) || isFieldPair(query)
}

export function opensScope<F>(query: Query<F>): query is ScopeQuery<F> {
  return GROUPS[query.kind] === 'scope'
}

/** The fields that the node itself names, not those of the queries inside. */
export function ownFieldsOf<F>(query: Query<F>): readonly F[] {
  if ('rfield' in query) return [query.field, query.rfield]
  if ('field' in query) return [query.field]
  if ('array' in query) return [query.array]
  return 'reference' in query ? [query.reference] : namesNothing(query, [])
}

/** The same node with other fields of its own; the queries inside stay as they are. */
export function mapOwnFields<F>(query: Query<F>, change: (field: F) => F): Query<F> {
  if ('rfield' in query) return { ...query, field: change(query.field), rfield: change(query.rfield) }
  if ('field' in query) return { ...query, field: change(query.field) }
  if ('array' in query) return { ...query, array: change(query.array) }
  return 'reference' in query ? { ...query, reference: change(query.reference) } : namesNothing(query, query)
}

/** Does not compile for a node that keeps its field under another name than those above. */
function namesNothing<T>(_query: LogicalQuery<unknown>, result: T): T {
  return result
}

/** The queries directly inside. */
export function childrenOf<F>(query: Query<F>): readonly Query<F>[] {
  if (isClause(query)) return []
  switch (query.kind) {
    case 'elemMatch':
      return [query.query]
    case 'related':
      return [query.join, query.query]
    case 'and':
    case 'or':
      return query.terms
    case 'not':
      return [query.term]
    default:
      return unreachable(query)
  }
}

/**
 * The same node with other queries inside, and the very same object where none of them changes. `isNegated` tells that
 * the node holds where the child does not.
 */
export function mapChildren<F>(
  query: Query<F>,
  change: (child: Query<F>, isNegated: boolean) => Query<F>,
): Query<F> {
  if (isClause(query)) return query
  switch (query.kind) {
    case 'elemMatch': {
      const inner = change(query.query, false)
      return inner === query.query ? query : { ...query, query: inner }
    }
    case 'related': {
      const [join, inner] = [change(query.join, false), change(query.query, false)]
      return join === query.join && inner === query.query ? query : { ...query, join, query: inner }
    }
    case 'and':
    case 'or': {
      const terms = query.terms.map((term) => change(term, false))
      return terms.every((term, i) => term === query.terms[i]) ? query : { ...query, terms }
    }
    case 'not': {
      const term = change(query.term, true)
      return term === query.term ? query : { ...query, term }
    }
    default:
      return unreachable(query)
  }
}

/** The query with every node replaced, inner ones first; a query in which nothing changes stays the very same object. */
export function mapQuery<F>(query: Query<F>, change: (node: Query<F>) => Query<F>): Query<F> {
  return change(mapChildren(query, (child) => mapQuery(child, change)))
}

/** The query and every query inside of it, outer ones first, in the order in which they are written. */
export function* nodesOf<F>(query: Query<F>): Generator<Query<F>> {
  const pending = [query]
  for (let node = pending.pop(); node; node = pending.pop()) {
    yield node
    for (const child of childrenOf(node).toReversed()) pending.push(child)
  }
}

/** Every field a query names, wherever it stands. */
export function* fieldsOf<F>(query: Query<F>): Generator<F> {
  for (const node of nodesOf(query)) yield* ownFieldsOf(node)
}

export const EVERY_DOCUMENT: Query<never> = { kind: 'and', terms: [] }
export const NO_DOCUMENT: Query<never> = { kind: 'or', terms: [] }

/** All of them hold. */
export function allOf<F>(terms: readonly Query<F>[]): Query<F> {
  return terms.length === 1 ? terms[0]! : { kind: 'and', terms }
}

/** What must all hold for the query to hold. */
export function conjunctsOf<F>(query: Query<F>): readonly Query<F>[] {
  return query.kind === 'and' ? query.terms.flatMap(conjunctsOf) : [query]
}

/** The query in the form requests use, with the canonical spelling of operators. */
export function printQuery<F extends { readonly path: string }>(query: Query<F>): Json {
  switch (query.kind) {
    case 'compare':
      return { field: query.field.path, op: query.op, rvalue: literalOf(query.value) }
    case 'compareFields':
      return { field: query.field.path, op: query.op, rfield: query.rfield.path }
    case 'in':
      return { field: query.field.path, op: query.negated ? '$nin' : '$in', values: literalsOf(query.values) }
    case 'inField':
      return { field: query.field.path, op: query.negated ? '$nin' : '$in', rfield: query.rfield.path }
    case 'regex':
      return { field: query.field.path, regex: query.pattern, ...setFlags(query.flags) }
    case 'contains':
      return { array: query.array.path, contains: query.op, values: query.values }
    case 'elemMatch':
      return { array: query.array.path, elemMatch: printQuery(query.query) }
    case 'related':
      return { array: query.reference.path, elemMatch: printQuery(query.query) }
    case 'and':
    case 'or':
      return { [`$${query.kind}`]: query.terms.map(printQuery) }
    case 'not':
      return { $not: printQuery(query.term) }
    default:
      return unreachable(query)
  }
}

function setFlags(flags: PatternFlags): Record<string, boolean> {
  return Object.fromEntries(Object.entries(flags).filter(([, isSet]) => isSet))
}
