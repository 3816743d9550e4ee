/** Checks that a running stream is still allowed: metadata may change while it is read. */
import type { Caller } from '../../access/caller.ts'
import type { AllowedFind, AllowedJoin } from '../../access/requests.ts'
import { type View, viewOf } from '../../access/view.ts'
import { ServiceError } from '../../base/errors.ts'
import { relatedIn } from '../../lang/resolve/query-walk.ts'
import { linksIn } from '../../lang/resolve/scope.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { targetOf } from './pushdown.ts'
import type { Deps } from '../deps.ts'
import { resolveAndAuthorizeFind } from './plan-find.ts'
import type { FindRequest } from '../request/request.ts'

type Watching = Pick<Deps, 'epoch' | 'schemaOf' | 'now' | 'limits'>

interface Begun {
  readonly allowed: AllowedFind
  readonly caller: Caller
  readonly request: FindRequest
}

/** To be called before each document. Throws when the caller's access to the streamed data is no longer the same. */
export function accessWatch(deps: Watching, begun: Begun): () => void {
  const schemas = schemasOf(begun.allowed)
  let seen = deps.epoch()
  let hasEnded = false
  return () => {
    if (hasEnded) throw ended()
    const epoch = deps.epoch()
    if (epoch === seen) return
    seen = epoch
    hasEnded = !isUnchanged(deps, begun, schemas)
    if (hasEnded) throw ended()
  }
}

/** Compares the versions that the stream began with, even if others have become the default ones. */
function isUnchanged(
  deps: Watching,
  { allowed, caller, request }: Begun,
  schemas: readonly Schema[],
): boolean {
  try {
    // Most changes of metadata are of other entities, and cost a stream no more than this.
    const changed = schemas.filter((each) => deps.schemaOf(each.entity, each.version) !== each)
    if (changed.length === 0) return true
    resolveAndAuthorizeFind(deps, caller, { ...request, version: allowed.schema.version })
    return changed.every((schema) => {
      const current = deps.schemaOf(schema.entity, schema.version)
      return isSeenAlike(viewOf(schema)(caller), viewOf(current)(caller))
    })
  } catch (error) {
    if (error instanceof ServiceError) return false
    throw error
  }
}

/** The schemas of all documents that the find reads. */
function schemasOf({ schema, query, sort, joined }: AllowedFind): readonly Schema[] {
  const related = query ? [...relatedIn(query)].map(targetOf) : []
  const sorted = linksIn(sort).map(({ reference }) => reference.field.join.schema)
  const shown = (joins: readonly AllowedJoin[]): readonly Schema[] =>
    joins.flatMap((join) => [join.schema, ...shown(join.joins)])
  return [...new Set([schema, ...related, ...sorted, ...shown(joined?.joins ?? [])])]
}

/** Fields that were added by the change are not part of the stream, so they are ignored. */
function isSeenAlike(before: View, now: View): boolean {
  if (textOf(before.rulesFor('find')) !== textOf(now.rulesFor('find'))) return false
  const current = conditionsIn(now)
  return [...conditionsIn(before)].every(([path, condition]) => current.get(path) === condition)
}

function conditionsIn({ schema, conditionOn }: View): ReadonlyMap<string, string> {
  const fields = [...allFields(schema.root.fields)]
  return new Map(fields.map((field) => [field.path, textOf(conditionOn(field, 'find'))]))
}

/** Fields are printed by path, because each schema has its own objects for the same fields. */
function textOf(condition: ReturnType<View['conditionOn']>): string {
  return JSON.stringify(condition, (_key, value: unknown) => {
    const isField = typeof value === 'object' && value !== null && 'roles' in value && 'path' in value
    return isField ? value.path : value
  })
}

function ended(): ServiceError {
  return new ServiceError('crud:NoAccess', 'access was changed while the documents were read; ask again')
}
