/**
 * The form in which the service reads requests and prints responses. Clients of another service may need other names and
 * counts than our own; what the service does is the same in every dialect.
 */
import { type ErrorObject, ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../base/json/json.ts'
import { memoized } from '../base/memo.ts'
import { spend } from '../base/work/work.ts'
import type { Field } from '../schema/field.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import type { DataResponse } from './response.ts'

export interface Dialect {
  /** The body as the operation reads it. */
  readonly request: (operation: string, body: Json, addressed: AddressedSchema) => Json
  /** The response to a body. */
  readonly response: (operation: string, response: DataResponse, body: Json | undefined) => DataResponse
  /** The first line of a stream. */
  readonly header: (line: JsonObject) => JsonObject
  readonly error: (error: ErrorObject) => ErrorObject
}

/** What a dialect may ask about the schema that a request addresses. */
export interface AddressedSchema {
  /** The paths of sizes of arrays inside elements of arrays. */
  readonly innerSizes: () => readonly string[]
  /** The documents without members that are null and that the schema does not define. */
  readonly withoutUnknownNulls: (data: Json) => Json
}

/** Our own form. */
export const SMALT: Dialect = {
  request: (_operation, body) => body,
  response: (_operation, response) => response,
  header: (line) => line,
  error: (error) => error,
}

/** A bulk addresses none, its entries do; a lock has nothing to do with schemas. */
export const NO_SCHEMA: AddressedSchema = { innerSizes: () => [], withoutUnknownNulls: (data) => data }

/** The body of an operation, as the dialect has it. */
export function inDialect(
  { dialect, schemaOf }: Speaking,
  operation: string,
  { target, body }: { readonly target: Addressed; readonly body: Json },
): Json {
  const addressed = (): Schema | undefined => {
    const named = target.version ?? member(body, 'entityVersion') ?? member(body, 'version')
    try {
      return schemaOf(target.entity, typeof named === 'string' ? named : undefined)
    } catch (error) {
      // the operation itself reports that there is no such entity
      if (error instanceof ServiceError) return undefined
      throw error
    }
  }
  return dialect.request(operation, body, {
    innerSizes() {
      const schema = addressed()
      return schema ? innerSizesOf(schema) : []
    },
    withoutUnknownNulls(data) {
      const schema = addressed()
      if (!schema) return data
      const { root } = schema
      return isArray(data)
        ? data.map((each) => withoutUnknownNulls(each, root))
        : withoutUnknownNulls(data, root)
    },
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

function withoutUnknownNulls(value: Json, field: Field): Json {
  if (field.kind === 'array' && isArray(value)) {
    spend(value.length)
    return value.map((each) => withoutUnknownNulls(each, field.element))
  }
  if (field.kind !== 'object' || !isObject(value)) return value
  const known: Record<string, Json> = {}
  for (const [name, each] of Object.entries(value)) {
    spend(1)
    const inner = field.fields.get(name)
    if (inner) known[name] = withoutUnknownNulls(each, inner)
    else if (each !== null) known[name] = each
  }
  return known
}
