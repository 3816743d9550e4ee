/** What cannot be the identity of a document. */
import { ServiceError } from '../base/errors.ts'
import { type Json, isArray, isNumber, isObject } from '../base/json/json.ts'
import type { SimpleField } from './field.ts'
import { LOOKS_LIKE } from './types.ts'

/** An `_id` has to fit into an index entry on every store. */
export const MAX_ID_BYTES = 1_000

export function idFault(id: Json | undefined): ServiceError | undefined {
  if (typeof id !== 'string' || Buffer.byteLength(id) <= MAX_ID_BYTES) return undefined
  return new ServiceError('crud:TooLong', `"_id" may have at most ${MAX_ID_BYTES} bytes`, { context: '_id' })
}

/** Whether values of the field tell documents apart: a value of the wrong kind is then no mere mistake in its content. */
export function isIdentity({ path, constraints }: SimpleField): boolean {
  return path === '_id' || constraints.identity === true
}

/** The fault of a value that was sent as an identity, and does not have the type of its field. */
export function notAnIdentity(value: Json, { path, type: { name } }: SimpleField): ServiceError {
  const message = `${formOf(value)} cannot identify a document: "${path}" is of type ${name}; send ${LOOKS_LIKE[name]}`
  return new ServiceError('metadata:IncompatibleValue', message, { context: path })
}

/** The form only, because messages do not repeat values of documents. */
function formOf(value: Json): string {
  if (isObject(value)) return 'an object'
  if (isArray(value)) return 'an array'
  if (isNumber(value)) return 'this number'
  if (value === null) return 'null'
  return typeof value === 'string' ? 'this text' : 'a boolean'
}
