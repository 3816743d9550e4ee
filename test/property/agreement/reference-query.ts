/**
 * Queries and sorts a second time, slowly and straight from the words of docs/reference: paths become positions in the
 * document, positions become values, values are compared as exact numbers, instants and UTF-8 bytes. Nothing here is
 * shared with `src/lang`.
 */
import { RE2JS } from 're2js'
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../../src/base/json/json.ts'
import type { Node, ObjectNode, Type } from './model.ts'

/** Steps from the root to one value; a number is the position in an array. */
export type Position = readonly (string | number)[]

export interface World {
  readonly root: ObjectNode
  readonly document: JsonObject
}

export function matches(query: JsonObject, at: Position, world: World): boolean {
  const [key] = Object.keys(query)
  if (key === '$and' || key === '$all') return list(query[key]).every((term) => matches(term, at, world))
  if (key === '$or' || key === '$any') return list(query[key]).some((term) => matches(term, at, world))
  if (key === '$not') return !matches(query[key] as JsonObject, at, world)
  if (query['array'] !== undefined) return matchesArray(query, at, world)
  if (query['regex'] !== undefined) return matchesPattern(query, at, world)
  const op = OPERATORS[query['op'] as string]!
  if (op === '!=') return !matches({ ...query, op: '=' }, at, world)
  if (op === '$nin') return !matches({ ...query, op: '$in' }, at, world)
  if (query['rfield'] !== undefined) return matchesFields(query, op, at, world)
  return matchesValues(query, op, at, world)
}

/** Compares documents by one sort after the other, then by `_id`. */
export function compareDocuments(sort: Json, root: ObjectNode): (a: JsonObject, b: JsonObject) => number {
  const keys = [...sortKeys(sort), { path: '_id', descending: false }]
  const known = new Map<JsonObject, Values>()
  const valuesOf = (document: JsonObject): Values => {
    const values = known.get(document) ?? representatives(keys, { at: [], world: { root, document } })
    known.set(document, values)
    return values
  }
  return (a, b) => compareValues(keys, valuesOf(a), valuesOf(b))
}

export interface Place {
  readonly at: Position
  readonly world: World
}

export interface Key {
  readonly path: string
  readonly descending: boolean
}

export function sortKeys(sort: Json | undefined): readonly Key[] {
  if (sort === undefined || sort === null) return []
  return (isArray(sort) ? sort : [sort]).map((key) => {
    const [path, direction] = Object.entries(key as JsonObject)[0]!
    return { path, descending: direction === '$desc' }
  })
}

export function compareBy(keys: readonly Key[], a: Place, b: Place): number {
  return compareValues(keys, representatives(keys, a), representatives(keys, b))
}

type Values = readonly (Comparable | null)[]

function compareValues(keys: readonly Key[], a: Values, b: Values): number {
  for (const [i, { descending }] of keys.entries()) {
    const order = compare(a[i]!, b[i]!)
    if (order !== 0) return descending ? -order : order
  }
  return 0
}

/** What a place is sorted by, one value for each key. */
function representatives(keys: readonly Key[], place: Place): Values {
  return keys.map(({ path, descending }) => representative(path, descending, place))
}

/** Null and missing are the least; an array without elements stands for null. */
function representative(path: string, descending: boolean, { at, world }: Place): Comparable | null {
  const type = typeAt(path, at, world)
  const values = candidates(path, at, world).map((value) => comparable(value, type))
  values.sort(compare)
  return (descending ? values.at(-1) : values[0]) ?? null
}

const OPERATORS: Readonly<Record<string, string>> = {
  '=': '=',
  $eq: '=',
  '!=': '!=',
  $neq: '!=',
  $ne: '!=',
  '<': '<',
  $lt: '<',
  '>': '>',
  $gt: '>',
  '<=': '<=',
  $lte: '<=',
  '>=': '>=',
  $gte: '>=',
  $in: '$in',
  $nin: '$nin',
  $not_in: '$nin',
}

function holds(op: string, order: number): boolean {
  if (op === '=') return order === 0
  if (op === '<') return order < 0
  if (op === '>') return order > 0
  return op === '<=' ? order <= 0 : order >= 0
}

function matchesValues(query: JsonObject, op: string, at: Position, world: World): boolean {
  const path = query['field'] as string
  const node = nodeAt(path, at, world)
  if (node.kind === 'array' && node.isJoined) return joinsNothing(path, at, world)
  const type = typeAt(path, at, world)
  const all = candidates(path, at, world)
  // Where nothing holds the reference, there is no number of its documents.
  const found = node.kind === 'simple' && node.isCount ? all.filter((value) => value !== undefined) : all
  const isNull = (value: Json | undefined): boolean => value === undefined || value === null
  const wanted = op === '$in' ? (query['values'] as readonly Json[]) : [query['rvalue']!]
  return wanted.some((literal) => {
    if (literal === null) return found.some(isNull)
    const right = comparable(literal, type)
    return found.some(
      (value) => !isNull(value) && holds(op === '$in' ? '=' : op, compare(comparable(value, type), right)),
    )
  })
}

/** `ref = null`; in documents of another reference it is asked of each of those. */
function joinsNothing(path: string, at: Position, world: World): boolean {
  const { climbs, steps } = folded(path)
  const from = climbed(at, climbs)
  const isDocument = (i: number): boolean => {
    const holder = nodeAt(steps.slice(0, i).join('.') || '$this', from, world)
    return holder.kind === 'array' && holder.isJoined === true
  }
  const start = steps.findLastIndex((_, i) => isDocument(i)) + 1
  const starts = start === 0 ? [from] : positions(steps.slice(0, start).join('.'), from, world)
  const rest = steps.slice(start).join('.')
  return starts.some((each) => candidates(rest, each, world).every((found) => elementsOf(found).length === 0))
}

function matchesPattern(query: JsonObject, at: Position, world: World): boolean {
  const options = (query['options'] ?? '') as string
  const isSet = (flag: string, letter: string): boolean => query[flag] === true || options.includes(letter)
  let bits = 0
  if (isSet('caseInsensitive', 'i')) bits |= RE2JS.CASE_INSENSITIVE
  if (isSet('multiline', 'm')) bits |= RE2JS.MULTILINE
  if (isSet('dotall', 's')) bits |= RE2JS.DOTALL
  const source = query['regex'] as string
  // None of the patterns in the pools holds a class or an escape together with white space or `#`.
  const pattern = patternOf(
    isSet('extended', 'x') ? source.replace(/#.*/g, '').replaceAll(/\s/g, '') : source,
    bits,
  )
  return candidates(query['field'] as string, at, world).some(
    (value) => typeof value === 'string' && pattern.matcher(value).find(),
  )
}

const patterns = new Map<string, RE2JS>()

/** The pools hold few patterns, and each is asked of many documents. */
function patternOf(source: string, bits: number): RE2JS {
  const key = `${bits} ${source}`
  const pattern = patterns.get(key) ?? RE2JS.compile(source, bits)
  patterns.set(key, pattern)
  return pattern
}

function matchesArray(query: JsonObject, at: Position, world: World): boolean {
  const path = query['array'] as string
  if (query['elemMatch'] !== undefined) {
    return positions(path, at, world).some((array) => {
      const elements = valueAt(array, world)
      if (!isArray(elements)) return false
      return elements.some((_, i) => matches(query['elemMatch'] as JsonObject, [...array, i], world))
    })
  }
  const type = typeAt(path, at, world)
  const wanted = (query['values'] as readonly Json[]).map((value) => comparable(value, type))
  const arrays = candidates(path, at, world).map((array) =>
    elementsOf(array).map((each) => comparable(each, type)),
  )
  const has = (array: readonly (Comparable | null)[]) => (value: Comparable | null) =>
    array.some((each) => compare(each, value) === 0)
  if (query['contains'] === '$all') return arrays.some((array) => wanted.every(has(array)))
  const any = arrays.some((array) => wanted.some(has(array)))
  return query['contains'] === '$any' ? any : !any
}

function matchesFields(query: JsonObject, op: string, at: Position, world: World): boolean {
  const [left, right] = [query['field'] as string, query['rfield'] as string]
  const [leftType, rightType] = [typeAt(left, at, world), typeAt(right, at, world)]
  const [leftIsArray, rightIsArray] = [isArrayAt(left, at, world), isArrayAt(right, at, world)]
  const values = (a: Comparable | null, b: Comparable | null): boolean => {
    if (a === null || b === null) return op === '=' && a === b
    return holds(op, compare(a, b))
  }
  return candidates(left, at, world).some((a) =>
    candidates(right, at, world).some((b) => {
      const many = (value: Json | undefined, type: Type) =>
        elementsOf(value).map((each) => comparable(each, type))
      if (op === '$in') {
        const value = comparable(a, leftType)
        return many(b, rightType).some((each) => compare(each, value) === 0)
      }
      if (leftIsArray && rightIsArray) {
        const [as, bs] = [many(a, leftType), many(b, rightType)]
        if (as.length !== bs.length) return false
        return as.length === 0
          ? op === '=' || op === '<=' || op === '>='
          : as.every((each, i) => values(each, bs[i]!))
      }
      if (leftIsArray) {
        const as = many(a, leftType)
        return as.length > 0 && as.every((each) => values(each, comparable(b, rightType)))
      }
      if (rightIsArray) {
        const bs = many(b, rightType)
        return bs.length > 0 && bs.every((each) => values(comparable(a, leftType), each))
      }
      return values(comparable(a, leftType), comparable(b, rightType))
    }),
  )
}

function elementsOf(value: Json | undefined): readonly Json[] {
  return isArray(value) ? value : []
}

function list(value: Json | undefined): readonly JsonObject[] {
  return value as readonly JsonObject[]
}

export interface Folded {
  readonly climbs: number
  readonly steps: readonly (string | number)[]
}

const foldedPaths = new Map<string, Folded>()

/** `x.$parent` cancels itself; what is left climbs first and then only goes down. */
export function folded(path: string): Folded {
  const known = foldedPaths.get(path)
  if (known) return known
  if (foldedPaths.size > 10_000) foldedPaths.clear()
  const result = fold(path)
  foldedPaths.set(path, result)
  return result
}

function fold(path: string): Folded {
  let climbs = 0
  const steps: (string | number)[] = []
  for (const step of path.split('.')) {
    if (step === '$this') continue
    if (step !== '$parent') steps.push(/^[+-]?\d+$/.test(step) ? Number(step) : step)
    else if (steps.length === 0) climbs++
    else {
      const last = steps.pop()
      if (last === '*' || typeof last === 'number') steps.pop()
    }
  }
  return { climbs, steps }
}

/** From an element up to the object that holds its array, from a member up to its object. */
export function climbed(at: Position, climbs: number): Position {
  let position = at
  for (let i = 0; i < climbs; i++) {
    position = position.slice(0, typeof position.at(-1) === 'number' ? -2 : -1)
  }
  return position
}

const MISSING = -1

/** Every position the path can mean; those with MISSING lead to nothing. */
export function positions(path: string, at: Position, world: World): readonly Position[] {
  const { climbs, steps } = folded(path)
  let found: readonly Position[] = [climbed(at, climbs)]
  for (const step of steps) {
    found = found.flatMap((position): readonly Position[] => {
      const value = valueAt(position, world)
      if (step === '*')
        return isArray(value)
          ? value.map((_, i) => [...position, i])
          : isJoinedAt(position, world)
            ? []
            : [[...position, MISSING]]
      if (typeof step === 'string') return [[...position, step]]
      const length = isArray(value) ? value.length : 0
      const index = step < 0 ? length + step : step
      return [[...position, index >= 0 && index < length ? index : MISSING]]
    })
  }
  return found
}

/** Where no object holds a reference there is no document at all, not a missing one. */
function isJoinedAt(position: Position, world: World): boolean {
  const node = nodeAt('$this', position, world)
  return node.kind === 'array' && node.isJoined === true
}

function candidates(path: string, at: Position, world: World): readonly (Json | undefined)[] {
  return positions(path, at, world).map((position) => valueAt(position, world))
}

export function valueAt(position: Position, { document }: World): Json | undefined {
  let value: Json | undefined = document
  for (const step of position) {
    if (typeof step === 'number') value = isArray(value) ? value[step] : undefined
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined
  }
  return value
}

export function nodeAt(path: string, at: Position, { root }: World): Node {
  const { climbs, steps } = folded(path)
  let node: Node = root
  for (const step of [...climbed(at, climbs), ...steps]) {
    node = node.kind === 'array' ? node.element : (node as ObjectNode).fields.get(step as string)!
  }
  return node
}

function typeAt(path: string, at: Position, world: World): Type {
  const node = nodeAt(path, at, world)
  const value = node.kind === 'array' ? node.element : node
  return value.kind === 'simple' ? value.type : 'any'
}

function isArrayAt(path: string, at: Position, world: World): boolean {
  return nodeAt(path, at, world).kind === 'array'
}

/** An exact number is a whole number of 10^-scale. */
export type Comparable = Buffer | { readonly digits: bigint; readonly scale: number } | Json

export function comparable(value: Json | undefined, type: Type): Comparable | null {
  if (value === undefined || value === null) return null
  switch (type) {
    case 'boolean':
      return typeof value === 'string' ? value === 'true' : value
    case 'integer':
    case 'double':
    case 'biginteger':
    case 'bigdecimal':
      return exact(isNumber(value) ? numberText(value) : (value as string))
    case 'string':
    case 'uid':
      return Buffer.from(isNumber(value) ? numberText(value) : textual(value))
    case 'date':
      return Date.parse(isoOf(value as string))
    case 'binary':
    case 'any':
      return 'something'
  }
}

function textual(value: Json): string {
  return typeof value === 'boolean' ? String(value) : (value as string)
}

export function isoOf(text: string): string {
  const own = /^(\d{4})(\d\d)(\d\d)T(.*)([+-]\d\d)(\d\d)$/.exec(text)
  return own ? `${own[1]}-${own[2]}-${own[3]}T${own[4]}${own[5]}:${own[6]}` : text
}

function exact(text: string): { readonly digits: bigint; readonly scale: number } {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!
  return { digits: BigInt(`${sign}${whole}${fraction}`), scale: fraction.length - Number(power) }
}

export function compare(a: Comparable | null, b: Comparable | null): number {
  if (a === null || b === null) return (a === null ? 0 : 1) - (b === null ? 0 : 1)
  if (Buffer.isBuffer(a) && Buffer.isBuffer(b)) return Buffer.compare(a, b)
  if (typeof a === 'boolean' || typeof a === 'number') return Number(a) - Number(b)
  if (typeof a === 'string') return 0
  const [x, y] = [a as ReturnType<typeof exact>, b as ReturnType<typeof exact>]
  const scale = Math.max(x.scale, y.scale)
  const difference = x.digits * 10n ** BigInt(scale - x.scale) - y.digits * 10n ** BigInt(scale - y.scale)
  return difference === 0n ? 0 : difference < 0n ? -1 : 1
}
