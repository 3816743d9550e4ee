/** The data response document, and the only code that prints it. */
import { type Code, type ErrorObject, type ServiceError, dataStatusOf } from '../base/errors.ts'
import type { Schema } from '../schema/schema.ts'

/** JSON as text: stored documents pass through without being parsed and printed again. */
export type JsonText = string

/** JSON as text in parts that are sent one after the other: to join the parts of a large one is a long pause. */
export type JsonTextParts = readonly JsonText[]

export interface DataResponse {
  readonly entity?: string
  readonly entityVersion?: string
  readonly status: ResponseStatus
  readonly modifiedCount: number
  readonly matchCount: number
  /** The cursor of the next page. */
  readonly next?: string
  /** The machine that answers, in dialects that name it. */
  readonly hostname?: string
  /** Present if the codes of the errors are those of another dialect, and do not tell the status. */
  readonly httpStatus?: number
  readonly processed?: readonly JsonText[]
  readonly resultMetadata?: readonly JsonText[]
  readonly dataErrors?: readonly DataError[]
  readonly errors?: readonly ErrorObject[]
  /** Present in the response to a dry run: the number of events by hook. */
  readonly dryRun?: { readonly events: Readonly<Record<string, number>> }
}

type ResponseStatus = 'COMPLETE' | 'PARTIAL' | 'ERROR'

export interface DataError {
  /** The document in the form in which its sender sees it; absent if there is a position. */
  readonly data?: JsonText
  /** Index of the document in the request; present where the caller asked for it. */
  readonly position?: number
  readonly errors: readonly ErrorObject[]
}

export function printResponse(response: DataResponse): JsonText {
  let text = '{'
  if (response.entity !== undefined) text += `"entity":${JSON.stringify(response.entity)},`
  if (response.entityVersion !== undefined)
    text += `"entityVersion":${JSON.stringify(response.entityVersion)},`
  text += `"status":"${response.status}","modifiedCount":${response.modifiedCount},"matchCount":${response.matchCount}`
  if (response.hostname !== undefined) text += `,"hostname":${JSON.stringify(response.hostname)}`
  if (response.next !== undefined) text += `,"next":"${response.next}"`
  if (response.processed) text += `,"processed":[${listed(response.processed)}]`
  if (response.resultMetadata) text += `,"resultMetadata":[${listed(response.resultMetadata)}]`
  if (response.dataErrors?.length)
    text += `,"dataErrors":[${listed(response.dataErrors.map(printDataError))}]`
  if (response.errors?.length) text += `,"errors":${JSON.stringify(response.errors)}`
  if (response.dryRun) text += `,"dryRun":${JSON.stringify(response.dryRun)}`
  return `${text}}`
}

export function printDataError({ data, position, errors }: DataError): JsonText {
  const document = position === undefined ? `"data":${data}` : `"position":${position}`
  return `{${document},"errors":${JSON.stringify(errors)}}`
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
  return response.httpStatus ?? (first ? dataStatusOf(first.errorCode as Code) : 200)
}

/** The status is derived from the number of failed documents only. */
export function statusOf(total: number, failures: number): ResponseStatus {
  if (failures === 0) return 'COMPLETE'
  return failures < total ? 'PARTIAL' : 'ERROR'
}
