/** The service on the session of one transaction, for writes with an idempotency key and for bulks. */
import { ServiceError } from '../base/errors.ts'
import type { Schema } from '../schema/schema.ts'
import type { Database } from '../store/database.ts'
import type { StoreSession } from '../store/store.ts'
import type { Deps } from './deps.ts'
import type { Target } from './service.ts'

/** Operations on the session of a transaction; documents of another datasource are not part of it. */
export function within(
  deps: Deps,
  session: StoreSession,
  { store, refuse }: { readonly store: Database; readonly refuse: () => ServiceError },
): Deps {
  const storeOf = ({ collection }: Schema): StoreSession => {
    if (deps.storeIn(collection.datasource) !== store) throw refuse()
    return session
  }
  return { ...deps, storeOf }
}

/** Undefined if the entity does not exist. */
export function storeFor(deps: Deps, { entity, version }: Target): Database | undefined {
  try {
    return deps.storeIn(deps.schemaOf(entity, version).collection.datasource)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

export function keyedElsewhere(): ServiceError {
  const message =
    'a write with an Idempotency-Key must stay within one datasource, and this one reads documents of another'
  return new ServiceError('crud:InvalidRequest', message)
}
