/**
 * Queries as a closed union of plain data, generic in how they name a field: `Query<Named>` is what was parsed,
 * `Query<FieldRef>` what was resolved against a schema. `evaluate/match.ts` and `store/sql/where.ts` interpret it.
 */
import { unreachable } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import type { PatternFlags } from '../base/pattern.ts'

export type CompareOp = '$eq' | '$neq' | '$lt' | '$gt' | '$lte' | '$gte'
export type ContainsOp = '$any' | '$all' | '$none'

export type Query<F> =
  | { readonly kind: 'compare'; readonly field: F; readonly op: CompareOp; readonly value: Json }
  | { readonly kind: 'compareFields'; readonly field: F; readonly op: CompareOp; readonly rfield: F }
  | { readonly kind: 'in'; readonly field: F; readonly negated: boolean; readonly values: readonly Json[] }
  | { readonly kind: 'inField'; readonly field: F; readonly negated: boolean; readonly rfield: F }
  | { readonly kind: 'regex'; readonly field: F; readonly pattern: string; readonly flags: PatternFlags }
  | {
      readonly kind: 'contains'
      readonly array: F
      readonly op: ContainsOp
      readonly values: readonly Json[]
    }
  | { readonly kind: 'elemMatch'; readonly array: F; readonly query: Query<F> }
  | Related<F>
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
  readonly count?: { readonly op: CompareOp; readonly value: Json }
}

/** For those who read queries as they were written. */
export function neverWritten(_query: Related<Named>): never {
  throw new Error('only resolved queries tell of related documents')
}

/** A field as the request names it, with the place of the name for error messages. */
export interface Named {
  readonly path: string
  readonly at: string
}

/** Every field a query names, wherever it stands. */
export function* fieldsOf<F>(query: Query<F>): Generator<F> {
  switch (query.kind) {
    case 'compare':
    case 'in':
    case 'regex':
      yield query.field
      break
    case 'compareFields':
    case 'inField':
      yield query.field
      yield query.rfield
      break
    case 'contains':
      yield query.array
      break
    case 'elemMatch':
      yield query.array
      yield* fieldsOf(query.query)
      break
    case 'related':
      yield query.reference
      yield* fieldsOf(query.join)
      yield* fieldsOf(query.query)
      break
    case 'and':
    case 'or':
      for (const term of query.terms) yield* fieldsOf(term)
      break
    case 'not':
      yield* fieldsOf(query.term)
      break
    default:
      unreachable(query)
  }
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
      return { field: query.field.path, op: query.op, rvalue: query.value }
    case 'compareFields':
      return { field: query.field.path, op: query.op, rfield: query.rfield.path }
    case 'in':
      return { field: query.field.path, op: query.negated ? '$nin' : '$in', values: query.values }
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
