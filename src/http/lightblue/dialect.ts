/** Answers as Lightblue where its programs would notice the difference. Access, durability and exactness stay ours. */
import { hostname } from 'node:os'
import { type Json, isArray, member } from '../../base/json/json.ts'
import type { Dialect } from '../../service/dialect.ts'
import { type DataResponse, httpStatusOf } from '../../service/response.ts'
import { lightblueCode } from './error-codes.ts'
import { lightblueRequest } from './requests.ts'

/** `warn` receives what was ignored in a request. */
export function lightblueDialect(warn: (message: string) => void): Dialect {
  const host = hostname()
  const error: Dialect['error'] = (each) => ({ ...each, errorCode: lightblueCode(each.errorCode) })
  return {
    request: lightblueRequest((operation, keys) =>
      warn(`${operation}: ignored keys that no operation knows: ${JSON.stringify(keys)}`),
    ),
    response: (operation, response, body) => ({
      ...response,
      ...countsOf(operation, response, body),
      hostname: host,
      httpStatus: httpStatusOf(response),
      ...(response.errors && { errors: response.errors.map(error) }),
      ...(response.dataErrors && {
        dataErrors: response.dataErrors.map((each) => ({ ...each, errors: each.errors.map(error) })),
      }),
    }),
    header: (line) => ({ ...line, modifiedCount: 0, matchCount: 0, hostname: host }),
    error,
  }
}

function countsOf(
  operation: string,
  response: DataResponse,
  body: Json | undefined,
): Partial<Pick<DataResponse, 'matchCount' | 'modifiedCount'>> {
  if (operation === 'delete') return { matchCount: 0 }
  if (operation !== 'save' || response.errors) return {}
  // a document that is saved as it is counts, too
  const data = member(body, 'data')
  const sent = isArray(data) ? data.length : 1
  return { modifiedCount: sent - (response.dataErrors?.length ?? 0) }
}
