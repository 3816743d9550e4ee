/**
 * Queries as a closed union of plain data, generic in the type of a field: `Query<Named>` is parsed, `Query<FieldRef>`
 * is resolved against a schema. `evaluate/match.ts` and `store/sql/where.ts` interpret it. Code that only visits or
 * replaces nodes uses the functions below, so that a new node is described once.
 */
import { unreachable } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import type { PatternFlags } from '../base/pattern.ts'
import type { Language } from '../base/stemmers.ts'
import { type ListOperand, type Operand, literalOf, literalsOf } from './operand.ts'
import type { CompareOp, ContainsOp } from './operators.ts'
import type { SearchTerm } from './text-search.ts'

export type Query<F> = Clause<F> | ScopeQuery<F> | LogicalQuery<F>

/** A query without other queries inside. */
export type Clause<F> = ValueClause<F> | FieldPair<F> | TextSearch<F>

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

/** Words in the fields of an index. */
export interface TextSearch<F> {
  readonly kind: 'text'
  /** As the request writes it, and where. */
  readonly text: string
  readonly at: string
  readonly terms: readonly SearchTerm[]
  /** The name of the index; absent if the entity has only one. */
  readonly index?: string
  /** The language of the index, once the query is resolved: the terms then have stems. */
  readonly language?: Language
  /** The fields of the index; none before the query is resolved. */
  readonly fields: readonly F[]
  /** The weights of the fields. */
  readonly weights: readonly number[]
}

/** Opens scopes: names inside are resolved in an array element, or in a document that a reference joins. */
type ScopeQuery<F> = { readonly kind: 'elemMatch'; readonly array: F; readonly query: Query<F> } | Related<F>

type LogicalQuery<F> =
  | { readonly kind: 'and' | 'or'; readonly terms: readonly Query<F>[] }
  | { readonly kind: 'not'; readonly term: Query<F> }

/**
 * Holds if some document that a reference joins matches the query, or if the number of those documents satisfies
 * `count`. Requests name references like arrays; resolving turns such a name into this node. `join` selects the joined
 * documents. Both `join` and `query` are evaluated in the scope of a joined document, and each `*` on the path to the
 * reference is one outer scope.
 */
export interface Related<F> {
  readonly kind: 'related'
  readonly reference: F
  readonly join: Query<F>
  readonly query: Query<F>
  readonly count?: Count
}

/** A condition on a number of documents: a comparison, or a list of numbers. */
export type Count =
  | { readonly op: CompareOp; readonly value: Operand }
  | { readonly op: '$in'; readonly values: readonly Json[] }

/** For interpreters of parsed queries, which never contain this node. */
export function neverWritten(_query: Related<Named>): never {
  throw new Error('only resolved queries contain related documents')
}

/** A field as the request names it, with the JSON pointer to the name for error messages. */
export interface Named {
  readonly path: string
  readonly at: string
}

type KindOf<Q extends Query<unknown>> = Q['kind']

/** Adding a node to one of the groups above does not compile until it is listed here. */
const GROUPS: Readonly<
  Record<KindOf<ValueClause<unknown>>, 'value'> &
    Record<KindOf<FieldPair<unknown>>, 'pair'> &
    Record<KindOf<TextSearch<unknown>>, 'text'> &
    Record<KindOf<ScopeQuery<unknown>>, 'scope'> &
    Record<KindOf<LogicalQuery<unknown>>, 'logical'>
> = {
  compare: 'value',
  in: 'value',
  regex: 'value',
  contains: 'value',
  compareFields: 'pair',
  inField: 'pair',
  text: 'text',
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
  return isValueClause(query) || isFieldPair(query) || query.kind === 'text'
}

export function opensScope<F>(query: Query<F>): query is ScopeQuery<F> {
  return GROUPS[query.kind] === 'scope'
}

/** The fields that the node itself names, not those of the queries inside. */
export function ownFieldsOf<F>(query: Query<F>): readonly F[] {
  if ('rfield' in query) return [query.field, query.rfield]
  if ('field' in query) return [query.field]
  if ('array' in query) return [query.array]
  if ('fields' in query) return query.fields
  return 'reference' in query ? [query.reference] : namesNothing(query, [])
}

/** The node with its own fields replaced; child queries stay as they are. */
export function mapOwnFields<F>(query: Query<F>, change: (field: F) => F): Query<F> {
  if ('rfield' in query) return { ...query, field: change(query.field), rfield: change(query.rfield) }
  if ('field' in query) return { ...query, field: change(query.field) }
  if ('array' in query) return { ...query, array: change(query.array) }
  if ('fields' in query) return { ...query, fields: query.fields.map(change) }
  return 'reference' in query ? { ...query, reference: change(query.reference) } : namesNothing(query, query)
}

/** Does not compile for a node whose field has another key than those above. */
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
 * The node with its child queries replaced; the same object if no child changes. `isNegated` is true if the node holds
 * where the child does not.
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

/** The query with every node replaced, inner ones first; the same object if nothing changes. */
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

/** Every field that a query names, at any depth. */
export function* fieldsOf<F>(query: Query<F>): Generator<F> {
  for (const node of nodesOf(query)) yield* ownFieldsOf(node)
}

export const EVERY_DOCUMENT: Query<never> = { kind: 'and', terms: [] }
export const NO_DOCUMENT: Query<never> = { kind: 'or', terms: [] }

/** The conjunction of the terms. */
export function allOf<F>(terms: readonly Query<F>[]): Query<F> {
  return terms.length === 1 ? terms[0]! : { kind: 'and', terms }
}

/** The terms of a conjunction, flattened; a query of another kind is its only term. */
export function conjunctsOf<F>(query: Query<F>): readonly Query<F>[] {
  return query.kind === 'and' ? query.terms.flatMap(conjunctsOf) : [query]
}

/** Whether each alternative of an `or` has a conjunct for which this holds; false without alternatives. */
export function eachAlternativeHas<F>(
  { terms }: Query<F> & { readonly kind: 'or' | 'and' },
  holds: (conjunct: Query<F>) => boolean,
): boolean {
  return terms.length > 0 && terms.every((term) => conjunctsOf(term).some(holds))
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
    case 'text':
      return { text: query.text, ...(query.index !== undefined && { index: query.index }) }
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
