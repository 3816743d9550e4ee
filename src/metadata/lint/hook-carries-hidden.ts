/**
 * Warns about hooks that carry hidden fields: readers of events see only fields they may read, so they get
 * less than declared.
 */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray, pointer } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { EVERYTHING, type Projection } from '../../lang/projection.ts'
import type { Named } from '../../lang/query.ts'
import { compileIncludes } from '../../lang/resolve/projected-fields.ts'
import { resolveProjection } from '../../lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../lang/resolve/scope.ts'
import { type Field, isComputed } from '../../schema/field.ts'
import { NO, type Ranks } from '../../schema/reach.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { type Hook, isWatching } from '../documents/hooks.ts'
import type { Finding } from '../finding.ts'
import { type Subject, listed, quoted, rolesOf } from './subject.ts'

export function* hookCarriesHidden(subject: Subject): Generator<Finding> {
  const { info, schemas } = subject
  if (info.hooks.length === 0) return
  const hidden = schemas.map((schema) => hiddenIn(subject, schema))
  const all = new Map<string, Field>()
  for (const own of hidden) for (const [key, field] of own) all.set(key, field)
  if (all.size === 0) return
  for (const [i, hook] of info.hooks.entries()) {
    if (!isWatching(hook)) continue
    const carriedIn = carrying(hook, all)
    for (const [version, schema] of schemas.entries()) {
      const carried = carriedIn(schema, hidden[version]!)
      if (carried.length > 0) yield createFinding(subject, schema, { hook, i, carried })
    }
  }
}

/**
 * Simple fields and arrays of simple values, keyed by the properties that decide whether a projection
 * includes them.
 */
type Leaves = ReadonlyMap<string, Field>

/** The leaves that some readers of documents may not read. */
function hiddenIn({ reaches }: Subject, schema: Schema): Leaves {
  const documents = reaches.ranks(schema, 'find')
  const hidesSome = memoized((find: Ranks) => find.some((_, index) => isHidden(find, documents, index)))
  const leaves = new Map<string, Field>()
  for (const field of allFields(schema.root.fields)) {
    if (!isLeaf(field) || isComputed(field) || field.path === 'objectType') continue
    if (!hidesSome(reaches.ranks(schema, 'find', field))) continue
    leaves.set(field.kind === 'array' ? `${field.path}.*` : field.path, field)
  }
  return leaves
}

function isHidden(find: Ranks, documents: Ranks, index: number): boolean {
  return documents[index] !== NO && find[index] === NO
}

function isLeaf(field: Field): boolean {
  return field.kind === 'simple' || (field.kind === 'array' && field.element.kind === 'simple')
}

/**
 * Selects the hidden leaves of a version that the hook carries; without a projection the hook watches all
 * fields.
 */
function carrying(
  { watchProjection, includeProjection }: Hook,
  all: Leaves,
): (schema: Schema, hidden: Leaves) => readonly Field[] {
  const watched = isAbsent(watchProjection) ? EVERYTHING : parsed(watchProjection!)
  const projections = [watched, isAbsent(includeProjection) ? [] : parsed(includeProjection!)]
  if (projections.flat().some(({ kind }) => kind !== 'field')) {
    return (schema, hidden) => {
      const tests = projections.map((each) => compileIncludes(resolved(each, schema)))
      return [...hidden.values()].filter((field) => tests.some((isIncluded) => isIncluded(field)))
    }
  }
  // Plain paths mean the same in every version, so they are evaluated once for all versions.
  const tests = projections.map(compileIncludes)
  const carried = new Set(
    [...all].filter(([, field]) => tests.some((isIncluded) => isIncluded(field))).map(([key]) => key),
  )
  return (_schema, hidden) => {
    if (carried.isDisjointFrom(hidden)) return []
    return [...hidden].filter(([key]) => carried.has(key)).map(([, field]) => field)
  }
}

function isAbsent(projection: Json | undefined): boolean {
  return projection === undefined || (isArray(projection) && projection.length === 0)
}

function parsed(projection: Json): Projection<Named> {
  return unlessRefused(() => parseProjection(projection, ''))
}

/** A projection applies to all versions; one that is invalid for this version includes none of its fields. */
function resolved(projection: Projection<Named>, schema: Schema): Projection<FieldRef> {
  return unlessRefused(() => resolveProjection(projection, rootScope(schema)))
}

function unlessRefused<F>(make: () => Projection<F>): Projection<F> {
  try {
    return make()
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}

function createFinding(
  { reaches }: Subject,
  schema: Schema,
  { hook, i, carried }: { readonly hook: Hook; readonly i: number; readonly carried: readonly Field[] },
): Finding {
  const documents = reaches.ranks(schema, 'find')
  const finds = [...new Set(carried.map((field) => reaches.ranks(schema, 'find', field)))]
  const blind = rolesOf(reaches, (index) => finds.some((find) => isHidden(find, documents, index)))
  const isChosen = !isAbsent(hook.watchProjection)
  return {
    severity: isChosen ? 'warning' : 'hint',
    code: 'hook-carries-hidden',
    at: pointer('/entityInfo/hooks', i),
    version: schema.version,
    msg:
      `the hook "${hook.name}" ${isChosen ? 'names' : 'watches everything, also'} ` +
      `${quoted(carried.map(({ path }) => path))}, which ${listed(blind)} may not read: their events come without ` +
      'it, or not at all; leave it out of the projections, or make a second hook for those who may read it',
  }
}
