/**
 * Names meet the schema: every path of a query, sort or array projection becomes a `FieldRef`, every literal the
 * stored form of its field's type. What cannot mean anything is refused here, before anything runs.
 */
import { ServiceError, unreachable } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { type Step, parsePath } from '../base/path.ts'
import {
  type ArrayField,
  type Element,
  type Field,
  type ObjectField,
  type SimpleField,
  isVirtual,
} from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { Projection, ProjectionItem } from './projection.ts'
import type { Named, Query } from './query.ts'
import type { SortKey } from './sort.ts'

/** A field seen from where a query stands: `up` scopes out, then `steps` down. */
export interface FieldRef {
  /** As the request wrote it. */
  readonly path: string
  readonly up: number
  readonly steps: readonly Step[]
  readonly field: Field
}

/**
 * Where names are looked up: the root of a document, or an element of an array that an outer scope holds. Each `*`
 * on the way to the array of an elemMatch opens a scope of its own, so `$parent` finds the element it passed.
 */
export interface Scope {
  readonly here: ObjectField | SimpleField
  readonly outer?: { readonly scope: Scope; readonly trail: readonly Waypoint[] }
}

interface Waypoint {
  readonly step: Step
  readonly field: Field
}

export function rootScope(schema: Schema): Scope {
  return { here: schema.root }
}

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

export function resolveField(named: Named, scope: Scope): FieldRef {
  const { up, trail, field } = walk(named, scope)
  if (isVirtual(field)) {
    throw invalid(`"${named.path}" is filled when a document is read, so it can only be projected`, named.at)
  }
  return { path: named.path, up, steps: trail.map(({ step }) => step), field }
}

/** The scope inside the elements of an array, with a scope for every `*` on the way. */
export function elementScope(named: Named, scope: Scope): Scope {
  const { scope: from, trail } = walk(named, scope)
  let inner = from
  let passed: Waypoint[] = []
  for (const waypoint of trail) {
    if (waypoint.step === '*') {
      inner = { here: waypoint.field as Element, outer: { scope: inner, trail: passed } }
      passed = []
    } else passed.push(waypoint)
  }
  const array = trail.at(-1)!.field as ArrayField
  return { here: array.element, outer: { scope: inner, trail: passed } }
}

interface Walk {
  readonly scope: Scope
  readonly up: number
  readonly trail: readonly Waypoint[]
  readonly field: Field
}

function walk(named: Named, start: Scope): Walk {
  let scope = start
  let up = 0
  let trail: Waypoint[] = []
  let field: Field = scope.here
  for (const step of parsePath(named.path, named.at)) {
    if (step === '$this') {
      if (field.kind === 'array') throw needsElement(named, field)
    } else if (step !== '$parent') {
      field = stepInto(field, step, named)
      trail.push({ step, field })
    } else if (trail.length > 0) {
      trail = parentOf(trail)
      field = trail.at(-1)?.field ?? scope.here
    } else if (scope.outer) {
      // The trail of an outer scope ends at the array; its holder is one step before.
      trail = scope.outer.trail.slice(0, -1)
      scope = scope.outer.scope
      up++
      field = trail.at(-1)?.field ?? scope.here
    } else {
      const message = `"${named.path}" climbs above the document`
      throw new ServiceError('metadata:InvalidFieldReference', message, { at: named.at })
    }
  }
  return { scope, up, trail, field }
}

/** One `$parent` from an element reaches the object that holds the array. */
function parentOf(trail: readonly Waypoint[]): Waypoint[] {
  const { step } = trail.at(-1)!
  const isElement = step === '*' || typeof step === 'number'
  return trail.slice(0, isElement ? -2 : -1)
}

function stepInto(field: Field, step: Step, named: Named): Field {
  const place = { at: named.at, context: named.path }
  if (field.kind === 'array') {
    if (step === '*' || typeof step === 'number') return field.element
    throw needsElement(named, field)
  }
  if (step === '*' || typeof step === 'number') {
    const message = `"${named.path}": "${field.name || 'the document'}" is no array`
    throw new ServiceError('metadata:InvalidArrayReference', message, place)
  }
  const child = field.kind === 'object' ? field.fields.get(step) : undefined
  if (child) return child
  throw new ServiceError(
    'metadata:InvalidFieldReference',
    `"${named.path}": there is no field "${step}"`,
    place,
  )
}

function needsElement(named: Named, field: ArrayField): ServiceError {
  const message = `"${named.path}": "${field.name}" is an array; say which element (an index) or any (*)`
  return new ServiceError('metadata:InvalidArrayReference', message, { at: named.at, context: named.path })
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
