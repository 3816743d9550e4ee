/** Sort keys: a field and a direction. */
import { ServiceError } from '../base/errors.ts'
import { type Json, isArray, isObject, pointer } from '../base/json/json.ts'
import type { Named } from './query.ts'

export interface SortKey<F> {
  readonly field: F
  readonly descending: boolean
}

const MAX_KEYS = 32

/** `{path: "$asc" | "$desc"}` with one key, or an array of those. */
export function parseSort(value: Json, at: string): readonly SortKey<Named>[] {
  if (!isArray(value)) return [parseKey(value, at)]
  if (value.length > MAX_KEYS) {
    throw new ServiceError('crud:LimitExceeded', `a sort may have at most ${MAX_KEYS} keys`, { at })
  }
  return value.map((each, i) => parseKey(each, pointer(at, i)))
}

export function printSort(sort: readonly SortKey<{ readonly path: string }>[]): Json {
  return sort.map(({ field, descending }) => ({ [field.path]: descending ? '$desc' : '$asc' }))
}

const KEY = 'a sort key is an object with exactly one field, such as {"name": "$asc"}'

function parseKey(value: Json, at: string): SortKey<Named> {
  const [path, ...others] = isObject(value) ? Object.keys(value) : []
  if (!isObject(value) || path === undefined || others.length > 0) {
    throw new ServiceError('query-api:InvalidSort', KEY, { at })
  }
  const direction = value[path]
  if (direction !== '$asc' && direction !== '$desc') {
    const place = { at: pointer(at, path) }
    throw new ServiceError('query-api:InvalidSort', 'the direction is "$asc" or "$desc"', place)
  }
  return { field: { path, at: pointer(at, path) }, descending: direction === '$desc' }
}
