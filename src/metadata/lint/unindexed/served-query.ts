/** Whether an index finds the documents that match a query, or every document is read. */
import { type Json, type JsonObject, isArray, isObject } from '../../../base/json/json.ts'

export interface Served {
  readonly isServed: boolean
  /** The fields that the query compares. */
  readonly paths: readonly string[]
}

/**
 * `hasIndex` says whether an index begins with a path. Placeholders may stand for any part of the query of a saved search,
 * so the JSON is inspected as it is; a field that only the caller names counts as served.
 */
export function servedQuery(query: Json, hasIndex: (path: string) => boolean): Served {
  const paths = new Set<string>()
  const isServed = isServedQuery(query, { hasIndex, paths, within: '' })
  return { isServed, paths: [...paths] }
}

interface Inside {
  readonly hasIndex: (path: string) => boolean
  readonly paths: Set<string>
  /** The path of the elements, inside an elemMatch. */
  readonly within: string
}

function isServedQuery(query: Json, inside: Inside): boolean {
  if (!isObject(query)) return true
  const all = query['$and'] ?? query['$all']
  if (isArray(all)) return all.map((term) => isServedQuery(term, inside)).some(Boolean)
  const any = query['$or'] ?? query['$any']
  if (isArray(any)) return any.map((term) => isServedQuery(term, inside)).every(Boolean)
  const { $not, field, array, elemMatch } = query
  if (isObject($not)) {
    isServedQuery($not, inside)
    return false
  }
  if (typeof array === 'string') {
    const within = `${pathIn(array, inside)}.*`
    if (elemMatch !== undefined) return isServedQuery(elemMatch, { ...inside, within: `${within}.` })
    return isServedPath(within, inside) && query['contains'] !== '$none'
  }
  if (typeof field !== 'string' || field.includes('${')) return true
  return isServedPath(pathIn(field, inside), inside) && isFinding(query)
}

function pathIn(path: string, { within }: Inside): string {
  return path === '$this' ? within.slice(0, -1) : `${within}${path}`
}

function isServedPath(path: string, { hasIndex, paths }: Inside): boolean {
  paths.add(path)
  return hasIndex(path)
}

/** Whether an index on the field leads to the matches of the condition. */
function isFinding({ op, regex, rfield }: JsonObject): boolean {
  if (rfield !== undefined) return false
  if (typeof regex === 'string') return regex.startsWith('^')
  return typeof op !== 'string' || !NEGATIVE.has(op)
}

const NEGATIVE: ReadonlySet<string> = new Set(['!=', '$neq', '$ne', '$nin', '$not_in'])
