/**
 * Names meet the schema: every path of a query, sort or array projection becomes a `FieldRef`, every literal the
 * stored form of its field's type. What cannot mean anything is refused here, before anything runs.
 */
import { ServiceError, unreachable } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { ArrayField, SimpleField } from '../schema/field.ts'
import type { Projection, ProjectionItem } from './projection.ts'
import type { Named, Query } from './query.ts'
import { type FieldRef, type Scope, elementScope, resolveField } from './scope.ts'
import type { SortKey } from './sort.ts'

export function resolveQuery(query: Query<Named>, scope: Scope): Query<FieldRef> {
  switch (query.kind) {
    case 'compare':
      return resolveCompare(query, scope)
    case 'in': {
      const field = resolveField(query.field, scope)
      return { ...query, field, values: castValues(query.values, field, query.field.at) }
    }
    case 'regex': {
      const field = resolveField(query.field, scope)
      requireText(field, query.field.at)
      return { ...query, field }
    }
    case 'compareFields': {
      const [field, rfield] = resolvePair(query, scope)
      return { ...query, field, rfield }
    }
    case 'inField':
      return resolveInField(query, scope)
    case 'contains': {
      const array = resolveField(query.array, scope)
      const element = requireArray(array, query.array.at).element
      if (element.kind !== 'simple')
        throw invalid(`"${array.path}" holds objects; use elemMatch`, query.array.at)
      return {
        ...query,
        array,
        values: castValues(query.values, { ...array, field: element }, query.array.at),
      }
    }
    case 'elemMatch': {
      const array = resolveField(query.array, scope)
      requireArray(array, query.array.at)
      const inner = elementScope(query.array, scope)
      requireShallow(inner, query.array.at)
      return { ...query, array, query: resolveQuery(query.query, inner) }
    }
    case 'and':
    case 'or':
      return { kind: query.kind, terms: query.terms.map((term) => resolveQuery(term, scope)) }
    case 'not':
      return { kind: 'not', term: resolveQuery(query.term, scope) }
    default:
      return unreachable(query)
  }
}

export function resolveSort(sort: readonly SortKey<Named>[], scope: Scope): readonly SortKey<FieldRef>[] {
  return sort.map((key) => {
    const field = resolveField(key.field, scope)
    if (field.field.kind === 'simple' && field.field.type.family !== undefined) return { ...key, field }
    const message = `"${field.path}" has no order to sort by`
    throw new ServiceError('query-api:InvalidSort', message, { at: key.field.at })
  })
}

export function resolveProjection(projection: Projection<Named>, scope: Scope): Projection<FieldRef> {
  return projection.flatMap((item): readonly ProjectionItem<FieldRef>[] => {
    if (item.kind === 'field') return [item]
    const array = knownField(item.array, scope)
    if (!array) return []
    if (array.field.kind !== 'array') {
      const message = `"${array.path}" is no array, so it has no elements to select`
      throw new ServiceError('query-api:InvalidProjection', message, { at: item.array.at })
    }
    const inner = elementScope(item.array, scope)
    const shared = {
      array,
      projection: resolveProjection(item.projection, inner),
      sort: resolveSort(item.sort, inner),
    }
    if (item.kind === 'match') return [{ ...item, ...shared, query: resolveQuery(item.query, inner) }]
    return [{ ...item, ...shared }]
  })
}

/** A projection that names a field the schema does not have returns nothing for it, as for one that is hidden. */
function knownField(named: Named, scope: Scope): FieldRef | undefined {
  try {
    return resolveField(named, scope)
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'metadata:InvalidFieldReference') return undefined
    throw error
  }
}

function resolveCompare(query: Query<Named> & { kind: 'compare' }, scope: Scope): Query<FieldRef> {
  const field = resolveField(query.field, scope)
  if (query.value === null) return { ...query, field }
  return { ...query, field, value: castValue(query.value, field, query.field.at) }
}

function castValues(values: readonly Json[], ref: FieldRef, at: string): readonly Json[] {
  return values.map((value) => (value === null ? null : castValue(value, ref, at)))
}

function castValue(value: Json, { field, path }: FieldRef, at: string): Json {
  if (field.kind !== 'simple' || field.type.family === undefined) {
    throw invalid(`"${path}" can only be compared with null`, at)
  }
  const cast = field.type.cast(value)
  if (cast !== undefined) return cast
  const message = `"${path}" is of type ${field.type.name}; the value given is not`
  throw new ServiceError('metadata:IncompatibleValue', message, { at, context: path })
}

/** Every scope is a loop inside the loops around it. */
function requireShallow(scope: Scope, at: string): void {
  let depth = 0
  for (let each: Scope | undefined = scope; each; each = each.outer?.scope) depth++
  if (depth <= MAX_SCOPES) return
  throw new ServiceError('crud:LimitExceeded', `elemMatch may nest at most ${MAX_SCOPES} deep`, { at })
}

const MAX_SCOPES = 10

function requireText({ field, path }: FieldRef, at: string): void {
  if (field.kind !== 'simple' || field.type.family !== 'text') {
    throw invalid(`"${path}" is no text that a pattern could match`, at)
  }
}

function requireArray({ field, path }: FieldRef, at: string): ArrayField {
  if (field.kind === 'array') return field
  throw invalid(`"${path}" is no array`, at)
}

function resolvePair(
  query: { readonly field: Named; readonly rfield: Named },
  scope: Scope,
): readonly [FieldRef, FieldRef] {
  const field = resolveField(query.field, scope)
  const rfield = resolveField(query.rfield, scope)
  const left = simpleFamily(field, query.field.at)
  if (left !== simpleFamily(rfield, query.rfield.at)) {
    throw invalid(`"${field.path}" and "${rfield.path}" are of types that do not compare`, query.rfield.at)
  }
  return [field, rfield]
}

/** Arrays of simple values compare as wholes; everything else must be one simple value. */
function simpleFamily({ field, path }: FieldRef, at: string): SimpleField['type']['family'] {
  const value = field.kind === 'array' ? field.element : field
  if (value.kind === 'simple' && value.type.family !== undefined) return value.type.family
  throw invalid(`"${path}" is no simple value and no array of those`, at)
}

function resolveInField(query: Query<Named> & { kind: 'inField' }, scope: Scope): Query<FieldRef> {
  const [field, rfield] = resolvePair(query, scope)
  if (field.field.kind !== 'simple') throw invalid(`"${field.path}" must be a simple value`, query.field.at)
  requireArray(rfield, query.rfield.at)
  return { ...query, field, rfield }
}

function invalid(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidQuery', message, { at })
}
