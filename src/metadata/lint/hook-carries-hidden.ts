/** Readers of events see what they may read of a document: a hook that carries more promises them too much. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, isArray, pointer } from '../../base/json.ts'
import { parseProjection } from '../../lang/parse-projection.ts'
import { EVERYTHING, type Projection } from '../../lang/projection.ts'
import { includes } from '../../lang/reach.ts'
import { resolveProjection } from '../../lang/resolve.ts'
import { type FieldRef, rootScope } from '../../lang/scope.ts'
import { type Field, isServerMade } from '../../schema/field.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import type { Hook } from '../hooks.ts'
import { type Finding, type Subject, listed, quoted, reachTo } from './subject.ts'

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
  const readers = subject.roles.filter((role) => reachTo(subject, schema, [role, 'find']) !== 'no')
  const carried = carriedBy(hook, schema)
  const isHidden = (role: string, { path }: Field): boolean =>
    reachTo(subject, schema, [role, 'find', path]) === 'no'
  const hidden = carried.filter((field) => readers.some((role) => isHidden(role, field)))
  if (hidden.length === 0) return
  const blind = readers.filter((role) => hidden.some((field) => isHidden(role, field)))
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

/** Simple fields, and arrays of simple values; without a choice all of them are watched. */
function carriedBy({ watchProjection, includeProjection }: Hook, schema: Schema): readonly Field[] {
  const watched = isAbsent(watchProjection) ? EVERYTHING : resolved(watchProjection!, schema)
  const further = isAbsent(includeProjection) ? [] : resolved(includeProjection!, schema)
  const leaves = [...allFields(schema.root.fields)].filter(
    (field) => isLeaf(field) && !isServerMade(field) && field.path !== 'objectType',
  )
  return leaves.filter((field) => includes(watched, field) || includes(further, field))
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
