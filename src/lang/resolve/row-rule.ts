/**
 * Row rules: queries of the administrator in which `$caller.principal` and `$caller.claims.a.b` stand for what is known
 * of whoever asks. They are checked when metadata is written, and bound to a caller when somebody asks.
 */
import { ServiceError, unreachable } from '../../base/errors.ts'
import { type Json, isArray } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { parseQuery } from '../parse/parse-query.ts'
import { type ListOperand, type Operand, literalsOf } from '../operand.ts'
import {
  EVERY_DOCUMENT,
  type Named,
  type Query,
  type ValueClause,
  childrenOf,
  isValueClause,
  mapQuery,
  neverWritten,
} from '../query.ts'
import { resolveQuery } from './resolve.ts'
import { type FieldRef, type Scope, elementScope, resolveField } from './scope.ts'

/** What a placeholder stands for, told by its steps after `$caller`; undefined where nobody knows. */
export type CallerValues = (steps: readonly string[]) => Json | undefined

/** Refuses what cannot be asked; a placeholder may stand wherever a value may. */
export function checkRule(
  where: Json,
  at: string,
  { scope, limits }: { readonly scope: Scope; readonly limits: Limits },
): void {
  check(parseQuery(where, at, limits), scope)
}

/** The query for one caller. Undefined, for a rule that matches nothing: a value is missing, or fits no such field. */
export function bindRule(
  where: Json,
  values: CallerValues,
  { scope, limits }: { readonly scope: Scope; readonly limits: Limits },
): Query<FieldRef> | undefined {
  try {
    const bound = bind(parseQuery(where, '', limits), { values, limits })
    return bound && resolveQuery(bound, scope)
  } catch (error) {
    // Whatever it is that cannot be asked, nothing matches it.
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

const PLACEHOLDER = /^\$caller(?:$|\.)/

function isPlaceholder(value: Operand): value is string {
  return typeof value === 'string' && PLACEHOLDER.test(value)
}

function check(query: Query<Named>, scope: Scope): void {
  switch (query.kind) {
    case 'and':
    case 'or':
    case 'not':
      for (const child of childrenOf(query)) check(child, scope)
      break
    case 'elemMatch':
      resolveQuery({ ...query, query: EVERY_DOCUMENT }, scope)
      check(query.query, elementScope(query.array, scope))
      break
    case 'compare':
      if (isPlaceholder(query.value))
        checkPlaceholder(query.value, query.field, resolveField(query.field, scope))
      else resolveQuery(query, scope)
      break
    case 'in':
    case 'contains':
      checkListed(query, scope)
      break
    case 'regex':
      if (isPlaceholder(query.pattern))
        throw invalid('a pattern cannot be taken from the caller', query.field.at)
      resolveQuery(query, scope)
      break
    case 'compareFields':
    case 'inField':
      resolveQuery(query, scope)
      break
    case 'related':
      neverWritten(query)
      break
    default:
      unreachable(query)
  }
}

function checkListed(query: Query<Named> & { kind: 'in' | 'contains' }, scope: Scope): void {
  const values = literalsOf(query.values)
  resolveQuery({ ...query, values: values.filter((value) => !isPlaceholder(value)) }, scope)
  const named = query.kind === 'in' ? query.field : query.array
  const ref = resolveField(named, scope)
  const field = query.kind === 'contains' && ref.field.kind === 'array' ? ref.field.element : ref.field
  for (const value of values) {
    if (isPlaceholder(value)) checkPlaceholder(value, named, { ...ref, field })
  }
}

function checkPlaceholder(value: string, { at }: Named, { field, path }: FieldRef): void {
  const [, source, ...steps] = value.split('.')
  const isKnown = source === 'principal' ? steps.length === 0 : source === 'claims' && steps.length > 0
  if (!isKnown || steps.includes('')) {
    throw invalid(`"${value}" is not known; there are $caller.principal and $caller.claims with a path`, at)
  }
  if (field.kind === 'simple' && field.type.family !== undefined) return
  throw invalid(`"${path}" can only be compared with null`, at)
}

interface Binding {
  readonly values: CallerValues
  readonly limits: Limits
}

/** Undefined when a placeholder anywhere has no value: under a `$not`, half a rule would match too much. */
function bind(query: Query<Named>, binding: Binding): Query<Named> | undefined {
  let isComplete = true
  const bound = mapQuery(query, (node) => {
    const clause = isValueClause(node) ? bindClause(node, binding) : node
    isComplete &&= clause !== undefined
    return clause ?? node
  })
  return isComplete ? bound : undefined
}

function bindClause(query: ValueClause<Named>, binding: Binding): ValueClause<Named> | undefined {
  switch (query.kind) {
    case 'compare': {
      if (!isPlaceholder(query.value)) return query
      const value = valueOf(query.value, binding)
      return value === undefined ? undefined : { ...query, value }
    }
    case 'in':
    case 'contains': {
      const values = bindListed(query.values, binding)
      return values && { ...query, values }
    }
    case 'regex':
      return query
    default:
      return unreachable(query)
  }
}

/** A claim that is an array gives all its elements. A list that ends up empty matches nothing, whatever is asked of it. */
function bindListed(operand: ListOperand, binding: Binding): readonly Json[] | undefined {
  const listed = literalsOf(operand)
  if (!listed.some(isPlaceholder)) return listed
  const values: Json[] = []
  for (const each of listed) {
    const value = isPlaceholder(each) ? valueOf(each, binding) : each
    if (value === undefined) return undefined
    if (!isPlaceholder(each) || !isArray(value)) values.push(value)
    else if (value.includes(null)) return undefined
    else for (const element of value) values.push(element)
  }
  return values.length > 0 && values.length <= binding.limits.inValues ? values : undefined
}

/** Null is no value here: compared with it, a rule would match whatever has none. */
function valueOf(placeholder: string, { values }: Binding): Json | undefined {
  return values(placeholder.split('.').slice(1)) ?? undefined
}

function invalid(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at })
}
