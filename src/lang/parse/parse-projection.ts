/** Parses JSON into `Projection<Named>`. */
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { DEFAULT_LIMITS } from '../../base/limits.ts'
import { type Path, parsePath, printPath } from '../../base/path.ts'
import { type Bounds, budgetIn, countItems } from '../budget.ts'
import { parseQuery } from './parse-query.ts'
import { EVERYTHING, type Projection, type ProjectionItem } from '../projection.ts'
import type { Named } from '../query.ts'
import { decoders, refuseWith } from '../../base/json/decode.ts'
import { type SortKey, parseSort } from '../sort.ts'

const read = decoders(refuseWith('query-api:InvalidProjection'))

export function parseProjection(value: Json, at: string, bounds: Bounds = DEFAULT_LIMITS): Projection<Named> {
  countItems(budgetIn(bounds), isArray(value) ? value.length : 1, at)
  if (!isArray(value)) return [parseItem(value, at, bounds)]
  return value.map((item, i) => parseItem(item, pointer(at, i), bounds))
}

const FIELD_KEYS = ['field', 'include', 'recursive']
const ARRAY_KEYS = [...FIELD_KEYS, 'match', 'range', 'projection', 'project', 'sort']

function parseItem(value: Json, at: string, bounds: Bounds): ProjectionItem<Named> {
  if (!isObject(value)) {
    const message = 'a projection must be an object or an array of objects, such as {"field": "*"}'
    throw read.refuse(message, at)
  }
  const item = value
  read.onlyKeys(item, ARRAY_KEYS, at)
  const path = read.text(item, 'field', at)
  const pattern = foldPattern(parsePath(path, pointer(at, 'field')))
  const include = read.flag(item, 'include', at) ?? true
  const recursive = read.flag(item, 'recursive', at) ?? false
  const isArrayItem = present(item, 'match') || present(item, 'range')
  if (!isArrayItem) {
    read.onlyKeys(item, [...FIELD_KEYS, 'match', 'range'], at)
    return { kind: 'field', pattern, include, recursive }
  }
  const shared = {
    array: { path: printPath(pattern), at: pointer(at, 'field') },
    pattern,
    include,
    projection: parseNested(item, at, bounds),
    sort: parseOrder(item, at, bounds),
  }
  if (!present(item, 'range')) {
    return { kind: 'match', query: parseQuery(item['match']!, pointer(at, 'match'), bounds), ...shared }
  }
  if (present(item, 'match')) throw read.refuse('"match" and "range" cannot stand together', at)
  return { kind: 'range', ...parseRange(item['range']!, pointer(at, 'range')), ...shared }
}

function parseNested(item: JsonObject, at: string, bounds: Bounds): Projection<Named> {
  const key = present(item, 'projection') ? 'projection' : 'project'
  const nested = present(item, key) ? parseProjection(item[key]!, pointer(at, key), bounds) : []
  // An empty projection is the same as none.
  return nested.length === 0 ? EVERYTHING : nested
}

function parseOrder(item: JsonObject, at: string, bounds: Bounds): readonly SortKey<Named>[] {
  if (!present(item, 'sort')) return []
  const sort = parseSort(item['sort']!, pointer(at, 'sort'))
  countItems(budgetIn(bounds), sort.length, pointer(at, 'sort'))
  return sort
}

function parseRange(value: Json, at: string): { from: number; to: number | undefined } {
  const range = read.array(value, at, '"range"')
  if (range.length !== 2)
    throw read.refuse('"range" has two numbers: the first and the last index, such as [0, 9]', at)
  const [from, to] = range.map((bound, i) => parseBound(bound, pointer(at, i)))
  return { from: Math.max(from ?? 0, 0), to }
}

function parseBound(value: Json, at: string): number | undefined {
  if (value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw read.refuse('an index must be an integer, such as 0', at)
}

/** `$this` and `$parent` in a pattern are only navigation, so they are resolved here. */
function foldPattern(path: Path): Path {
  const folded: Path[number][] = []
  for (const step of path) {
    if (step === '$parent') folded.pop()
    else if (step !== '$this') folded.push(step)
  }
  return folded
}

function present(object: JsonObject, key: string): boolean {
  return Object.hasOwn(object, key) && object[key] !== null
}
