/** Readers of events see what they may read of a document: a hook that carries more promises them too much. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray, pointer } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { EVERYTHING, type Projection } from '../../lang/projection.ts'
import { compileIncludes } from '../../lang/resolve/projected-fields.ts'
import { resolveProjection } from '../../lang/resolve/resolve.ts'
import { type FieldRef, rootScope } from '../../lang/resolve/scope.ts'
import { type Field, isComputed } from '../../schema/field.ts'
import { NO, type Ranks } from '../../schema/reach.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Hook } from '../documents/hooks.ts'
import { type Finding, type Subject, listed, quoted, rolesOf } from './subject.ts'

export function* hookCarriesHidden(subject: Subject): Generator<Finding> {
  for (const [i, hook] of subject.info.hooks.entries()) {
    for (const schema of subject.schemas) yield* judged(subject, schema, { hook, i })
  }
}

function* judged(
  subject: Subject,
  schema: Schema,
  { hook, i }: { readonly hook: Hook; readonly i: number },
): Generator<Finding> {
  const { reaches } = subject
  const documents = reaches.ranks(schema, 'find')
  const findOf = (field: Field): Ranks => reaches.ranks(schema, 'find', field)
  const isHidden = (find: Ranks, index: number): boolean => documents[index] !== NO && find[index] === NO
  const hidesSome = memoized((find: Ranks) => find.some((_, index) => isHidden(find, index)))
  const hidden = carriedBy(hook, schema, (field) => hidesSome(findOf(field)))
  if (hidden.length === 0) return
  const finds = [...new Set(hidden.map(findOf))]
  const blind = rolesOf(reaches, (index) => finds.some((find) => isHidden(find, index)))
  const isChosen = !isAbsent(hook.watchProjection)
  yield {
    severity: isChosen ? 'warning' : 'hint',
    code: 'hook-carries-hidden',
    at: pointer('/entityInfo/hooks', i),
    version: schema.version,
    msg:
      `the hook "${hook.name}" ${isChosen ? 'names' : 'watches everything, also'} ` +
      `${quoted(hidden.map(({ path }) => path))}, which ${listed(blind)} may not read: their events come without ` +
      'it, or not at all; leave it out of the projections, or make a second hook for those who may read it',
  }
}

/** Of those that are wanted: simple fields, and arrays of simple values; without a choice all of them are watched. */
function carriedBy(
  { watchProjection, includeProjection }: Hook,
  schema: Schema,
  isWanted: (field: Field) => boolean,
): readonly Field[] {
  const watched = isAbsent(watchProjection) ? EVERYTHING : resolved(watchProjection!, schema)
  const further = isAbsent(includeProjection) ? [] : resolved(includeProjection!, schema)
  const leaves = [...allFields(schema.root.fields)].filter(
    (field) => isLeaf(field) && !isComputed(field) && field.path !== 'objectType' && isWanted(field),
  )
  const [isWatched, isFurther] = [compileIncludes(watched), compileIncludes(further)]
  return leaves.filter((field) => isWatched(field) || isFurther(field))
}

function isLeaf(field: Field): boolean {
  return field.kind === 'simple' || (field.kind === 'array' && field.element.kind === 'simple')
}

function isAbsent(projection: Json | undefined): boolean {
  return projection === undefined || (isArray(projection) && projection.length === 0)
}

/** A projection is for all versions; one that makes no sense for this one carries nothing of it. */
function resolved(projection: Json, schema: Schema): Projection<FieldRef> {
  try {
    return resolveProjection(parseProjection(projection, ''), rootScope(schema))
  } catch (error) {
    if (error instanceof ServiceError) return []
    throw error
  }
}
