/** What a response that is no success means for the exit of a command. */
import { type Json, isArray, member } from '../../base/json/json.ts'
import { EXIT, Exit } from '../exit.ts'

/** Metadata routes answer with the error itself, data routes with a response document that contains it. */
export function failureOf(base: string, status: number, document: Json): RefusedRequest {
  const errors = member(document, 'errors')
  const error = isArray(errors) ? errors[0] : document
  const message =
    textIn(error, 'msg') === '' ? `${base} answered with the status ${status}` : errorLine(error)
  return new RefusedRequest(status, message, textIn(error, 'errorCode'))
}

/** The service responded with another status than 200. */
export class RefusedRequest extends Exit {
  readonly errorCode: string

  constructor(status: number, message: string, errorCode: string) {
    super(exitFor(status), message)
    this.errorCode = errorCode
  }
}

/** `you may not read "salary" (crud:NoAccess)`. */
export function errorLine(error: Json | undefined): string {
  return `${textIn(error, 'msg')} (${textIn(error, 'errorCode')})`
}

export function textIn(value: Json | undefined, name: string): string {
  const text = member(value, name)
  return typeof text === 'string' ? text : ''
}

function exitFor(status: number): number {
  if (status === 401 || status === 403) return EXIT.denied
  if (status === 503) return EXIT.unreachable
  return status === 409 || status === 412 ? EXIT.conflict : EXIT.failed
}

const CONFLICTS = ['store-crud:Duplicate', 'store-crud:ConcurrentUpdate']

/** Fails if documents of a write failed. Reports each with its errors first. */
export function failOnDocuments(response: Json): void {
  const failed = member(response, 'dataErrors')
  if (!isArray(failed) || failed.length === 0) return
  const errors = failed.flatMap((each) => {
    const own = member(each, 'errors')
    return isArray(own) ? own : []
  })
  for (const error of errors) {
    process.stderr.write(`smalt: ${textIn(error, 'context')}: ${errorLine(error)}\n`)
  }
  const isConflict = errors.every((error) => CONFLICTS.includes(textIn(error, 'errorCode')))
  const count = `${failed.length} document${failed.length === 1 ? '' : 's'}`
  throw new Exit(isConflict ? EXIT.conflict : EXIT.failed, `${count} of the request failed`)
}
