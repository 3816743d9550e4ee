/** The maximum length of an `_id`: it has to fit into an index entry on every store. */
import { ServiceError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'

export const MAX_ID_BYTES = 1_000

export function idFault(id: Json | undefined): ServiceError | undefined {
  if (typeof id !== 'string' || Buffer.byteLength(id) <= MAX_ID_BYTES) return undefined
  return new ServiceError('crud:TooLong', `"_id" may have at most ${MAX_ID_BYTES} bytes`, { context: '_id' })
}
