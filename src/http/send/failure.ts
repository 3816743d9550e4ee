/** Turns an error into a response, in the form that clients of the route expect. */
import { CODES, type ServiceError, dataStatusOf } from '../../base/errors.ts'
import type { Dialect } from '../../service/dialect.ts'
import { failed, printResponse } from '../../service/response.ts'
import type { Exchange } from '../exchange.ts'
import type { Reply } from '../routes/route.ts'

export function failureReply(exchange: Exchange, error: ServiceError, dialect: Dialect): Reply {
  const placed = error.context === '' ? error.within(contextOf(exchange)) : error
  if (!exchange.isData) {
    return { status: CODES[error.code], text: JSON.stringify(dialect.error(placed.toObject())) }
  }
  const response = dialect.response('request', failed(placed, entityOf(exchange)), undefined)
  return { status: dataStatusOf(error.code), text: printResponse(response) }
}

/** The last line of a stream that ends with an error. */
export function failureLine(exchange: Exchange, error: ServiceError, dialect: Dialect): string {
  const errors = [dialect.error(error.within(contextOf(exchange)).toObject())]
  return JSON.stringify({ last: true, status: 'ERROR', matchCount: 0, errors })
}

function entityOf({ params: { entity, version } }: Exchange): { entity?: string; entityVersion?: string } {
  return { ...(entity !== undefined && { entity }), ...(version !== undefined && { entityVersion: version }) }
}

/** The context of an error: operation, entity and version of the request. */
export function contextOf({ bound, params: { entity, version } }: Exchange): string {
  if (!bound) return 'request'
  const operation = bound.route.operation ?? bound.route.operationId
  if (entity === undefined) return operation
  return `${operation}(${version === undefined ? entity : `${entity}:${version}`})`
}
