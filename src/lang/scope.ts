/** Where names are looked up, and what they lead to: paths meet the fields of a schema here. */
import { ServiceError } from '../base/errors.ts'
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
import type { Named } from './query.ts'

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

export function resolveField(named: Named, scope: Scope): FieldRef {
  const { up, trail, field } = walk(named, scope)
  if (isVirtual(field)) {
    const message = `"${named.path}" is filled when a document is read, so it can only be projected`
    throw new ServiceError('query-api:InvalidQuery', message, { at: named.at })
  }
  return { path: named.path, up, steps: trail.map(({ step }) => step), field }
}

/** The objects that a path passes on its way, the innermost last. */
export function objectsOnTheWay(named: Named, scope: Scope): readonly (FieldRef & { field: ObjectField })[] {
  const { up, trail } = walk(named, scope)
  return trail.slice(0, -1).flatMap(({ field }, i) => {
    const steps = trail.slice(0, i + 1).map(({ step }) => step)
    return field.kind === 'object' ? [{ path: named.path, up, steps, field }] : []
  })
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
