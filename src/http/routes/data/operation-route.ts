/** What the routes of the operations on documents share: both forms of an address, access, bodies and examples. */
import type { Json } from '../../../base/json/json.ts'
import { DataResponseShape } from '../../../service/request/data-shapes.ts'
import { operationShape } from '../../../service/request/operation-shapes.ts'
import type { KeyedOperation, PrecheckedOperation } from '../../../service/service.ts'
import { type Content, type Route, dataReply, onceReply, targetOf } from '../route.ts'

/** Both forms of a route: with the version in the path, and without it for the default version. */
export function versioned(
  base: string,
  route: Omit<Route, 'path' | 'tag' | 'access'>,
  tail = '',
): readonly Route[] {
  const operation = route.operationId
  const common = { ...route, operation, tag: 'data', access: 'authenticated' } as const
  return [
    { ...common, path: `${base}/{entity}${tail}`, operationId: `${operation}Default` },
    { ...common, path: `${base}/{entity}/{version}${tail}` },
  ]
}

export function requireAccess(operation: PrecheckedOperation): NonNullable<Route['precheck']> {
  return ({ app, caller, params: { entity = '', version } }) =>
    app.service.data.precheck(caller, { entity, ...(version !== undefined && { version }) }, operation)
}

type WithBody = 'aggregate' | 'explain' | KeyedOperation

export function withBody(operation: WithBody): Route['handle'] {
  return async (call) => {
    const { app, caller, body, idempotency } = call
    const target = targetOf(call)
    if (idempotency && operation !== 'explain' && operation !== 'aggregate')
      return onceReply(await app.service.once.data(caller, { operation, target, body }, idempotency))
    return dataReply(await app.service.data[operation](caller, target, body))
  }
}

/** The path names entity and version, so that an example holds for those of the reader. */
export function request(name: string, example: { readonly [key: string]: Json }): Content {
  return { shape: operationShape(name), name, example }
}

export function documents(matchCount: number, modifiedCount: number): Content {
  const example = {
    entity: 'country',
    entityVersion: '1.0.0',
    status: 'COMPLETE',
    modifiedCount,
    matchCount,
    processed: [{ _id: '0198f1c2-7c3e-7000-8000-000000000001', iso2Code: 'CH', name: 'Switzerland' }],
    resultMetadata: [{ documentVersion: '0198f1c2-7c3e-7000-8000-000000000001:1' }],
  }
  return { shape: DataResponseShape, name: 'DataResponse', example }
}

export function everything(): Json {
  return { field: '*', include: true, recursive: true }
}
