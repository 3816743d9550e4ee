/** Generate: values from a field's generator, without storing anything. */
import { authorizeGenerate } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { resolveField, rootScope } from '../lang/resolve.ts'
import type { Deps } from './deps.ts'
import type { DataResponse } from './response.ts'
import type { Target } from './service.ts'
import { generateValues } from './values.ts'

export interface GenerateRequest extends Target {
  readonly field: string
  readonly count: number
}

export const MAX_GENERATED = 10_000

export async function generate(deps: Deps, caller: Caller, request: GenerateRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  authorizeGenerate(schema, caller)
  const { field } = resolveField({ path: request.field, at: '/field' }, rootScope(schema))
  if (field.kind !== 'simple') {
    throw new ServiceError(
      'crud:InvalidRequest',
      `"${request.field}" is no simple field, so it has no generator`,
    )
  }
  if (request.count < 1 || request.count > MAX_GENERATED) {
    throw new ServiceError('crud:InvalidRequest', `"n" must be between 1 and ${MAX_GENERATED}`)
  }
  const values = await generateValues(deps, schema, { field, count: request.count })
  return {
    entity: schema.entity,
    entityVersion: schema.version,
    status: 'COMPLETE',
    modifiedCount: 0,
    matchCount: 0,
    processed: values.map((value) => JSON.stringify(value)),
  }
}

/** `n` of a query string; absent means one. */
export function readCount(n: string | undefined): number {
  if (n === undefined) return 1
  if (/^\d{1,9}$/.test(n)) return Number(n)
  throw new ServiceError('crud:InvalidRequest', `"n" must be an integer between 1 and ${MAX_GENERATED}`)
}
