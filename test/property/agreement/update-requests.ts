/** Random update expressions over a schema: the whole grammar, nearly all of it with a meaning. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeValue } from './make-documents.ts'
import { type Found, type Scope, inside, makeLiteral, makeQuery, pickField } from './make-requests.ts'
import { type ArrayNode, type Node, type ObjectNode, type Simple, familyOf } from './model.ts'
import { folded } from './reference-query.ts'

/** Where an update stands: what names mean there, and which arrays are being walked through. */
interface Stand {
  readonly scope: Scope
  /** Schema path from the root. */
  readonly at: readonly string[]
  readonly walked: readonly (readonly string[])[]
}

export function makeUpdate(chance: Chance, root: ObjectNode): Json {
  return makePartials(chance, { scope: [root], at: [], walked: [] }, 2)
}

function makePartials(chance: Chance, stand: Stand, depth: number): Json {
  const partials = Array.from({ length: 1 + chance.int(3) }, () => makePartial(chance, stand, depth))
  if (partials.length === 1 && chance.happens(70)) return partials[0]!
  return chance.happens(15) ? Object.assign({}, ...partials) : partials
}

function makePartial(chance: Chance, stand: Stand, depth: number): JsonObject {
  const kind = chance.int(100)
  if (kind < 30) return makeSet(chance, stand)
  if (kind < 42) return makeUnset(chance, stand)
  if (kind < 54) return makeAdd(chance, stand) ?? makeSet(chance, stand)
  if (kind < 66) return makeAppend(chance, stand) ?? makeSet(chance, stand)
  if (kind < 76) return makeInsert(chance, stand) ?? makeUnset(chance, stand)
  return (depth > 0 && makeForeach(chance, stand, depth)) || makeSet(chance, stand)
}

function makeSet(chance: Chance, stand: Stand): JsonObject {
  const entries = Array.from({ length: 1 + chance.int(2) }, () => {
    const target = pickTarget(chance, stand, () => true)
    return target && [target.path, makeOperand(chance, target.node, stand)]
  })
  return { $set: Object.fromEntries(entries.filter((entry) => entry !== undefined)) }
}

function makeUnset(chance: Chance, stand: Stand): JsonObject {
  const paths = Array.from({ length: 1 + chance.int(2) }, () => pickTarget(chance, stand, () => true))
    .filter((target) => target !== undefined && folded(target.path).steps.length > 0)
    .map((target) => target!.path)
  return { $unset: paths.length === 1 && chance.happens(50) ? paths[0]! : paths }
}

function makeAdd(chance: Chance, stand: Stand): JsonObject | undefined {
  const target = pickTarget(chance, stand, (node) => familyOf(node) === 'number')
  if (!target) return undefined
  const operand = makeOperand(chance, target.node, stand)
  return { $add: { [target.path]: operand === null || operand === '$null' ? 1 : operand } }
}

function makeAppend(chance: Chance, stand: Stand): JsonObject | undefined {
  const target = pickTarget(chance, stand, ({ kind }) => kind === 'array')
  return target && { $append: { [target.path]: makeElements(chance, target, stand) } }
}

function makeInsert(chance: Chance, stand: Stand): JsonObject | undefined {
  const target = pickTarget(chance, stand, ({ kind }) => kind === 'array')
  if (!target) return undefined
  const index = chance.happens(1) ? chance.pick([999, 1000, 1001, 2000]) : chance.pick(INDEXES)
  return { $insert: { [`${target.path}.${index}`]: makeElements(chance, target, stand) } }
}

const INDEXES = ['0', '1', '2', '-1', '-2', '-4', '+1', '4']

function makeElements(chance: Chance, { node }: Found, stand: Stand): Json {
  const { element } = node as ArrayNode
  if (chance.happens(40)) {
    const one = makeOperand(chance, element, stand)
    if (!Array.isArray(one)) return one
  }
  return chance.list(4, () => makeOperand(chance, element, stand))
}

function makeForeach(chance: Chance, stand: Stand, depth: number): JsonObject | undefined {
  const array = pickField(chance, stand.scope, ({ kind }) => kind === 'array')
  if (!array) return undefined
  const path = absolute(array.path, stand.at).full
  const scope = inside(array)
  const inner = { scope, at: [...path, '*'], walked: [...stand.walked, path] }
  const selector = chance.happens(40) ? '$all' : makeQuery(chance, scope, 1)
  const action = chance.happens(30) ? '$remove' : makePartials(chance, inner, depth - 1)
  return { $foreach: { [array.path]: selector, $update: action } }
}

/** A literal, null, or a copy of something that may convert. */
function makeOperand(chance: Chance, node: Node, { scope }: Stand): Json {
  if (chance.happens(10)) return chance.pick([null, '$null'])
  if (chance.happens(25)) {
    const family = familyOf(node)
    const isLike = (other: Node): boolean =>
      node.kind === 'simple'
        ? other.kind === 'simple' && (familyOf(other) === family || chance.happens(20))
        : other.kind === node.kind
    const source = pickField(chance, scope, isLike)
    if (source) return { $valueof: withIndexes(chance, source.path) }
  }
  return node.kind === 'simple' ? makeSimple(chance, node) : makeValue(chance, node)
}

function makeSimple(chance: Chance, node: Simple): Json {
  const value = makeLiteral(chance, node)
  return node.type === 'any' && Array.isArray(value) ? { z: value } : value
}

function withIndexes(chance: Chance, path: string): string {
  return path
    .split('.')
    .map((step) => (step === '*' ? chance.pick(INDEXES) : step))
    .join('.')
}

/** A single place that can be written; half of those that pull the ground from under a walk are left out. */
function pickTarget(chance: Chance, stand: Stand, test: (node: Node) => boolean): Found | undefined {
  for (let tries = 0; tries < 8; tries++) {
    const found = pickField(chance, stand.scope, test)
    if (!found) return undefined
    const path = withIndexes(chance, found.path)
    if (isWritable(path, stand) && (isApart(path, stand) || chance.happens(50))) return { ...found, path }
  }
  return undefined
}

function isWritable(path: string, { at }: Stand): boolean {
  const last = absolute(path, at).full.at(-1)
  return last !== undefined && last !== '_id' && last !== 'objectType' && !last.endsWith('#')
}

/** Whether writing there moves no element of the arrays that are being walked. */
function isApart(path: string, { at, walked }: Stand): boolean {
  if (folded(path).climbs === 0) return true
  const { base, full } = absolute(path, at)
  return walked.every(
    (array) => !isPrefix(full, array) && (!isPrefix(array, full) || isPrefix([...array, '*'], base)),
  )
}

/** Schema paths from the root: of the object a path starts from, and of what it names. */
function absolute(path: string, at: readonly string[]) {
  const { climbs, steps } = folded(path)
  let base = at
  for (let i = 0; i < climbs; i++) base = base.slice(0, base.at(-1) === '*' ? -2 : -1)
  const full = [...base, ...steps.map((step) => (typeof step === 'number' ? '*' : step))]
  return { base, full }
}

function isPrefix(a: readonly string[], b: readonly string[]): boolean {
  return a.every((step, i) => step === b[i])
}
