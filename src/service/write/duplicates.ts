/** Makes the error of a document that repeats a unique value of another one. */
import type { WriteVisibility } from '../../access/requests.ts'
import { ServiceError } from '../../base/errors.ts'
import { resolveField, rootScope } from '../../lang/resolve/scope.ts'
import type { Field } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Deps } from '../deps.ts'
import { listPaths } from './denials.ts'

/** `fields` are the paths of the unique index; undefined if the store does not know which one it is. */
export type DuplicateFault = (fields: readonly string[] | undefined) => ServiceError

/**
 * The values of an index are named only if the caller may read all of its fields in every document: otherwise the
 * caller would learn which of the values they sent is one that they may not read.
 */
export function duplicateFaults(
  { indexesOf }: Pick<Deps, 'indexesOf'>,
  { schema, isReadable }: Pick<WriteVisibility, 'schema' | 'isReadable'>,
): DuplicateFault {
  return (fields) => {
    const isNamed = fields?.every((path) => {
      const field = fieldAt(path, schema)
      return field !== undefined && isReadable(field)
    })
    if (!fields || !isNamed) return duplicate(UNNAMED)
    return duplicate(`another document has ${describe(fields, schema, indexesOf)}`, fields[0])
  }
}

const UNNAMED = 'another document has this identity or one of these unique values'

function describe(fields: readonly string[], schema: Schema, indexesOf: Deps['indexesOf']): string {
  const paths = listPaths(fields)
  const isSame = (others: readonly string[]): boolean => others.join() === fields.join()
  const index = indexesOf(schema.entity).find(
    ({ unique, fields: keys }) => unique && isSame(keys.map(({ field }) => field)),
  )
  if (index?.name) return `this value of the unique index "${index.name}" (${paths})`
  if (isSame(['_id'])) return 'this "_id"'
  if (isSame(schema.identity.map(({ path }) => path))) return `this identity (${paths})`
  return `this value of the unique index of ${paths}`
}

/** Undefined if only other versions have the field. */
function fieldAt(path: string, schema: Schema): Field | undefined {
  try {
    return resolveField({ path, at: '' }, rootScope(schema)).field
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

function duplicate(message: string, context?: string): ServiceError {
  return new ServiceError('store-crud:Duplicate', message, context === undefined ? {} : { context })
}
