/** Refuses callers without access to an entity, before any other check could reveal something about it. */
import { ServiceError } from '../base/errors.ts'
import type { EntityOperation } from '../schema/schema.ts'
import type { View } from './view.ts'

export function requireEntity(view: View, operations: readonly EntityOperation[], verb: string): void {
  if (operations.every(view.admitsTo)) return
  throw new ServiceError('crud:NoAccess', `you may not ${verb} documents of ${view.schema.entity}`)
}
