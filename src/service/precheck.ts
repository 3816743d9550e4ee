/** Refuses a request before its body is read, if no body could make it allowed. */
import type { Caller } from '../access/caller.ts'
import { requireEntity } from '../access/require-entity.ts'
import { viewOf } from '../access/view.ts'
import { ServiceError } from '../base/errors.ts'
import type { EntityOperation, Schema } from '../schema/schema.ts'
import type { PrecheckedOperation, Target } from './service.ts'

interface PrecheckDeps {
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
  readonly versionsOf: (entity: string) => readonly string[]
}

export function precheck(
  deps: PrecheckDeps,
  caller: Caller,
  {
    target: { entity, version },
    operation,
  }: { readonly target: Target; readonly operation: PrecheckedOperation },
): void {
  const needed = NEEDED[operation]
  const refusals = (version === undefined ? deps.versionsOf(entity) : [version]).map((each) =>
    refusalOf(() =>
      requireEntity(viewOf(deps.schemaOf(entity, each))(caller), [needed], VERBS[operation] ?? operation),
    ),
  )
  // Other errors, such as an unknown entity, are reported when the request is run.
  if (refusals.length > 0 && refusals.every((refusal) => refusal?.code === 'crud:NoAccess'))
    throw refusals[0]!
}

/** A save needs the permission to update; it needs the one to insert only if its body requests an upsert. */
const NEEDED: Readonly<Record<PrecheckedOperation, EntityOperation>> = {
  find: 'find',
  aggregate: 'find',
  explain: 'find',
  insert: 'insert',
  save: 'update',
  update: 'update',
  delete: 'delete',
}

const VERBS: Partial<Record<PrecheckedOperation, string>> = { explain: 'find', aggregate: 'find' }

function refusalOf(check: () => void): ServiceError | undefined {
  try {
    check()
    return undefined
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
