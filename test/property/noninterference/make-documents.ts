/** Documents that fit a world, in pairs: the same to its caller, and drawn anew in all that the caller may not read. */
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import type { Node, ObjectNode, Simple } from '../agreement/model.ts'
import { POOLS } from '../agreement/pools.ts'
import { RULED, type World, isSecret, isUnknown } from './world.ts'

export interface Pair {
  readonly a: JsonObject
  readonly b: JsonObject
}

export function makePairs(chance: Chance, world: World, count: number): readonly Pair[] {
  return Array.from({ length: count }, (_, i) => {
    const a = makeDocument(chance, world, nameOf(i))
    const b = redrawMembers(chance, world, { node: world.root, at: '', old: a, whole: a })
    return { a, b: named(world, b, { _id: nameOnB(world, i, a), name: `k${nameOf(i)}` }) }
  })
}

/** Documents of which the caller learns nothing at all, so that each side has others, and another number of them. */
export function makeUnknown(chance: Chance, world: World): readonly JsonObject[] {
  // that a unique value is taken shows to everybody
  if (world.indexes.some(({ unique }) => unique)) return []
  return chance
    .list(6, () => makeDocument(chance, world, ''))
    .map((document, i) => named(world, document, { _id: `z${i}`, name: `kz${i}` }))
    .filter((document) => isUnknown(world, document))
}

/** Of the documents that are there from the start; new ones sort behind them. */
export function nameOf(i: number): string {
  return `d${String((i * 7) % 100).padStart(2, '0')}`
}

/** A name that is out of sight, at least in this document, is another one, in the same order. */
function nameOnB(world: World, i: number, document: JsonObject): string {
  return isSecret(world, '_id', document) ? `${nameOf(i)}x` : nameOf(i)
}

/** The documents with the same name on both sides. */
export function alikeNamed(pairs: readonly Pair[]): readonly Pair[] {
  return pairs.filter(({ a, b }) => a['_id'] === b['_id'])
}

/** Members keep their order, which is no secret, whoever draws them. */
function named(
  { root }: World,
  members: JsonObject,
  { _id, name }: { _id: string; name: string },
): JsonObject {
  const { _id: _drawnId, name: _drawnName, ...others } = members
  return { _id, ...(root.fields.has('name') && { name }), ...others }
}

export function makeDocument(chance: Chance, world: World, name: string): JsonObject {
  const members = makeMembers(chance, world, { node: world.root, at: '' })
  return named(world, members, { _id: name, name: `k${name}` })
}

interface Place<N> {
  readonly node: N
  /** The path; of an object that is walked through, with a dot at its end. */
  readonly at: string
  /** Positions in the arrays on the way. */
  readonly spot?: string
}

function makeMembers(chance: Chance, world: World, { node, at, spot }: Place<ObjectNode>): JsonObject {
  const members: Record<string, Json> = {}
  for (const [name, field] of node.fields) {
    const value = makeMember(chance, world, { node: field, at: at + name, spot: spot ?? '' })
    if (value !== undefined) members[name] = value
  }
  return members
}

function makeMember(chance: Chance, world: World, place: Place<Node>): Json | undefined {
  const { constraints } = world.rules.get(place.at) ?? {}
  const isNeeded = constraints?.['required'] === true || constraints?.['element-identity'] === true
  return isNeeded || chance.happens(70) ? makeValue(chance, world, place) : undefined
}

export function makeValue(chance: Chance, world: World, { node, at, spot = '' }: Place<Node>): Json {
  switch (node.kind) {
    case 'simple':
      return makeSimple(chance, world, { node, at, spot })
    case 'object':
      return makeMembers(chance, world, { node, at: `${at}.`, spot })
    case 'array': {
      const { minItems = 0, maxItems = 4 } = world.rules.get(at)?.constraints ?? {}
      const length = Number(minItems) + chance.int(Number(maxItems) - Number(minItems) + 1)
      return Array.from({ length }, (_, i) => {
        const element = { node: node.element, at: `${at}.*`, spot: `${spot}-${i}` }
        return chance.happens(10) ? null : makeValue(chance, world, element)
      })
    }
  }
}

function makeSimple(chance: Chance, world: World, { node, at, spot = '' }: Place<Simple>): Json {
  const { constraints = {} } = world.rules.get(at) ?? {}
  if (constraints['element-identity'] === true) return `i${spot}`
  const ruled = RULED.get(at)
  if (ruled) return chance.pick(ruled)
  return chance.pick((node.pool ?? POOLS[node.type]).filter((value) => isWithin(value, constraints)))
}

function isWithin(value: Json, { minimum, maximum, minLength, maxLength, matches }: JsonObject): boolean {
  if (isNumber(value)) {
    const number = Number(numberText(value))
    return number >= Number(minimum ?? -Infinity) && number <= Number(maximum ?? Infinity)
  }
  if (typeof value !== 'string') return true
  const length = Array.from(value).length
  const isShort = length >= Number(minLength ?? 0) && length <= Number(maxLength ?? Infinity)
  // `matches` is always the pattern of texts without an a
  return isShort && (matches === undefined || !value.includes('a'))
}

interface Redrawn<N, V = JsonObject> extends Place<N> {
  readonly old: V
  /** The document that it is part of. */
  readonly whole: JsonObject
}

function redrawMembers(
  chance: Chance,
  world: World,
  { node, at, old, whole, spot = '' }: Redrawn<ObjectNode>,
): JsonObject {
  const members: Record<string, Json> = {}
  for (const [name, field] of node.fields) {
    const place = { node: field, at: at + name, spot }
    const isDrawn = isSecret(world, place.at, whole) && !RULED.has(place.at)
    const value = isDrawn
      ? makeMember(chance, world, place)
      : Object.hasOwn(old, name)
        ? redraw(chance, world, { ...place, old: old[name]!, whole })
        : undefined
    if (value !== undefined) members[name] = value
  }
  return members
}

function redraw(
  chance: Chance,
  world: World,
  { node, at, old, whole, spot = '' }: Redrawn<Node, Json>,
): Json {
  if (node.kind === 'object' && isObject(old))
    return redrawMembers(chance, world, { node, at: `${at}.`, old, whole, spot })
  if (node.kind === 'array' && isArray(old)) {
    return old.map((each, i) =>
      redraw(chance, world, { node: node.element, at: `${at}.*`, old: each, whole, spot: `${spot}-${i}` }),
    )
  }
  return old
}

/** What of a document passes the test, as its reader would send it back. */
export function shownPart(value: Json, node: Node, { isShown, at }: Shown): Json {
  if (node.kind === 'object' && isObject(value)) {
    const prefix = at === '' ? '' : `${at}.`
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => node.fields.has(name) && isShown(prefix + name))
        .map(([name, each]) => [
          name,
          shownPart(each, node.fields.get(name)!, { isShown, at: prefix + name }),
        ]),
    )
  }
  if (node.kind === 'array' && isArray(value)) {
    return value.map((each) => shownPart(each, node.element, { isShown, at: `${at}.*` }))
  }
  return value
}

export interface Shown {
  readonly isShown: (path: string) => boolean
  readonly at: string
}
