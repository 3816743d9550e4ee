/** What went wrong with a request: the service's own errors, or why it could not be reached. */
import { type Json, isArray, isObject, textOf } from './json.ts'

export interface ServiceProblem {
  readonly errorCode: string
  readonly msg: string
  /** The operation, then the field: `insert(country:1.0.0)/iso2Code`. */
  readonly context: string
}

export class RequestFailure extends Error {
  /** 0 where the service was not reached. */
  readonly status: number
  readonly problems: readonly ServiceProblem[]

  constructor(status: number, problems: readonly ServiceProblem[]) {
    super(problems[0]?.msg ?? `the service answered ${status}`)
    this.name = 'RequestFailure'
    this.status = status
    this.problems = problems
  }

  get code(): string {
    return this.problems[0]?.errorCode ?? ''
  }
}

/** The errors in an answer: a bare error object, or `errors` of a data response. */
export function problemsIn(body: Json): readonly ServiceProblem[] {
  if (!isObject(body)) return []
  if (typeof body['errorCode'] === 'string') return [asProblem(body)]
  return isArray(body['errors']) ? body['errors'].map(asProblem) : []
}

export function asProblem(value: Json): ServiceProblem {
  const { errorCode = '', msg = '', context = '' } = isObject(value) ? value : {}
  return { errorCode: textOf(errorCode), msg: textOf(msg), context: textOf(context) }
}

/** The field that an error belongs to, as a path of names and indexes; empty for the whole document. */
export function fieldOf({ context }: ServiceProblem): string {
  const slash = context.indexOf('/')
  return slash === -1 ? '' : context.slice(slash + 1).replaceAll('/', '.')
}
