/** Random find requests over a schema: the whole grammar of queries, sorts, ranges and projections. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { numberText, isNumber } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeKeyset } from './make-keysets.ts'
import { type ArrayNode, type Family, type Node, type ObjectNode, type Simple, familyOf } from './model.ts'
import { DATE_SPELLINGS, PATTERNS, POOLS } from './pools.ts'

/** What `$this` is, then what each `$parent` reaches: elements and the objects that hold arrays. */
export type Scope = readonly [Node, ...ObjectNode[]]

export function makeRequest(chance: Chance, root: ObjectNode): JsonObject {
  const scope: Scope = [root]
  return {
    ...(chance.happens(90) && { query: makeQuery(chance, scope, 3) }),
    projection: chance.happens(30) ? { field: '*', recursive: true } : makeProjection(chance, scope, 2),
    ...(chance.happens(60) && { sort: makeSort(chance, scope) }),
    ...makeRange(chance),
  }
}

export function makeRange(chance: Chance): JsonObject {
  const from = chance.pick([0, 0, 1, 5, 29, 40, -3])
  const to = chance.pick([null, 0, 3, 10, 50, -1])
  switch (chance.int(5)) {
    case 0:
      return { range: [from, to] }
    case 1:
      return { from, to }
    case 2:
      return { from, maxResults: chance.int(10) }
    default:
      return {}
  }
}

export function makeQuery(chance: Chance, scope: Scope, depth: number): JsonObject {
  const kind = chance.int(100)
  if (depth > 0 && kind < 25) {
    const key = chance.pick(['$and', '$or', '$all', '$any'])
    return { [key]: chance.list(4, () => makeQuery(chance, scope, depth - 1)) }
  }
  if (depth > 0 && kind < 35) return { $not: makeQuery(chance, scope, depth - 1) }
  if (depth > 0 && kind < 48) return makeElemMatch(chance, scope, depth) ?? makeQuery(chance, scope, 0)
  if (depth > 0 && kind < 55) {
    const other = (): JsonObject => makeQuery(chance, scope, 0)
    return makeKeyset(chance, { key: () => makeKey(chance, scope), other }) ?? other()
  }
  if (kind < 60) return makeContains(chance, scope) ?? makeCompare(chance, scope)
  if (kind < 72) return makeFieldCompare(chance, scope) ?? makeCompare(chance, scope)
  if (kind < 80) return makeRegex(chance, scope) ?? makeCompare(chance, scope)
  if (kind < 90) return makeIn(chance, scope) ?? makeCompare(chance, scope)
  return makeCompare(chance, scope)
}

function makeKey(chance: Chance, scope: Scope) {
  const found = pickField(chance, scope, (node) => familyOf(node) !== undefined)
  return found && { path: found.path, literal: () => makeLiteral(chance, found.node as Simple) }
}

const COMPARE = ['=', '$eq', '!=', '$neq', '$ne', '<', '$lt', '>', '$gt', '<=', '$lte', '>=', '$gte']

export function makeCompare(chance: Chance, scope: Scope): JsonObject {
  const { path, node } = pickField(chance, scope, () => true)!
  const isComparable = familyOf(node) !== undefined
  if (!isComparable || chance.happens(10)) {
    return { field: path, op: chance.pick(['=', '!=', '$ne']), rvalue: null }
  }
  return { field: path, op: chance.pick(COMPARE), rvalue: makeLiteral(chance, node as Simple) }
}

function makeIn(chance: Chance, scope: Scope): JsonObject | undefined {
  const field = pickField(chance, scope, (node) => familyOf(node) !== undefined)
  if (!field) return undefined
  const values = chance.list(5, () => (chance.happens(12) ? null : makeLiteral(chance, field.node as Simple)))
  return { field: field.path, op: chance.pick(['$in', '$nin', '$not_in']), values }
}

function makeRegex(chance: Chance, scope: Scope): JsonObject | undefined {
  const field = pickField(chance, scope, (node) => familyOf(node) === 'text')
  if (!field) return undefined
  const flags = Object.fromEntries(
    ['caseInsensitive', 'multiline', 'extended', 'dotall']
      .filter((_, i) => chance.happens(i === 0 ? 40 : 10))
      .map((flag) => [flag, true]),
  )
  const options = chance.happens(15) ? { options: chance.pick(['i', 'im', 'xs', '']) } : {}
  return { field: field.path, regex: chance.pick(PATTERNS), ...flags, ...options }
}

export function makeFieldCompare(chance: Chance, scope: Scope): JsonObject | undefined {
  const left = pickField(chance, scope, (node) => comparedFamily(node) !== undefined)
  if (!left) return undefined
  const family = comparedFamily(left.node)
  const isMembership = left.node.kind === 'simple' && chance.happens(25)
  const right = pickField(
    chance,
    scope,
    (node) => comparedFamily(node) === family && (!isMembership || node.kind === 'array'),
  )
  if (!right) return undefined
  const op = chance.pick(isMembership ? ['$in', '$nin'] : COMPARE)
  return { field: left.path, op, rfield: right.path }
}

export function comparedFamily(node: Node): Family | undefined {
  if (node.kind === 'simple' && node.isCount) return undefined
  return familyOf(node.kind === 'array' ? node.element : node)
}

function makeContains(chance: Chance, scope: Scope): JsonObject | undefined {
  const field = pickField(
    chance,
    scope,
    (node) => node.kind === 'array' && familyOf(node.element) !== undefined,
  )
  if (!field) return undefined
  const element = (field.node as ArrayNode).element as Simple
  const values = chance.list(4, () => (chance.happens(15) ? null : makeLiteral(chance, element)))
  return { array: field.path, contains: chance.pick(['$any', '$all', '$none']), values }
}

function makeElemMatch(chance: Chance, scope: Scope, depth: number): JsonObject | undefined {
  const array = pickField(chance, scope, ({ kind }) => kind === 'array')
  if (!array) return undefined
  return { array: array.path, elemMatch: makeQuery(chance, inside(array), depth - 1) }
}

export function makeSort(chance: Chance, scope: Scope): Json {
  const key = (): JsonObject | undefined => {
    const field = pickField(chance, scope, (node) => familyOf(node) !== undefined)
    return field && { [field.path]: chance.pick(['$asc', '$desc']) }
  }
  const keys = Array.from({ length: 1 + chance.int(3) }, key).filter((each) => each !== undefined)
  return keys.length === 1 ? keys[0]! : keys
}

/** Values of the type, sometimes spelled as another type that converts without loss. */
export function makeLiteral(chance: Chance, { type, pool = POOLS[type] }: Simple): Json {
  const value = chance.pick(pool)
  if (!chance.happens(15)) return value
  if (type === 'date') return chance.pick(DATE_SPELLINGS)
  if (isNumber(value))
    return type === 'integer' || type === 'biginteger' || type === 'bigdecimal' ? numberText(value) : value
  if (typeof value === 'boolean') return String(value)
  return type === 'string' ? chance.pick([1, 3, true, JSON.rawJSON('1.10')]) : value
}

export function makeProjection(chance: Chance, scope: Scope, depth: number): Json {
  const items = Array.from({ length: 1 + chance.int(4) }, () => makeItem(chance, scope, depth))
  return items.length === 1 && chance.happens(50) ? items[0]! : items
}

function makeItem(chance: Chance, scope: Scope, depth: number): JsonObject {
  const include = chance.happens(60) ? {} : { include: chance.happens(50) }
  const array = depth > 0 && chance.happens(40) && pickArrayBelow(chance, scope)
  if (!array)
    return { field: makePattern(chance, scope), ...include, ...(chance.happens(40) && { recursive: true }) }
  const inner = inside(array)
  const own = inner.map(withoutJoined) as unknown as Scope
  const selector = chance.happens(60)
    ? { match: makeQuery(chance, own, 1) }
    : { range: [chance.pick([0, 1, -1, 2, null]), chance.pick([0, 1, 2, null, -1])] }
  const nested = chance.happens(60) && {
    [chance.pick(['projection', 'project'])]: makeProjection(chance, inner, depth - 1),
  }
  const sort = chance.happens(40) && { sort: makeSort(chance, own) }
  return { field: array.path, ...include, ...selector, ...nested, ...sort }
}

/** Array projections are patterns, so they start where they stand: no `$parent` leads out of them. */
function pickArrayBelow(chance: Chance, scope: Scope): Found | undefined {
  const found = pickField(chance, [scope[0]], ({ kind }) => kind === 'array')
  return found && { ...found, holders: [...found.holders, ...scope.slice(1)] as readonly ObjectNode[] }
}

function makePattern(chance: Chance, scope: Scope): string {
  const { path } = pickField(chance, [scope[0]], () => true)!
  const steps = path.split('.').filter((step) => step !== '$this')
  const loosened = steps.map((step) => (chance.happens(20) ? '*' : step))
  if (chance.happens(10)) loosened.push(chance.pick(['*', '0', 'z', '-1', 'y']))
  if (chance.happens(5)) return '*'
  return loosened.length === 0 ? '*' : loosened.join('.')
}

export interface Found {
  readonly path: string
  readonly node: Node
  /** The objects and elements on the way down to it, innermost first, then what surrounds those. */
  readonly holders: readonly ObjectNode[]
}

export function inside({ node, holders }: Found): Scope {
  return [(node as ArrayNode).element, ...holders]
}

/** A field that passes the test, by a path with `*`, indexes, `$this` and `$parent`; undefined when there is none. */
export function pickField(chance: Chance, scope: Scope, test: (node: Node) => boolean): Found | undefined {
  const up = chance.happens(70) ? 0 : chance.int(scope.length)
  const found = pickBelow(chance, scope, up, test) ?? pickBelow(chance, scope, 0, test)
  if (found) return found
  for (let climbed = 1; climbed < scope.length; climbed++) {
    const higher = pickBelow(chance, scope, climbed, test)
    if (higher) return higher
  }
  return undefined
}

export function pickBelow(
  chance: Chance,
  scope: Scope,
  up: number,
  test: (node: Node) => boolean,
): Found | undefined {
  const start = scope[up]!
  const outer = scope.slice(up + 1) as readonly ObjectNode[]
  const all: Way[] = allWaysDown(start).filter(({ node }) => test(node))
  if (up === 0 && start.kind === 'simple' && test(start))
    all.push({ steps: ['$this'], node: start, holders: [] })
  if (all.length === 0) return undefined
  const { steps, node, holders } = chance.pick(all)
  const climb = Array.from({ length: up }, () => '$parent')
  const concrete = steps.map((step) => (step === '*' ? starOrIndex(chance) : step === EACH ? '*' : step))
  const path = [...climb, ...withDetour(chance, concrete)]
  if (chance.happens(5)) path.unshift('$this')
  return { path: path.join('.'), node, holders: [...holders, ...outer] }
}

const plainNodes = new WeakMap<Node, Node>()

/** The same without what references join; queries and sorts of array projections stay in the documents. */
export function withoutJoined<N extends Node>(node: N): N {
  const known = plainNodes.get(node)
  if (known) return known as N
  const plain = plainly(node)
  plainNodes.set(node, plain)
  return plain as N
}

function plainly(node: Node): Node {
  if (node.kind === 'simple') return node
  if (node.kind === 'array') return { ...node, element: withoutJoined(node.element) }
  const fields = [...node.fields].filter(
    ([, field]) => !(field.kind === 'array' && field.isJoined) && !(field.kind === 'simple' && field.isCount),
  )
  return { kind: 'object', fields: new Map(fields.map(([name, field]) => [name, withoutJoined(field)])) }
}

function starOrIndex(chance: Chance): string {
  return chance.happens(60) ? '*' : chance.pick(['0', '1', '2', '-1', '-2', '-4', '+1'])
}

/** `a.b` may also be written `a.b.$parent.b`. */
function withDetour(chance: Chance, steps: readonly string[]): readonly string[] {
  const last = steps.at(-1)
  const isName = last !== undefined && last !== '$this' && last !== '*' && !/^[+-]?\d+$/.test(last)
  return isName && chance.happens(4) ? [...steps, '$parent', last] : steps
}

/** Any document that a reference joins; queries cannot ask for one by its place. */
const EACH = '*each'

interface Way {
  readonly steps: readonly string[]
  readonly node: Node
  readonly holders: readonly ObjectNode[]
}

const knownWays = new WeakMap<Node, readonly Way[]>()

function allWaysDown(node: Node): readonly Way[] {
  const ways = knownWays.get(node) ?? [...waysDown(node, [], [])]
  knownWays.set(node, ways)
  return ways
}

function* waysDown(node: Node, steps: readonly string[], holders: readonly ObjectNode[]): Generator<Way> {
  if (steps.length > 0) yield { steps, node, holders }
  if (node.kind === 'object') {
    for (const [name, child] of node.fields) yield* waysDown(child, [...steps, name], [node, ...holders])
  }
  if (node.kind === 'array') yield* waysDown(node.element, [...steps, node.isJoined ? EACH : '*'], holders)
}
