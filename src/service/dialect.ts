/**
 * The form in which the service reads requests and prints responses. Clients of another service may need other names and
 * counts than our own; what the service does is the same in every dialect.
 */
import { type ErrorObject, ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, member } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { DataResponse } from './response.ts'

export interface Dialect {
  /** The body as the operation reads it. `innerSizes` are the paths of sizes of arrays inside elements of arrays. */
  readonly request: (operation: string, body: Json, innerSizes: () => readonly string[]) => Json
  /** The response to a body. */
  readonly response: (operation: string, response: DataResponse, body: Json | undefined) => DataResponse
  /** The first line of a stream. */
  readonly header: (line: JsonObject) => JsonObject
  readonly error: (error: ErrorObject) => ErrorObject
}

/** Our own form. */
export const SMALT: Dialect = {
  request: (_operation, body) => body,
  response: (_operation, response) => response,
  header: (line) => line,
  error: (error) => error,
}

/** The body of an operation, as the dialect has it. */
export function inDialect(
  { dialect, schemaOf }: Speaking,
  operation: string,
  { target, body }: { readonly target: Addressed; readonly body: Json },
): Json {
  return dialect.request(operation, body, () => {
    const named = target.version ?? member(body, 'entityVersion') ?? member(body, 'version')
    try {
      return innerSizesOf(schemaOf(target.entity, typeof named === 'string' ? named : undefined))
    } catch (error) {
      // the operation itself reports that there is no such entity
      if (error instanceof ServiceError) return []
      throw error
    }
  })
}

interface Speaking {
  readonly dialect: Dialect
  readonly schemaOf: (entity: string, version: string | undefined) => Schema
}

interface Addressed {
  readonly entity: string
  readonly version?: string
}

const innerSizesOf = memoized((schema: Schema): readonly string[] =>
  [...allFields(schema.root.fields)]
    .filter(({ name, path }) => name.endsWith('#') && path.includes('.*.'))
    .map(({ path }) => path),
)
