/** The shape of a find: everything except the literals of its query, which later requests of the shape bind. */
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../../base/json/json.ts'
import type { Limits } from '../../../base/limits.ts'
import { isLiteral, isLiteralList } from '../../../lang/parameters.ts'

export interface QueryShape {
  /** Equal for all finds that differ only in their literals. */
  readonly key: string
  /** In the order in which `parameterized` numbers them. */
  readonly literals: readonly Json[]
  /** The cursor after which the page begins: no part of the shape. */
  readonly after?: string
}

/**
 * Undefined if there is nothing to bind, neither a literal nor a cursor, or if the find is so large that a key costs more
 * than it saves.
 */
export function shapeOf(body: Json, { inValues }: Pick<Limits, 'inValues'>): QueryShape | undefined {
  if (!isObject(body) || 'asOf' in body) return undefined
  const { after, rest } = withoutCursor(body)
  if (weightOf(rest, 0) > MAX_WEIGHT) return undefined
  const found: Found = { literals: [], inValues }
  const query = isObject(body['query']) ? withoutLiterals(body['query'], found) : undefined
  const isWholeEntity = body['query'] === undefined && after !== undefined
  if (query === undefined ? !isWholeEntity : found.literals.length === 0 && after === undefined)
    return undefined
  const key = JSON.stringify(query === undefined ? rest : { ...rest, query })
  return { key, literals: found.literals, ...(after !== undefined && { after }) }
}

function withoutCursor(body: JsonObject): { readonly after?: string; readonly rest: JsonObject } {
  const { page } = body
  if (!isObject(page) || typeof page['after'] !== 'string') return { rest: body }
  const { after, ...others } = page
  return { after, rest: { ...body, page: others } }
}

/** Characters of texts, names and numbers, plus a constant for each of them. Infinite where nothing can be prepared. */
const MAX_WEIGHT = 2_000

function weightOf(json: Json, before: number): number {
  let weight = before + 8
  if (typeof json === 'string') return weight + json.length
  // Numbers may have any number of digits.
  if (isNumber(json)) return weight + numberText(json).length
  if (isArray(json)) {
    for (const item of json) if (weight <= MAX_WEIGHT) weight = weightOf(item, weight)
  } else if (isObject(json)) {
    for (const name in json) {
      if (weight > MAX_WEIGHT) return weight
      // The time of a request differs each time, and may stand where no parameter can.
      if (name === '$now') return Infinity
      weight = weightOf(json[name]!, weight + name.length)
    }
  }
  return weight
}

interface Found {
  readonly literals: Json[]
  readonly inValues: Limits['inValues']
}

/**
 * Replaces literals by markers that are invalid there in a query, so that no query has the key of another
 * shape: `{}` for a value, 1 or 2 for a list of one or of several. Undefined if the query has something
 * invalid in these places.
 */
function withoutLiterals(query: Json, found: Found): Json | undefined {
  if (!isObject(query)) return undefined
  if (Object.hasOwn(query, 'rvalue')) return withoutValue(query, found)
  if (Object.hasOwn(query, 'field')) return Object.hasOwn(query, 'values') ? withoutList(query, found) : query
  const parts: [string, Json][] = []
  for (const name in query) {
    const part = INNER.has(name) ? withoutLiteralsIn(query[name]!, found) : query[name]
    if (part === undefined) return undefined
    parts.push([name, part])
  }
  return Object.fromEntries(parts)
}

function withoutValue(query: JsonObject, { literals }: Found): Json | undefined {
  const { rvalue } = query
  if (isLiteral(rvalue)) {
    literals.push(rvalue)
    return { ...query, rvalue: {} }
  }
  return isArray(rvalue) || isObject(rvalue) ? undefined : query
}

function withoutList(query: JsonObject, { literals, inValues }: Found): Json | undefined {
  const { values } = query
  if (!isArray(values) || values.length > inValues) return undefined
  if (!isLiteralList(values)) return query
  literals.push(values)
  return { ...query, values: values.length === 1 ? 1 : 2 }
}

function withoutLiteralsIn(part: Json, found: Found): Json | undefined {
  if (!isArray(part)) return withoutLiterals(part, found)
  const parts: Json[] = []
  for (const each of part) {
    const inner = withoutLiterals(each, found)
    if (inner === undefined) return undefined
    parts.push(inner)
  }
  return parts
}

/** The members that contain queries. */
const INNER: ReadonlySet<string> = new Set(['$and', '$all', '$or', '$any', '$not', 'elemMatch'])
