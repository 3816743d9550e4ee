/**
 * Row rules: queries in metadata with the placeholders `$caller.principal` and `$caller.claims.a.b` for values of the
 * caller. They are checked when metadata is written, and bound to a caller for each request.
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
import { invalidQuery } from './checks.ts'
import { resolveQuery } from './resolve.ts'
import { type FieldRef, type Scope, elementScope, resolveField } from './scope.ts'

/** The value of a placeholder, by its steps after `$caller`; undefined if the caller has none. */
export type CallerValues = (steps: readonly string[]) => Json | undefined

/** Throws if the rule is invalid. A placeholder may replace any value. */
export function checkRule(
  where: Json,
  at: string,
  { scope, limits }: { readonly scope: Scope; readonly limits: Limits },
): void {
  check(parseQuery(where, at, limits), scope)
}

/** The query for one caller. Undefined if it can match nothing: a value is missing, or does not fit its field. */
export function bindRule(
  where: Json,
  values: CallerValues,
  { scope, limits }: { readonly scope: Scope; readonly limits: Limits },
): Query<FieldRef> | undefined {
  try {
    const bound = bind(parseQuery(where, '', limits), { values, limits })
    return bound && resolveQuery(bound, scope)
  } catch (error) {
    // Fail closed: a rule that cannot be resolved matches nothing.
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
        throw invalidQuery('a pattern cannot be taken from the caller', query.field.at)
      resolveQuery(query, scope)
      break
    case 'text':
      throw invalidQuery(
        'a row rule cannot search text, because its index may be removed; compare fields',
        query.at,
      )
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
    throw invalidQuery(
      `"${value}" is not known; there are $caller.principal and $caller.claims with a path`,
      at,
    )
  }
  if (field.kind === 'simple' && field.type.family !== undefined) return
  throw invalidQuery(`"${path}" can only be compared with null`, at)
}

interface Binding {
  readonly values: CallerValues
  readonly limits: Limits
}

/** Undefined if any placeholder has no value: a partial rule under `$not` would match too many documents. */
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

/**
 * Replaces a claim that is an array by its elements. Undefined, so that the whole rule matches nothing, if the list
 * becomes empty (`$nin`, `$none` and `$all` of an empty list would match too much), is too long, or contains null.
 */
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

/** Null counts as no value: a comparison with it would match every document without the field. */
function valueOf(placeholder: string, { values }: Binding): Json | undefined {
  return values(placeholder.split('.').slice(1)) ?? undefined
}
