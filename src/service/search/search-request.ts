/** Parses requests to run a saved search: the values of the caller, and the parts of the search that they override. */
import { invalidRequest } from '../../base/errors.ts'
import { type Json, type JsonObject, isObject } from '../../base/json/json.ts'
import type { Values } from './bind-parameters.ts'
import { readSimpleRequest } from '../request/query-parameters.ts'

export interface SearchRequest {
  readonly supplied: Values
  /** Keys of a find request that replace the stored ones. */
  readonly overrides: JsonObject
  /** GET: parameters that are overrides, unless the saved search declares parameters with these names. */
  readonly undecided?: URLSearchParams
}

/** GET: every parameter that is not an override is a value. */
export function readSimpleSearch(parameters: URLSearchParams): SearchRequest {
  const supplied = new Map<string, Json>()
  const overrides = new URLSearchParams()
  const undecided = new URLSearchParams()
  for (const [name, value] of parameters) {
    if (DECLARABLE.has(name)) undecided.append(name, value)
    else if (OVERRIDES.has(name)) overrides.append(name, value)
    else supply(supplied, name, value)
  }
  return { supplied, overrides: readOverrides(overrides), undecided }
}

/** The request, now that the parameters of the saved search are known. */
export function decide(
  { supplied, overrides, undecided = new URLSearchParams() }: SearchRequest,
  declared: ReadonlySet<string>,
): SearchRequest {
  const values = new Map(supplied)
  const others = new URLSearchParams()
  for (const [name, value] of undecided) {
    if (declared.has(name)) supply(values, name, value)
    else others.append(name, value)
  }
  const more = readOverrides(others)
  const twice = Object.keys(more).find((key) => Object.hasOwn(overrides, key))
  if (twice !== undefined) throw invalidRequest(`the ${twice} is given twice, in upper and in lower case`)
  return { supplied: values, overrides: { ...overrides, ...more } }
}

function supply(supplied: Map<string, Json>, name: string, value: string): void {
  if (supplied.has(name)) throw invalidRequest(`the parameter "${name}" is given twice`)
  if (value.includes('\0')) throw invalidRequest(`the parameter "${name}" holds a NUL character`)
  supplied.set(name, value)
}

/** POST: the body contains the values, the URL the overrides. */
export function readSearch(body: Json | undefined, parameters: URLSearchParams): SearchRequest {
  const values = body ?? {}
  if (!isObject(values)) throw invalidRequest('the body must be a JSON object: parameter to value')
  return { supplied: new Map(Object.entries(values)), overrides: readOverrides(parameters) }
}

export function readOverrides(parameters: URLSearchParams): JsonObject {
  const unknown = [...parameters.keys()].find((name) => !OVERRIDES.has(name))
  if (unknown !== undefined) {
    throw invalidRequest(
      `there is no parameter "${unknown}"; known are P, S, from, to, maxResults, size, after, count`,
    )
  }
  const { projection = null, ...others } = readSimpleRequest(parameters)
  const hasProjection = (parameters.get('P') ?? parameters.get('p') ?? '').trim() !== ''
  return hasProjection ? { projection, ...others } : others
}

/** Lightblue knows none of them, so its saved searches may declare parameters with these names. */
const DECLARABLE: ReadonlySet<string> = new Set(['p', 's', 'size', 'after', 'count'])
const OVERRIDES = new Set(['P', 'S', 'from', 'to', 'maxResults', ...DECLARABLE])
