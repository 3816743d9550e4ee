/** JSON → aggregation: `groupBy`, `values`, `having` and `sort` of a request. */
import { ServiceError } from '../../base/errors.ts'
import { asBoolean } from '../../base/json/decode.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { isIndex } from '../../base/path.ts'
import { didYouMean } from '../../base/suggest.ts'
import { PERIODS, isPeriod, knownTimeZone } from '../../schema/periods/period.ts'
import {
  type Aggregation,
  FIELD_AGGREGATES,
  type FieldAggregate,
  type GroupKey,
  type GroupValue,
  type Truncation,
} from '../aggregate.ts'
import type { Bounds } from '../budget.ts'
import type { Named } from '../query.ts'
import { parseSort } from '../sort.ts'
import { parseQuery } from './parse-query.ts'

const MAX_KEYS = 32
const MAX_VALUES = 100

/** Null counts as absent in each of the parts. */
export function parseAggregation(request: JsonObject, bounds: Bounds): Aggregation<Named> {
  const { groupBy, values, having, sort } = request
  const keys = isGiven(groupBy) ? parseKeys(groupBy) : []
  const computed = isGiven(values) ? parseValues(values) : []
  if (keys.length + computed.length === 0) {
    throw invalid('"groupBy" must name the fields to group by, or "values" the values to compute', '')
  }
  requireDistinctNames([...keys, ...computed], keys.length)
  return {
    keys,
    values: computed,
    ...(isGiven(having) && { having: parseQuery(having, '/having', bounds) }),
    sort: isGiven(sort) ? parseSort(sort, '/sort') : [],
  }
}

export function invalid(message: string, at: string): ServiceError {
  return new ServiceError('query-api:InvalidAggregation', message, at === '' ? {} : { at })
}

function isGiven(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}

function parseKeys(groupBy: Json): readonly GroupKey<Named>[] {
  if (!isArray(groupBy)) throw invalid('"groupBy" is a list, such as ["city"]', '/groupBy')
  requireAtMost(groupBy.length, MAX_KEYS, '/groupBy')
  return groupBy.map((each, i) => parseKey(each, pointer('/groupBy', i)))
}

const KEY_MEMBERS = ['field', 'truncate', 'timeZone', 'as']
const KEY_LOOKS_LIKE = 'a path, or an object such as {"field": "date", "truncate": "month", "as": "month"}'

function parseKey(key: Json, at: string): GroupKey<Named> {
  if (typeof key === 'string') return { name: key, field: { path: key, at } }
  if (!isObject(key) || typeof key['field'] !== 'string')
    throw invalid(`an item of "groupBy" is ${KEY_LOOKS_LIKE}`, at)
  const unknown = Object.keys(key).find((name) => !KEY_MEMBERS.includes(name))
  if (unknown !== undefined) {
    const message = `"groupBy" does not know "${unknown}"${didYouMean(unknown, KEY_MEMBERS)}; it is ${KEY_LOOKS_LIKE}`
    throw invalid(message, pointer(at, unknown))
  }
  const { field, as } = key
  if (isGiven(as) && (typeof as !== 'string' || as === '')) {
    throw invalid('"as" is the name in the result, such as "month"', pointer(at, 'as'))
  }
  const truncate = parseTruncation(key, at)
  return {
    name: typeof as === 'string' ? checkedName(as, pointer(at, 'as')) : field,
    field: { path: field, at: pointer(at, 'field') },
    ...(truncate && { truncate }),
  }
}

function parseTruncation({ truncate, timeZone }: JsonObject, at: string): Truncation | undefined {
  if (!isGiven(truncate)) {
    if (isGiven(timeZone)) throw invalid('"timeZone" needs "truncate" beside it', pointer(at, 'timeZone'))
    return undefined
  }
  if (typeof truncate !== 'string' || !isPeriod(truncate)) {
    throw invalid(`"truncate" is one of ${PERIODS.join(', ')}`, pointer(at, 'truncate'))
  }
  const zone = isGiven(timeZone) ? parseTimeZone(timeZone, pointer(at, 'timeZone')) : undefined
  return { period: truncate, ...(zone !== undefined && { timeZone: zone }) }
}

function parseTimeZone(timeZone: Json, at: string): string | undefined {
  try {
    if (typeof timeZone === 'string') return knownTimeZone(timeZone)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
  }
  throw invalid('"timeZone" is a name of the IANA database, such as "Europe/Zurich"', at)
}

const OPERATIONS = ['$count', ...FIELD_AGGREGATES]
const VALUE_LOOKS_LIKE = `one of ${FIELD_AGGREGATES.join(', ')} of a path, such as {"$sum": "amount"}, or {"$count": true}`

function parseValues(values: Json): readonly GroupValue<Named>[] {
  if (!isObject(values)) {
    throw invalid('"values" is an object of names, such as {"total": {"$sum": "amount"}}', '/values')
  }
  const entries = Object.entries(values)
  requireAtMost(entries.length, MAX_VALUES, '/values')
  return entries.map(([name, value]) => parseValue(name, value, pointer('/values', name)))
}

function parseValue(name: string, value: Json, at: string): GroupValue<Named> {
  if (name === '') throw invalid('a value needs a name', at)
  checkedName(name, at)
  const [op, ...others] = isObject(value) ? Object.keys(value) : []
  if (!isObject(value) || op === undefined || others.length > 0)
    throw invalid(`a value is ${VALUE_LOOKS_LIKE}`, at)
  const place = pointer(at, op)
  if (op === '$count') {
    if (asBoolean(value[op]) === true) return { name, op }
    throw invalid('"$count" counts rows: {"$count": true}; "$distinct" counts the values of a field', place)
  }
  if (!isFieldAggregate(op)) {
    throw invalid(`"${op}" is not known${didYouMean(op, OPERATIONS)}; a value is ${VALUE_LOOKS_LIKE}`, place)
  }
  const path = value[op]
  if (typeof path !== 'string') throw invalid(`"${op}" needs the path of a field, such as "amount"`, place)
  return { name, op, field: { path, at: place } }
}

/** Fields have no such names either. Members of objects with such names would not keep the order of the request. */
function checkedName(name: string, at: string): string {
  if (!isIndex(name)) return name
  const message = `"${name}" cannot be a name in the result: it reads as the index of an array element; write a name such as "n${name.replace(/^[+-]/, '')}"`
  throw invalid(message, at)
}

function isFieldAggregate(op: string): op is FieldAggregate {
  return (FIELD_AGGREGATES as readonly string[]).includes(op)
}

function requireAtMost(count: number, max: number, at: string): void {
  if (count <= max) return
  throw new ServiceError('crud:LimitExceeded', `"${at.slice(1)}" may have at most ${max} entries`, { at })
}

function requireDistinctNames(named: readonly { readonly name: string }[], keys: number): void {
  const seen = new Set<string>()
  for (const [i, { name }] of named.entries()) {
    const at = i < keys ? pointer('/groupBy', i) : pointer('/values', name)
    if (seen.has(name))
      throw invalid(`the result would have two members "${name}"; rename one of them by "as"`, at)
    seen.add(name)
  }
}
