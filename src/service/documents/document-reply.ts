/** Replies of plain documents: the HTTP status tells what happened to the one document. */
import { CODES, type Code, type ErrorObject, ServiceError } from '../../base/errors.ts'
import { type Json, isObject, numberText, isNumber } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import type { Deps } from '../deps.ts'
import type { DataResponse, JsonText } from '../response.ts'
import type { DocumentReply, Target } from '../service.ts'
import { printTag } from './etag.ts'

/** A document as an operation returned it. */
export interface Returned {
  readonly text: JsonText
  readonly version: string
}

/** The first document of a response; undefined if there is none. */
export function firstOf({ processed = [], resultMetadata = [] }: DataResponse): Returned | undefined {
  const [[text], [metadata]] = [processed, resultMetadata]
  if (text === undefined || metadata === undefined) return undefined
  // Nothing in it is a number, so no digit can be lost.
  return { text, version: (JSON.parse(metadata) as { readonly documentVersion: string }).documentVersion }
}

/** The code of the first fault of the document; undefined if it has none. */
export function faultOf({ dataErrors = [] }: DataResponse): Code | undefined {
  return dataErrors[0]?.errors[0]?.errorCode as Code | undefined
}

/** One fault is the body itself; of several, the first decides the status. */
export function refusedReply(
  { dataErrors = [] }: DataResponse,
  { dialect }: Pick<Deps, 'dialect'>,
): DocumentReply {
  const errors: readonly ErrorObject[] = dataErrors.flatMap((each) => each.errors)
  const status = CODES[errors[0]!.errorCode as Code]
  const shown = errors.map(dialect.error)
  const text = JSON.stringify(shown.length === 1 ? shown[0] : { errors: shown })
  return { status, text, headers: [] }
}

export function tagHeader({ version }: Returned): readonly string[] {
  return ['ETag', printTag(version)]
}

/** Where the document is from now on; nowhere if the caller may not read its `_id`. */
export function locationHeader({ text }: Returned, { entity, version }: Target): readonly string[] {
  const id = idIn(parseTrusted(text))
  if (id === undefined) return []
  const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`
  return ['Location', `/documents/${encodeURIComponent(entity)}/${encodeURIComponent(id)}${query}`]
}

function idIn(document: Json): string | undefined {
  const id = isObject(document) ? document['_id'] : undefined
  if (typeof id === 'string') return id
  return isNumber(id) ? numberText(id) : undefined
}

export function unknownDocument(advice = ''): ServiceError {
  return new ServiceError('crud:UnknownDocument', `there is no such document that you could read${advice}`)
}

export function preconditionFailed(
  message = 'the document has another version than "If-Match" allows; read it again',
): ServiceError {
  return new ServiceError('crud:PreconditionFailed', message)
}

/** A document that does not exist yet has no version. */
export function noVersionYet(): ServiceError {
  return preconditionFailed('a document that is created has no version yet; leave "If-Match" out')
}

export function alreadyThere(): ServiceError {
  return preconditionFailed(
    'the document exists, and "If-None-Match: *" only creates; leave it out to replace',
  )
}
