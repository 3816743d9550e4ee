/**
 * The one place that reads roles. A request goes in as it was asked and comes out as this caller may have it: hidden
 * fields may not be asked *about* (refused) and are not told *of* (left out). Plans accept nothing else.
 */
import { ServiceError } from '../base/errors.ts'
import { memoized } from '../base/memo.ts'
import { parsePath } from '../base/path.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import { fieldsOf } from '../lang/query.ts'
import type { FieldRef } from '../lang/scope.ts'
import { fieldsOfUpdate } from '../lang/resolve-update.ts'
import type { Field, FieldOperation, Fields } from '../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { type Caller, admits } from './caller.ts'
import type {
  AllowedChange,
  AllowedFind,
  AllowedInsert,
  AllowedSave,
  ChangeRequest,
  Find,
  Insert,
  SaveRequest,
  Select,
} from './requests.ts'

declare const authorized: unique symbol
/** Only this module makes one. */
export type Authorized<T> = T & { readonly [authorized]: true }

export function authorizeFind(find: Find, caller: Caller): Authorized<AllowedFind> {
  requireEntity(find.schema, ['find'], caller, 'find')
  requireReadable(askedAbout(find), find.schema, caller)
  return grant({ ...find, ...sight(find, caller) })
}

export function authorizeInsert(insert: Insert, caller: Caller): Authorized<AllowedInsert> {
  requireEntity(insert.schema, ['insert'], caller, 'insert')
  requireReadable(projectedAbout(insert.projection), insert.schema, caller)
  return grant({ ...insert, ...sight(insert, caller), ...writeSight(insert.schema, caller) })
}

export function authorizeUpdate(request: ChangeRequest, caller: Caller): Authorized<AllowedChange> {
  const { schema, query, update, projection } = request
  requireEntity(schema, ['update'], caller, 'update')
  const { copied, seen, targets } = fieldsOfUpdate(update)
  const asked = [...fieldsOf(query), ...copied, ...seen, ...projectedAbout(projection)]
  requireReadable(asked, schema, caller)
  for (const source of copied) requireReadableBelow(source, schema, caller)
  const allowed = { ...request, ...sight(request, caller), ...writeSight(schema, caller) }
  return grant({ ...allowed, hiddenTargets: targets.filter(({ field }) => allowed.isHidden(field)) })
}

export function authorizeSave(request: SaveRequest, caller: Caller): Authorized<AllowedSave> {
  requireEntity(request.schema, request.upsert ? ['update', 'insert'] : ['update'], caller, 'save')
  requireReadable(projectedAbout(request.projection), request.schema, caller)
  return grant({ ...request, ...sight(request, caller), ...writeSight(request.schema, caller) })
}

export function authorizeDelete(request: Select & { readonly atomic: boolean }, caller: Caller) {
  requireEntity(request.schema, ['delete'], caller, 'delete')
  requireReadable(fieldsOf(request.query), request.schema, caller)
  return grant(request)
}

/** Generating needs any of read, insert and update: it tells nothing of stored documents. */
export function authorizeGenerate(schema: Schema, caller: Caller): void {
  const operations = ['find', 'insert', 'update'] as const
  if (operations.some((operation) => admits(schema.access[operation], caller))) return
  throw new ServiceError('crud:NoAccess', `you may not generate values for ${schema.entity}`)
}

/** The entity's list and every list on the way down to the field must admit the caller. */
function mayAccess(field: Field, operation: FieldOperation, { schema, caller }: View): boolean {
  return (
    admits(schema.access[operation], caller) && field.roles[operation].every((list) => admits(list, caller))
  )
}

interface View {
  readonly schema: Schema
  readonly caller: Caller
}

function requireEntity(
  schema: Schema,
  operations: readonly EntityOperation[],
  caller: Caller,
  verb: string,
): void {
  if (operations.every((operation) => admits(schema.access[operation], caller))) return
  throw new ServiceError('crud:NoAccess', `you may not ${verb} documents of ${schema.entity}`)
}

function requireReadable(asked: Iterable<FieldRef>, schema: Schema, caller: Caller): void {
  for (const { field, path } of asked) {
    if (mayAccess(field, 'find', { schema, caller })) continue
    throw new ServiceError('crud:NoAccess', `you may not read "${path}"`, { context: path })
  }
}

function* askedAbout({ query, projection, sort }: Find): Generator<FieldRef> {
  if (query) yield* fieldsOf(query)
  for (const key of sort) yield key.field
  yield* projectedAbout(projection)
}

/** Naming a hidden field in a pattern is no question; matching or sorting elements by one is. */
function* projectedAbout(projection: Projection<FieldRef>): Generator<FieldRef> {
  for (const item of projection) {
    if (item.kind === 'field') continue
    if (item.kind === 'match') yield* fieldsOf(item.query)
    for (const key of item.sort) yield key.field
    yield* projectedAbout(item.projection)
  }
}

function writeSight(schema: Schema, caller: Caller) {
  const view = { schema, caller }
  return {
    mayInsert: (field: Field) => mayAccess(field, 'insert', view),
    mayUpdate: (field: Field) => mayAccess(field, 'update', view),
    isHidden: (field: Field) => !mayAccess(field, 'find', view),
  }
}

/** A copy of a container would bring hidden members to light. */
function requireReadableBelow({ field, path }: FieldRef, schema: Schema, caller: Caller): void {
  const below = field.kind === 'object' ? field.fields : elementFields(field)
  if (!below || allFields(below).every((each) => mayAccess(each, 'find', { schema, caller }))) return
  throw new ServiceError('crud:NoAccess', `"${path}" holds fields that you may not read`, { context: path })
}

function elementFields(field: Field): Fields | undefined {
  return field.kind === 'array' && field.element.kind === 'object' ? field.element.fields : undefined
}

interface Sighted {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
}

/** Exclusions go last: in a projection list the last opinion wins. */
function sight({ schema, projection }: Sighted, caller: Caller) {
  const { hidden, showsId } = viewOf(schema)(caller)
  return { projection: hidden.length === 0 ? projection : [...projection, ...hidden], showsId }
}

/** What a caller sees of a schema; both live long, and the answer is asked for with every request. */
const viewOf = memoized((schema: Schema) =>
  memoized((caller: Caller) => ({
    hidden: hiddenFields(schema, caller),
    showsId: mayAccess(schema.root.fields.get('_id')!, 'find', { schema, caller }),
  })),
)

function hiddenFields(schema: Schema, caller: Caller): readonly ProjectionItem<never>[] {
  const exclusions: ProjectionItem<never>[] = []
  for (const field of allFields(schema.root.fields)) {
    if (mayAccess(field, 'find', { schema, caller })) continue
    exclusions.push({ kind: 'field', pattern: parsePath(field.path, ''), include: false, recursive: true })
  }
  return exclusions
}

function grant<T>(value: T): Authorized<T> {
  return value as Authorized<T>
}
