/** Scopes, and the resolution of paths to fields of a schema. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { type Step, parsePath } from '../../base/path.ts'
import {
  type ArrayField,
  type Element,
  type Field,
  type ObjectField,
  type SimpleField,
  isVirtual,
} from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import {
  type CountField,
  type JoinedField,
  type Joins,
  countOf,
  isCount,
  isJoined,
  isShown,
} from './joins.ts'
import type { Named, Query, TextSearch } from '../query.ts'

/** A field relative to the scope of a query: `up` scopes out, then `steps` down. */
export interface FieldRef {
  /** The path as written in the request. */
  readonly path: string
  readonly up: number
  readonly steps: readonly Step[]
  readonly field: Field
  /** The schema of the embedded document that contains the field; absent outside of embedded documents. */
  readonly of?: Schema
  /** Present for the relevance of a document, which is no field: the text searches that decide it. */
  readonly score?: readonly TextSearch<FieldRef>[]
  /** Present in a sort for a value of other documents: `up` and `steps` begin in the last of them. */
  readonly joined?: JoinedValue
}

/** How references lead to a value of other documents. */
interface JoinedValue {
  /** Outermost first. Each joins one document to the one before. */
  readonly links: readonly DocumentsLink[]
  /** Present if the value is the number of documents that this reference joins to the last document. */
  readonly counted?: DocumentsLink
}

/** The documents that a reference joins to a document. */
export interface DocumentsLink {
  readonly kind: 'documents'
  /** From the scope outside to the object with the reference. */
  readonly steps: readonly Step[]
  readonly reference: FieldRef & { readonly field: JoinedField }
  /** Selects the joined documents, in the scope of a joined document. */
  readonly query: Query<FieldRef>
}

/** All references of a joined value, outermost first. */
export function linksOf({ links, counted }: JoinedValue): readonly DocumentsLink[] {
  return counted ? [...links, counted] : links
}

/** The references through which a sort leads. */
export function linksIn(sort: readonly { readonly field: FieldRef }[]): readonly DocumentsLink[] {
  return sort.flatMap(({ field }) => (field.joined ? linksOf(field.joined) : []))
}

/** Whether a sort reads other documents. */
export function sortsByOthers(sort: readonly { readonly field: FieldRef }[]): boolean {
  return sort.some(({ field }) => field.joined)
}

/**
 * Where names are resolved: the root of a document, or an element of an array in an outer scope. Each `*` on the path to
 * the array of an elemMatch opens a scope, so that `$parent` reaches the element that the path passed.
 */
export interface Scope {
  readonly here: ObjectField | SimpleField
  readonly outer?: {
    readonly scope: Scope
    readonly trail: readonly Waypoint[]
    /** The distance to that scope: more than 1 if other scopes were opened in between. */
    readonly hops: number
  }
  /** Resolves names inside joined documents. Without it, a name cannot pass a reference. */
  readonly joins?: Joins
  /** Resolves names of a row of results, which are no paths; it throws if there is no such name. */
  readonly result?: (named: Named) => FieldRef
}

/** A step of a path, and the field that it leads to. */
export interface Waypoint {
  readonly step: Step
  readonly field: Field
}

export function rootScope({ root }: Pick<Schema, 'root'>, joins?: Joins): Scope {
  return { here: root, ...(joins && { joins }) }
}

export function resolveField(named: Named, scope: Scope): FieldRef {
  if (scope.result) return scope.result(named)
  const walked = walk(named, scope)
  const { up, trail, field } = walked
  const isAway = isCount(field) || field.kind === 'reference' || trail.some((each) => isJoined(each.field))
  if (isAway) throw leadsAway(named)
  if (isVirtual(field)) {
    const message = `"${named.path}" is filled when a document is read, so it can only be projected`
    throw new ServiceError('query-api:InvalidQuery', message, { at: named.at })
  }
  const of = schemaAround(walked.scope, trail)
  return { path: named.path, up, steps: trail.map(({ step }) => step), field, ...(of && { of }) }
}

/** A field that is named outside of a query: where a query would be refused as such, the error has this code. */
export function resolveFieldAs(code: Code, named: Named, scope: Scope): FieldRef {
  return withCode(code, () => resolveField(named, scope))
}

/** Outside of a query, the errors of queries have another code. */
export function withCode<T>(code: Code, resolve: () => T): T {
  try {
    return resolve()
  } catch (error) {
    const isOfQuery = error instanceof ServiceError && error.code === 'query-api:InvalidQuery'
    throw isOfQuery ? error.as(code) : error
  }
}

/** The steps of a path from the document down; references are followed where the scope does. */
export function trailOf(named: Named, scope: Scope): readonly Waypoint[] {
  return walk(named, scope).trail
}

/** The objects that a path passes, innermost last. */
export function objectsOnTheWay(named: Named, scope: Scope): readonly (FieldRef & { field: ObjectField })[] {
  const { up, trail } = walk(named, scope)
  return trail.slice(0, -1).flatMap(({ field }, i) => {
    const steps = trail.slice(0, i + 1).map(({ step }) => step)
    return field.kind === 'object' ? [{ path: named.path, up, steps, field }] : []
  })
}

/** The scope inside the elements of an array, with an outer scope for every `*` on the path. */
export function elementScope(named: Named, scope: Scope): Scope {
  const { scope: from, trail } = walk(named, scope)
  return innerScope(from, trail, 1)
}

/** The scope inside the array at the end of the trail. `hops` is the distance of the first opened scope to `from`. */
function innerScope(from: Scope, trail: readonly Waypoint[], hops: number): Scope {
  const { joins } = from
  let outer = { scope: from, trail: [] as Waypoint[], hops }
  for (const waypoint of trail) {
    if (waypoint.step === '*') {
      const scope = { here: waypoint.field as Element, outer, ...(joins && { joins }) }
      outer = { scope, trail: [], hops: 1 }
    } else outer.trail.push(waypoint)
  }
  const array = trail.at(-1)!.field as ArrayField
  return { here: array.element, outer, ...(joins && { joins }) }
}

/**
 * The scope in a joined document; its outer scopes start at the root of the document with the reference. `path` leads from
 * there to the reference: an index in it opens no scope.
 */
export function joinedScope(
  { path: declared, element }: JoinedField,
  root: ObjectField,
  path = declared,
): Scope {
  const { scope, trail } = walk({ path, at: '' }, { here: root })
  const way = trail.slice(0, -1)
  const { step, field } = trail.at(-1)!
  return innerScope(scope, [...way, { step, field: { ...field, kind: 'array', element } }], 1)
}

/** A name that leads to the documents of a reference, or to fields of those documents. */
export interface Crossing {
  /** JSON pointer to the name, for error messages. */
  readonly at: string
  readonly reference: FieldRef & { readonly field: JoinedField }
  /** The scope in a joined document. */
  readonly inner: Scope
  /** The distance from `inner` to the scope in which the name was resolved. */
  readonly depth: number
  /** The rest of the name, inside each joined document; absent if the name ends at the reference. */
  readonly rest?: Named
  /** Present if the name is the number of documents (`orders#`). */
  readonly count?: CountField
}

/**
 * The first reference on the path of a name; undefined if the name stays in the document. `shift` is the number of
 * scopes that were opened inside `scope` since.
 */
export function crossing(named: Named, scope: Scope, shift = 0): Crossing | undefined {
  const { scope: from, up, trail, field } = walk(named, scope)
  const first = trail.findIndex((waypoint) => isJoined(waypoint.field))
  // A count inside joined documents is part of `rest`; the outer reference is crossed first.
  const count = first === -1 && isCount(field) ? field : undefined
  const joined = count
    ? [...trail.slice(0, -1), { step: count.counts.name, field: count.counts }]
    : trail.slice(0, first + 1)
  const last = joined.at(-1)?.field
  if (!last || !isJoined(last)) return undefined
  const [element, ...rest] = trail.slice(joined.length).map(({ step }) => step)
  if (typeof element === 'number') {
    const message = `"${named.path}": a query asks of any document of "${last.name}" (*), not of one by its place`
    throw new ServiceError('query-api:InvalidQuery', message, { at: named.at })
  }
  const steps = joined.map(({ step }) => step)
  return {
    at: named.at,
    reference: { path: named.path, up: up + shift, steps, field: last },
    inner: innerScope(from, joined, 1 + up + shift),
    depth: 1 + steps.filter((step) => step === '*').length,
    ...(element !== undefined && { rest: { path: rest.join('.') || '$this', at: named.at } }),
    ...(count && { count }),
  }
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
      field = follow(field, step, { scope, trail, named }) ?? stepInto(field, step, named)
      trail.push({ step, field })
    } else if (trail.length > 0) {
      trail = parentOf(trail)
      field = trail.at(-1)?.field ?? scope.here
    } else if (scope.outer) {
      // The trail of an outer scope ends at the array; the object that contains the array is one step before.
      trail = scope.outer.trail.slice(0, -1)
      up += scope.outer.hops
      scope = scope.outer.scope
      field = trail.at(-1)?.field ?? scope.here
    } else {
      const message = `"${named.path}" climbs above the document`
      throw new ServiceError('metadata:InvalidFieldReference', message, { at: named.at })
    }
  }
  return { scope, up, trail, field }
}

/** The field of a step to a reference or to its count, if the scope follows references. */
function follow(
  field: Field,
  step: Step,
  {
    scope,
    trail,
    named,
  }: { readonly scope: Scope; readonly trail: readonly Waypoint[]; readonly named: Named },
): Field | undefined {
  const { joins } = scope
  if (!joins || typeof step !== 'string' || field.kind !== 'object') return undefined
  const isCount = step.endsWith('#')
  const reference = field.fields.get(isCount ? step.slice(0, -1) : step)
  if (reference?.kind !== 'reference') return undefined
  const joined = joins.join(reference, { inside: joinedAround(scope, trail), named })
  return isCount ? countOf(joined) : joined
}

/** The innermost reference whose documents contain the end of the trail. */
function joinedAround(scope: Scope, trail: readonly Waypoint[]): JoinedField | undefined {
  const found = trail.findLast(({ field }) => isJoined(field))?.field
  if (found && isJoined(found)) return found
  return scope.outer && joinedAround(scope.outer.scope, scope.outer.trail)
}

/** The schema of the embedded documents that contain the end of the trail. */
function schemaAround(scope: Scope, trail: readonly Waypoint[]): Schema | undefined {
  const found = trail.findLast(({ field }) => isShown(field))?.field
  if (found && isShown(found)) return found.shows
  return scope.outer && schemaAround(scope.outer.scope, scope.outer.trail)
}

/** `$parent` of an element is the object that contains the array, not the array. */
function parentOf(trail: readonly Waypoint[]): Waypoint[] {
  const { step } = trail.at(-1)!
  const isElement = step === '*' || typeof step === 'number'
  return trail.slice(0, isElement ? -2 : -1)
}

function stepInto(field: Field, step: Step, named: Named): Field {
  const place = { at: named.at, context: named.path }
  if (field.kind === 'reference') throw leadsAway(named)
  if (field.kind === 'array') {
    if (step === '*' || typeof step === 'number') return field.element
    throw needsElement(named, field)
  }
  if (step === '*' || typeof step === 'number') {
    const message = `"${named.path}": "${field.name || 'the document'}" is not an array`
    throw new ServiceError('metadata:InvalidArrayReference', message, place)
  }
  const child = field.kind === 'object' ? field.fields.get(step) : undefined
  if (child) return child
  throw new ServiceError(
    'metadata:InvalidFieldReference',
    named.path === step ? `there is no field "${step}"` : `"${named.path}": there is no field "${step}"`,
    place,
  )
}

function leadsAway(named: Named): ServiceError {
  const message = `"${named.path}" leads to other documents, which cannot be used here`
  return new ServiceError('query-api:InvalidQuery', message, { at: named.at })
}

function needsElement(named: Named, field: ArrayField): ServiceError {
  const message = `"${named.path}": "${field.name}" is an array; say which element (an index) or any (*)`
  return new ServiceError('metadata:InvalidArrayReference', message, { at: named.at, context: named.path })
}
