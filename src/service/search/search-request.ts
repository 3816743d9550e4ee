/** Parses requests to run a saved search: the values of the caller, and the parts of the search that they override. */
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Values } from './bind-parameters.ts'
import { readSimpleRequest } from '../request/query-parameters.ts'

export interface SearchRequest {
  readonly supplied: Values
  /** Keys of a find request that replace the stored ones. */
  readonly overrides: JsonObject
  /** GET: parameters that choose a page, unless the saved search declares parameters with these names. */
  readonly page?: URLSearchParams
}

/** GET: every parameter that is not an override is a value. */
export function readSimpleSearch(parameters: URLSearchParams): SearchRequest {
  const supplied = new Map<string, Json>()
  const overrides = new URLSearchParams()
  const page = new URLSearchParams()
  for (const [name, value] of parameters) {
    if (PAGE.has(name)) page.append(name, value)
    else if (OVERRIDES.has(name)) overrides.append(name, value)
    else if (supplied.has(name)) throw invalid(`the parameter "${name}" is given twice`)
    else if (value.includes('\0')) throw invalid(`the parameter "${name}" holds a NUL character`)
    else supplied.set(name, value)
  }
  return { supplied, overrides: readOverrides(overrides), page }
}

/** The request with its page, now that the parameters of the saved search are known. */
export function withPage(
  { supplied, overrides, page = new URLSearchParams() }: SearchRequest,
  declared: ReadonlySet<string>,
): SearchRequest {
  const isValue = ([name]: readonly [string, string]): boolean => declared.has(name)
  const [values, rest] = [[...page].filter(isValue), [...page].filter((each) => !isValue(each))]
  return {
    supplied: new Map([...supplied, ...values]),
    overrides: { ...overrides, ...readOverrides(new URLSearchParams(rest)) },
  }
}

/** POST: the body contains the values, the URL the overrides. */
export function readSearch(body: Json | undefined, parameters: URLSearchParams): SearchRequest {
  const values = body ?? {}
  if (!isObject(values)) throw invalid('the body must be a JSON object: parameter to value')
  return { supplied: new Map(Object.entries(values)), overrides: readOverrides(parameters) }
}

export function readOverrides(parameters: URLSearchParams): JsonObject {
  const unknown = [...parameters.keys()].find((name) => !OVERRIDES.has(name))
  if (unknown !== undefined) {
    throw invalid(
      `there is no parameter "${unknown}"; known are P, S, from, to, maxResults, size, after, count`,
    )
  }
  const { projection = null, ...others } = readSimpleRequest(parameters)
  const hasProjection = (parameters.get('P') ?? parameters.get('p') ?? '').trim() !== ''
  return hasProjection ? { projection, ...others } : others
}

const PAGE: ReadonlySet<string> = new Set(['size', 'after', 'count'])
const OVERRIDES = new Set(['P', 'p', 'S', 's', 'from', 'to', 'maxResults', ...PAGE])

function invalid(message: string): ServiceError {
  return new ServiceError('crud:InvalidRequest', message)
}
