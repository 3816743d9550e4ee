/** The data response document, and the only code that prints it. */
import { CODES, type ErrorObject, type ServiceError } from '../base/errors.ts'
import type { Schema } from '../schema/schema.ts'

/** JSON as text: stored documents pass through without being parsed and printed again. */
export type JsonText = string

export interface DataResponse {
  readonly entity?: string
  readonly entityVersion?: string
  readonly status: ResponseStatus
  readonly modifiedCount: number
  readonly matchCount: number
  readonly processed?: readonly JsonText[]
  readonly resultMetadata?: readonly JsonText[]
  readonly dataErrors?: readonly DataError[]
  readonly errors?: readonly ErrorObject[]
}

type ResponseStatus = 'COMPLETE' | 'PARTIAL' | 'ERROR'

export interface DataError {
  /** The document in the form in which its sender sees it. */
  readonly data: JsonText
  readonly errors: readonly ErrorObject[]
}

export function printResponse(response: DataResponse): JsonText {
  let text = '{'
  if (response.entity !== undefined) text += `"entity":${JSON.stringify(response.entity)},`
  if (response.entityVersion !== undefined)
    text += `"entityVersion":${JSON.stringify(response.entityVersion)},`
  text += `"status":"${response.status}","modifiedCount":${response.modifiedCount},"matchCount":${response.matchCount}`
  if (response.processed) text += `,"processed":[${listed(response.processed)}]`
  if (response.resultMetadata) text += `,"resultMetadata":[${listed(response.resultMetadata)}]`
  if (response.dataErrors?.length)
    text += `,"dataErrors":[${listed(response.dataErrors.map(printDataError))}]`
  if (response.errors?.length) text += `,"errors":${JSON.stringify(response.errors)}`
  return `${text}}`
}

export function printDataError({ data, errors }: DataError): JsonText {
  return `{"data":${data},"errors":${JSON.stringify(errors)}}`
}

/**
 * Concatenation instead of `join`, which copies everything: concatenated strings are copied only once, when
 * they are sent.
 */
function listed(texts: readonly JsonText[]): string {
  let list = ''
  for (const text of texts) list += list === '' ? text : `,${text}`
  return list
}

/** The response of a request without failures. */
export function complete(schema: Schema, found: Partial<Omit<DataResponse, 'status'>>): DataResponse {
  const { entity, version: entityVersion } = schema
  return { entity, entityVersion, status: 'COMPLETE', modifiedCount: 0, matchCount: 0, ...found }
}

/** The response of a request that failed as a whole. */
export function failed(
  error: ServiceError,
  target: { entity?: string; entityVersion?: string } = {},
): DataResponse {
  return { ...target, status: 'ERROR', modifiedCount: 0, matchCount: 0, errors: [error.toObject()] }
}

/** The HTTP status describes the request: failures of single documents leave it at 200. */
export function httpStatusOf(response: DataResponse): number {
  const first = response.errors?.[0]
  return first ? CODES[first.errorCode] : 200
}

/** The status is derived from the number of failed documents only. */
export function statusOf(total: number, failures: number): ResponseStatus {
  if (failures === 0) return 'COMPLETE'
  return failures < total ? 'PARTIAL' : 'ERROR'
}
