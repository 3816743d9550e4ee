/**
 * Rewrites a resolved request so that it does only what the caller may do. A hidden field in a query or sort is refused;
 * a hidden field in a result is left out. Plans accept only `Authorized` requests, so no request bypasses this module.
 */
import { ServiceError } from '../base/errors.ts'
import type { Projection } from '../lang/projection.ts'
import type { Query } from '../lang/query.ts'
import { createConditionCount } from '../lang/query-size.ts'
import { fieldsOfUpdate } from '../lang/resolve/resolve-update.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { Field, FieldOperation, Fields } from '../schema/field.ts'
import { type EntityOperation, type Schema, allFields } from '../schema/schema.ts'
import { allowedQuery, requireReadable, requireReadableProjection, queryAccessOf } from './authorize-query.ts'
import { allowedKey, allowedRows } from './authorize-rows.ts'
import type { Caller } from './caller.ts'
import { requireFewInAggregate, requireFewInFind } from './condition-count.ts'
import { ALWAYS, type Rules, holds, narrowed } from './conditions.ts'
import { allowedJoins, isNarrowedJoin } from './joins.ts'
import { requireEntity } from './require-entity.ts'
import type {
  Aggregate,
  AllowedAggregate,
  AllowedChange,
  AllowedDelete,
  AllowedFind,
  AllowedInsert,
  AllowedSave,
  ChangeRequest,
  DeleteRequest,
  Find,
  Insert,
  SaveRequest,
  Rendering,
  Visibility,
  WriteVisibility,
} from './requests.ts'
import { type View, viewOf } from './view.ts'

declare const authorized: unique symbol
/** A request that was authorized. Only this module creates values of this type. */
export type Authorized<T> = T & { readonly [authorized]: true }

export function authorizeFind(find: Find, caller: Caller): Authorized<AllowedFind> {
  const view = viewOf(find.schema)(caller)
  requireEntity(view, ['find'], 'find')
  const queryAccess = queryAccessOf(view)
  const own = find.query && allowedQuery(find.query, [queryAccess], caller)
  const sort = find.sort.map((key) => allowedKey(key, queryAccess, caller))
  requireReadableProjection(find.projection, queryAccess, caller)
  const rules = [...view.rulesFor('find'), ...queryAccess.rules]
  const query = narrowed(own, rules)
  const { visibilityOf } = view
  const { references } = find
  const joins = references && allowedJoins(references.followed, view, caller)
  const allowed: AllowedFind = {
    ...find,
    ...(query && { query }),
    sort,
    isNarrowed:
      rules.length > 0 || queryAccess.referencedEntityRules.size > 0 || Boolean(joins?.some(isNarrowedJoin)),
    ...shown(find.projection, view),
    ...(visibilityOf && { shownAs: visibilityOf }),
    ...(joins && { joined: { root: references.root, joins } }),
  }
  requireFewInFind(allowed)
  return grant(allowed)
}

export function authorizeAggregate(aggregate: Aggregate, caller: Caller): Authorized<AllowedAggregate> {
  const view = viewOf(aggregate.schema)(caller)
  requireEntity(view, ['find'], 'find')
  const queryAccess = queryAccessOf(view)
  const own = aggregate.query && allowedQuery(aggregate.query, [queryAccess], caller)
  const { aggregation, isNarrowed } = allowedRows(aggregate.aggregation, queryAccess, caller)
  const rules = [...view.rulesFor('find'), ...queryAccess.rules]
  const query = narrowed(own, rules)
  const allowed: AllowedAggregate = {
    ...aggregate,
    ...(query && { query }),
    aggregation,
    isNarrowed: isNarrowed || rules.length > 0 || queryAccess.referencedEntityRules.size > 0,
  }
  requireFewInAggregate(allowed)
  return grant(allowed)
}

export function authorizeInsert(insert: Insert, caller: Caller): Authorized<AllowedInsert> {
  const view = viewOf(insert.schema)(caller)
  requireEntity(view, ['insert'], 'insert')
  return grant({ ...insert, ...writeVisibility(insert.projection, view, caller) })
}

export function authorizeUpdate(request: ChangeRequest, caller: Caller): Authorized<AllowedChange> {
  const view = viewOf(request.schema)(caller)
  requireEntity(view, ['update'], 'update')
  const { copied, seen, targets } = fieldsOfUpdate(request.update)
  const queryAccess = queryAccessOf(view)
  const own = allowedQuery(request.query, [queryAccess], caller)
  for (const field of [...copied, ...seen]) requireReadable(field, queryAccess)
  requireReadableProjection(request.projection, queryAccess, caller)
  const rules = [
    ...selectionRules('update', view),
    ...queryAccess.rules,
    ...copied.flatMap((source) => rulesBelow(source, view)),
  ]
  const query = requireFew(narrowed(own, rules))
  return grant({ ...request, ...writeVisibility(request.projection, view, caller), query, targets })
}

export function authorizeSave(request: SaveRequest, caller: Caller): Authorized<AllowedSave> {
  const view = viewOf(request.schema)(caller)
  requireEntity(view, request.upsert ? ['update', 'insert'] : ['update'], 'save')
  const named = request.identity.map((field) => view.conditionOn(field, 'find'))
  const saveRules = [
    ...selectionRules('update', view),
    // An identity field that is hidden in all documents is refused for each saved document.
    ...named.flatMap((condition) => (condition === 'never' ? ALWAYS : condition)),
  ]
  return grant({ ...request, ...writeVisibility(request.projection, view, caller), saveRules })
}

export function authorizeDelete(request: DeleteRequest, caller: Caller): Authorized<AllowedDelete> {
  const view = viewOf(request.schema)(caller)
  requireEntity(view, ['delete'], 'delete')
  const queryAccess = queryAccessOf(view)
  const query = allowedQuery(request.query, [queryAccess], caller)
  return grant({
    ...request,
    query: requireFew(narrowed(query, [...selectionRules('delete', view), ...queryAccess.rules])),
    ...shown([], view),
    ...visibilityAfterWrite([], view),
    ...(view.visibilityOf && { visibilityOf: view.visibilityOf }),
  })
}

/** Generating needs find, insert or update on both entity and field: generated values have no other use. */
export function authorizeGenerate(schema: Schema, caller: Caller, named: () => FieldRef): FieldRef {
  const { admitsTo, conditionOn } = viewOf(schema)(caller)
  const operations = (['find', 'insert', 'update'] as const).filter(admitsTo)
  if (operations.length === 0)
    throw new ServiceError('crud:NoAccess', `you may not generate values for ${schema.entity}`)
  const found = named()
  if (operations.some((operation) => conditionOn(found.field, operation) !== 'never')) return found
  throw new ServiceError('crud:NoAccess', `you may not generate values for "${found.path}"`)
}

/**
 * The operator of a store loads documents into it. There is no caller to judge: whoever can open the store could write to
 * its database as well.
 */
export function authorizeLoad(schema: Schema): Authorized<{ readonly schema: Schema }> {
  return grant({ schema })
}

/** Updates and deletes select only documents that the caller may find; their count would reveal others. */
export function selectionRules(operation: EntityOperation, view: View): Rules {
  return [...view.rulesFor(operation), ...findRules(view)]
}

/** A caller without find access sees nothing of any document, so there is nothing to narrow. */
function findRules(view: View): Rules {
  return view.admitsTo('find') ? view.rulesFor('find') : ALWAYS
}

/** The row rules of all fields below, because a copy of an object or array would reveal hidden members. */
function rulesBelow({ field, path }: FieldRef, view: View): Rules {
  const below = field.kind === 'object' ? field.fields : elementFields(field)
  return [...allFields(below ?? NO_FIELDS)].flatMap((each) => {
    const condition = view.conditionOn(each, 'find')
    if (condition !== 'never') return condition
    throw new ServiceError('crud:NoAccess', `"${path}" holds fields that you may not read`, { context: path })
  })
}

const NO_FIELDS: Fields = new Map()

function elementFields(field: Field): Fields | undefined {
  return field.kind === 'array' && field.element.kind === 'object' ? field.element.fields : undefined
}

/** Exclusions are added last, because the last item of a projection wins. */
function shown(projection: Projection<FieldRef>, { visibility }: View) {
  const { exclusions } = visibility
  const shown = exclusions.length === 0 ? projection : [...projection, ...exclusions]
  return { requested: projection, projection: shown, visibility }
}

function writeVisibility(
  projection: Projection<FieldRef>,
  view: View,
  caller: Caller,
): Omit<WriteVisibility, 'schema'> {
  const { visibilityOf } = view
  const queryAccess = queryAccessOf(view)
  requireReadableProjection(projection, queryAccess, caller)
  const may = (operation: FieldOperation): WriteVisibility['mayUpdate'] => {
    return (field, document) => {
      const condition = view.conditionOn(field, operation)
      return condition !== 'never' && (condition.length === 0 || holds(condition, document))
    }
  }
  return {
    ...shown(projection, view),
    ...visibilityAfterWrite([...findRules(view), ...queryAccess.rules], view),
    ...(visibilityOf && { visibilityOf }),
    isReadable: (field) => {
      const condition = view.conditionOn(field, 'find')
      return findRules(view).length === 0 && condition !== 'never' && condition.length === 0
    },
    isReachable: (field) => OPERATIONS.some((operation) => view.conditionOn(field, operation) !== 'never'),
    mayInsert: may('insert'),
    mayUpdate: may('update'),
    insertRules: view.admitsTo('insert') ? view.rulesFor('insert') : ALWAYS,
    updateRules: view.admitsTo('update') ? view.rulesFor('update') : ALWAYS,
  }
}

const OPERATIONS: readonly FieldOperation[] = ['find', 'insert', 'update']

/** A written document is returned only if the caller could find it after the write. */
function visibilityAfterWrite(rules: Rules, { visibility, visibilityOf }: View): Pick<Rendering, 'shownAs'> {
  if (rules.length === 0) return visibilityOf ? { shownAs: visibilityOf } : {}
  const nothing: Visibility = {
    showsId: false,
    isHidden: () => true,
    hidesSome: true,
    exclusions: [{ kind: 'field', pattern: ['*'], include: false, recursive: true }],
  }
  return {
    shownAs: (document) => (holds(rules, document) ? (visibilityOf?.(document) ?? visibility) : nothing),
  }
}

function requireFew(query: Query<FieldRef>): Query<FieldRef> {
  createConditionCount()(query)
  return query
}

function grant<T>(value: T): Authorized<T> {
  return value as Authorized<T>
}
