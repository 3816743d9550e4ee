/** Writes that were under way when their entity was removed. */
import { ServiceError } from '../base/errors.ts'
import type { Collection } from '../schema/schema.ts'

export function removedMeanwhile({ entity }: Collection): ServiceError {
  return new ServiceError('crud:UnknownEntity', `the entity "${entity}" was removed meanwhile`)
}
