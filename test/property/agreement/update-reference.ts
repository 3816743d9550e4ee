/**
 * Updates a second time, slowly and straight from the words of docs/reference: every step makes a whole new document,
 * by positions that are looked up again each time. Nothing here is shared with `src/lang`.
 */
import {
  type Json,
  type JsonObject,
  isArray,
  isNumber,
  isObject,
  numberText,
} from '../../../src/base/json/json.ts'
import type { Node, ObjectNode, Type } from './model.ts'
import {
  type Position,
  type World,
  climbed,
  folded,
  isoOf,
  matches,
  nodeAt,
  positions,
  valueAt,
} from './reference-query.ts'

export type Updated =
  | { readonly document: JsonObject }
  /** What is wrong with this document. */
  | { readonly code: string }

/** The document the update makes of this one, with nulls stripped and sizes counted. */
export function updated(update: Json, world: World): Updated {
  try {
    const start = { at: [], world: { ...world, moves: [] } }
    return { document: settled(applyAll(update, start).document, world.root) as JsonObject }
  } catch (error) {
    if (error instanceof Refusal) return { code: error.code }
    throw error
  }
}

class Refusal extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** An empty uid asks for one to be made, and nobody knows which. */
export class Unforeseeable extends Error {}

const MISFIT = 'metadata:IncompatibleValue'

function applyAll(update: Json, here: Here): Changing {
  let current = here
  for (const partial of isArray(update) ? update : [update]) {
    for (const [operator, operand] of Object.entries(partial as JsonObject))
      current = after(current, applyOne(operator, operand, current))
  }
  return current.world
}

/** A document in the middle of an update. */
interface Changing extends World {
  /** What has moved since the update began, in order. */
  readonly moves: readonly Move[]
}

interface Here {
  readonly at: Position
  readonly world: Changing
}

/** How a change moves what was at other positions. */
type Move = (position: Position) => Position

/** The same place in the changed document; with MISSING in its position if it is gone. */
function after({ at, world }: Here, changed: Changing): Here {
  return { at: moved(at, changed.moves.slice(world.moves.length)), world: changed }
}

function moved(position: Position, moves: readonly Move[]): Position {
  return moves.reduce<Position>((at, move) => move(at), position)
}

const MISSING = -1

function isGone(position: Position): boolean {
  return position.includes(MISSING)
}

/** Values were inserted into an array. */
function insertion(array: Position, start: number, count: number): Move {
  return elsewhere(array, (index) => (index >= start ? index + count : index))
}

/** An element was removed, with all that is in it. */
function removal(element: Position): Move {
  const removed = element.at(-1) as number
  return elsewhere(element.slice(0, -1), (index) => {
    if (index === removed) return MISSING
    return index > removed ? index - 1 : index
  })
}

function elsewhere(array: Position, indexOf: (index: number) => number): Move {
  return (position) => {
    const index = position[array.length]
    if (!isInside(position, array) || typeof index !== 'number' || index === MISSING) return position
    return position.with(array.length, indexOf(index))
  }
}

/** There is another value now, or none: elements that were inside of the old one are gone. */
function replacement(at: Position): Move {
  return (position) => {
    const index = position.findIndex((step, i) => i >= at.length && typeof step === 'number')
    return isInside(position, at) && index !== -1 ? position.with(index, MISSING) : position
  }
}

function isInside(position: Position, outer: Position): boolean {
  return position.length > outer.length && outer.every((step, i) => step === position[i])
}

function applyOne(operator: string, operand: Json, here: Here): Changing {
  switch (operator) {
    case '$set':
      return inTurn(operand, here, set)
    case '$add':
      return inTurn(operand, here, add)
    case '$unset':
      return (isArray(operand) ? operand : [operand]).reduce<Here>(
        (current, path) => after(current, unset(path as string, current)),
        here,
      ).world
    case '$append':
    case '$insert':
      return inTurn(operand, here, operator === '$append' ? append : insert)
    default:
      return foreach(operand as JsonObject, here)
  }
}

type Step = (path: string, value: Json, here: Here) => Changing

function inTurn(operand: Json, here: Here, step: Step): Changing {
  return Object.entries(operand as JsonObject).reduce<Here>(
    (current, [path, value]) => after(current, step(path, value, current)),
    here,
  ).world
}

function set(path: string, value: Json, here: Here): Changing {
  const fresh = evaluated(value, nodeAt(path, here.at, here.world), here)
  return fresh === null ? nulled(path, here) : put(path, fresh, here)
}

/** A member goes; an element that is there becomes null; nothing is made for its sake. */
function nulled(path: string, { at, world }: Here): Changing {
  const position = existing(path, at, world)
  if (position === undefined) return world
  const isElement = typeof position.at(-1) === 'number'
  const document = changed(world.document, position, isElement ? () => [null] : () => [])
  return withDocument(world, document, replacement(position))
}

function unset(path: string, { at, world }: Here): Changing {
  const position = existing(path, at, world)
  return position === undefined ? world : without(position, world)
}

function without(position: Position, world: Changing): Changing {
  const document = changed(world.document, position, () => [])
  const isElement = typeof position.at(-1) === 'number'
  return withDocument(world, document, isElement ? removal(position) : replacement(position))
}

function add(path: string, value: Json, here: Here): Changing {
  const node = nodeAt(path, here.at, here.world)
  const added = evaluated(value, node, here)
  const position = existing(path, here.at, here.world)
  const old = position && valueAt(position, here.world)
  if (!isNumber(old) || !isNumber(added)) return here.world
  return put(path, sum(numberText(old), numberText(added), (node as { type: Type }).type), here)
}

function append(path: string, value: Json, here: Here): Changing {
  return splice(path, undefined, value, here)
}

function insert(path: string, value: Json, here: Here): Changing {
  const dot = path.lastIndexOf('.')
  return splice(path.slice(0, dot), Number(path.slice(dot + 1)), value, here)
}

function splice(path: string, index: number | undefined, value: Json, here: Here): Changing {
  const node = nodeAt(path, here.at, here.world) as Node & { kind: 'array' }
  const values = (isArray(value) ? value : [value]).map((each) => evaluated(each, node.element, here))
  if (values.length === 0 || isGone(climbed(here.at, folded(path).climbs))) return here.world
  const position = existing(path, here.at, here.world)
  const found = position && valueAt(position, here.world)
  const old = isArray(found) ? found : []
  const world = isArray(found) ? here.world : put(path, [], here)
  const start = index === undefined ? old.length : index < 0 ? old.length + index : index
  if (start < 0) throw new Refusal('crud:InvalidArrayIndex')
  const filled = padded(old, start)
  const all = [...filled.slice(0, start), ...values, ...filled.slice(start)]
  const { document } = put(path, all, { ...here, world })
  const array = existing(path, here.at, { ...world, document })!
  return withDocument(world, document, insertion(array, start, values.length))
}

function foreach(operand: JsonObject, { at, world }: Here): Changing {
  const path = Object.keys(operand).find((key) => key !== '$update')!
  const [selector, action] = [operand[path]!, operand['$update']!]
  const { climbs, steps } = folded(path)
  return eachArray({ at: climbed(at, climbs), world }, steps, (array) =>
    eachElement(array, (element) => {
      const isSelected = selector === '$all' || matches(selector as JsonObject, element.at, element.world)
      if (!isSelected) return element.world
      return action === '$remove' ? without(element.at, element.world) : applyAll(action, element)
    }),
  )
}

type Visit = (here: Here) => Changing

/** The arrays that a path stands for: those inside of elements are looked up when their element has its turn. */
function eachArray(from: Here, steps: readonly (string | number)[], visit: Visit): Changing {
  const count = steps.findIndex((step) => step === '*' || typeof step === 'number')
  const position = [...from.at, ...(count === -1 ? steps : steps.slice(0, count))]
  const here = { at: position, world: from.world }
  const array = valueAt(position, from.world)
  if (!isArray(array)) return from.world
  if (count === -1) return visit(here)
  const [step, ...rest] = steps.slice(count)
  if (step === '*') return eachElement(here, (element) => eachArray(element, rest, visit))
  const index = Number(step) < 0 ? array.length + Number(step) : Number(step)
  if (index < 0 || index >= array.length) return from.world
  return eachArray({ ...here, at: [...position, index] }, rest, visit)
}

/** The elements that an array has at first, each where it is by its turn. */
function eachElement({ at, world }: Here, visit: Visit): Changing {
  const elements = (valueAt(at, world) as readonly Json[]).map((_, i) => [...at, i])
  return elements.reduce<Changing>((current, element) => {
    const here = after({ at: element, world }, current)
    return isGone(here.at) ? current : visit(here)
  }, world)
}

/** Where the path leads, when something is there. */
function existing(path: string, at: Position, world: World): Position | undefined {
  const [position] = positions(path, at, world)
  const isThere = position && position.every((step) => step !== -1) && valueAt(position, world) !== undefined
  return isThere ? position : undefined
}

/** The document with something else in place of one value: one new value, or none. */
function changed(document: JsonObject, position: Position, change: () => readonly Json[]): JsonObject {
  return replaced(document, position, change) as JsonObject
}

function replaced(value: Json, [step, ...rest]: Position, change: () => readonly Json[]): Json {
  if (typeof step === 'number') {
    const array = value as readonly Json[]
    return array.flatMap((each, i) => {
      if (i !== step) return [each]
      return rest.length === 0 ? change() : [replaced(each, rest, change)]
    })
  }
  const members = Object.entries(value as JsonObject).flatMap(([name, each]) => {
    if (name !== step) return [[name, each] as const]
    if (rest.length > 0) return [[name, replaced(each, rest, change)] as const]
    return change().map((made) => [name, made] as const)
  })
  return Object.fromEntries(members)
}

/** Puts a value somewhere, with everything that has to be made on the way. */
function put(path: string, value: Json, { at, world }: Here): Changing {
  const { climbs, steps } = folded(path)
  const from = climbed(at, climbs)
  if (isGone(from)) return world
  const document = built(world.document, [...from, ...steps] as Position, value) as JsonObject
  const made = withDocument(world, document)
  return { ...made, moves: [...world.moves, replacement(existing(path, at, made)!)] }
}

/** Sizes of arrays are true after every step. */
function withDocument(world: Changing, document: JsonObject, ...moves: readonly Move[]): Changing {
  return {
    ...world,
    document: counted(document, world.root) as JsonObject,
    moves: [...world.moves, ...moves],
  }
}

function counted(value: Json, node: Node): Json {
  if (node.kind === 'array' && isArray(value)) return value.map((each) => counted(each, node.element))
  if (node.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = { ...value }
  for (const [name, child] of node.fields) {
    const each = Object.hasOwn(value, name) ? value[name]! : null
    if (child.kind === 'array') members[`${name}#`] = isArray(each) ? each.length : 0
    if (each !== null && !name.endsWith('#')) members[name] = counted(each, child)
  }
  return members
}

function built(old: Json | undefined, [step, ...rest]: Position, value: Json): Json {
  if (step === undefined) return value
  if (typeof step === 'number') {
    const array = isArray(old) ? old : []
    const index = step < 0 ? array.length + step : step
    if (index < 0) throw new Refusal('crud:InvalidArrayIndex')
    const filled = padded(array, index)
    const inner = built(array[index], rest, value)
    return index < filled.length ? filled.with(index, inner) : [...filled, inner]
  }
  const object = isObject(old) ? old : {}
  const inner = Object.hasOwn(object, step) ? object[step] : undefined
  return { ...object, [step]: built(inner, rest, value) }
}

function padded(array: readonly Json[], length: number): readonly Json[] {
  if (length - array.length > 1000) throw new Refusal('crud:LimitExceeded')
  return [...array, ...Array.from({ length: Math.max(length - array.length, 0) }, () => null)]
}

/** A literal or a copy as the target stores it; a copy of nothing is null. */
function evaluated(value: Json, target: Node, { at, world }: Here): Json {
  if (value === '$null') return null
  const isCopy = isObject(value) && Object.keys(value).join() === '$valueof'
  if (!isCopy) return value === null ? null : stored(value, target)
  const position = existing(value['$valueof'] as string, at, world)
  const found = position && valueAt(position, world)
  if (found === undefined || found === null) return null
  return stored(withoutSizes(found, nodeAt(value['$valueof'] as string, at, world)), target)
}

/** Sizes of arrays are the service's own: they do not travel with a copy. */
function withoutSizes(value: Json, node: Node): Json {
  if (node.kind === 'array' && isArray(value)) return value.map((each) => withoutSizes(each, node.element))
  if (node.kind !== 'object' || !isObject(value)) return value
  const members = Object.entries(value).filter(([name]) => !name.endsWith('#'))
  return Object.fromEntries(members.map(([name, each]) => [name, withoutSizes(each, node.fields.get(name)!)]))
}

/** Conversions of section 6, all the way down. */
function stored(value: Json, node: Node): Json {
  if (value === null) return null
  if (node.kind === 'array') {
    if (!isArray(value)) throw new Refusal(MISFIT)
    return value.map((each) => stored(each, node.element))
  }
  if (node.kind === 'simple') return converted(value, node.type)
  if (!isObject(value)) throw new Refusal(MISFIT)
  const members = Object.entries(value).flatMap(([name, each]) => {
    const child = node.fields.get(name)
    if (!child) throw new Refusal(MISFIT)
    return each === null ? [] : [[name, stored(each, child)] as const]
  })
  return Object.fromEntries(members)
}

function converted(value: Json, type: Type): Json {
  const result = convert(value, type)
  if (result === undefined) throw new Refusal(MISFIT)
  return result
}

const INTEGER_TEXT = /^-?(0|[1-9]\d*)$/
const DECIMAL_TEXT = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/

function convert(value: Json, type: Type): Json | undefined {
  switch (type) {
    case 'any':
      return value
    case 'boolean':
      if (typeof value === 'boolean') return value
      return value === 'true' ? true : value === 'false' ? false : undefined
    case 'string':
    case 'uid':
      if (typeof value === 'boolean') return String(value)
      return isNumber(value) ? numberText(value) : typeof value === 'string' ? value : undefined
    case 'binary':
      return typeof value === 'string' && isBase64(value) ? value : undefined
    case 'date':
      return typeof value === 'string' ? dateOf(value) : undefined
    case 'double': {
      const text = decimalText(value)
      return text === undefined ? undefined : double(Number(text))
    }
    case 'bigdecimal': {
      const text = decimalText(value)
      return text === undefined ? undefined : number(text)
    }
    case 'integer':
    case 'biginteger': {
      const whole = wholeOf(value)
      if (whole === undefined || (type === 'integer' && BigInt.asIntN(64, whole) !== whole)) return undefined
      return number(String(whole))
    }
  }
}

function decimalText(value: Json): string | undefined {
  if (isNumber(value)) return numberText(value)
  return typeof value === 'string' && DECIMAL_TEXT.test(value) ? value : undefined
}

function wholeOf(value: Json): bigint | undefined {
  if (typeof value === 'string') return INTEGER_TEXT.test(value) ? BigInt(value) : undefined
  if (!isNumber(value)) return undefined
  const { units, scale } = exact(numberText(value))
  const unit = 10n ** BigInt(Math.max(scale, 0))
  return units % unit === 0n ? units / unit : undefined
}

function isBase64(text: string): boolean {
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return false
  return Buffer.from(text, 'base64').toString('base64') === text
}

function dateOf(text: string): Json | undefined {
  const instant = Date.parse(isoOf(text))
  if (Number.isNaN(instant) || !/^\d{4}/.test(text) || !text.includes('T')) return undefined
  return new Date(instant).toISOString().replaceAll('-', '').replace('Z', '+0000')
}

function double(value: number): Json | undefined {
  if (!Number.isFinite(value)) return undefined
  if (value === 0) return 0
  return Number.isInteger(value) && !Number.isSafeInteger(value) ? number(value.toExponential()) : value
}

function number(text: string): Json {
  return String(Number(text)) === text ? Number(text) : JSON.rawJSON(text)
}

interface Exact {
  readonly units: bigint
  readonly scale: number
}

/** A whole number of 10^-scale; the scale is not negative. */
function exact(text: string): Exact {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text)!
  const digits = BigInt(`${sign}${whole}${fraction}`)
  const scale = fraction.length - Number(power)
  return scale < 0 ? { units: digits * 10n ** BigInt(-scale), scale: 0 } : { units: digits, scale }
}

function sum(a: string, b: string, type: Type): Json {
  if (type === 'double') {
    const result = double(Number(a) + Number(b))
    if (result === undefined) throw new Refusal(MISFIT)
    return result
  }
  const [x, y] = [exact(a), exact(b)]
  const scale = Math.max(x.scale, y.scale)
  const units = x.units * 10n ** BigInt(scale - x.scale) + y.units * 10n ** BigInt(scale - y.scale)
  if (type === 'integer' && BigInt.asIntN(64, units) !== units) throw new Refusal(MISFIT)
  const digits = String(units < 0n ? -units : units).padStart(scale + 1, '0')
  const text = scale === 0 ? digits : `${digits.slice(0, -scale)}.${digits.slice(-scale)}`
  return number(`${units < 0n ? '-' : ''}${text}`)
}

/** As it is stored: no null members, and every size is true. */
function settled(value: Json, node: Node): Json {
  if (node.kind === 'array' && isArray(value)) return value.map((each) => settled(each, node.element))
  if (node.kind === 'simple' && node.type === 'uid' && value === '') throw new Unforeseeable()
  if (node.kind !== 'object' || !isObject(value)) return value
  const members: Record<string, Json> = {}
  for (const [name, child] of (node satisfies ObjectNode).fields) {
    const each = Object.hasOwn(value, name) ? value[name]! : null
    if (child.kind === 'array') members[`${name}#`] = isArray(each) ? each.length : 0
    if (each !== null && !name.endsWith('#')) members[name] = settled(each, child)
  }
  return members
}
