/** Random entities that refer to each other, with documents whose few values often meet. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { parseTrusted } from '../../../src/base/json/parse-trusted.ts'
import type { Chance } from '../../support/chance.ts'
import { makeValue } from './make-documents.ts'
import {
  type Scope,
  comparedFamily,
  makeCompare,
  makeFieldCompare,
  makeProjection,
  makeQuery,
  makeSort,
  pickBelow,
} from './make-requests.ts'
import { type Node, type ObjectNode, type Simple, type Type, familyOf, withPredefined } from './model.ts'
import type { Entities, Entity, Reference } from './references-model.ts'

const NUMBERS: readonly Json[] = [0, 1, 2, 3]
const TEXTS: readonly Json[] = ['0', '1', '2', 'a', 'ä']
const POOLS: Partial<Readonly<Record<Type, readonly Json[]>>> = {
  string: TEXTS,
  uid: TEXTS,
  integer: NUMBERS,
  double: [0, 1, 1.5, 2],
  biginteger: NUMBERS,
  bigdecimal: ['0', '1.0', '1.50', '2.00', '2'].map(parseTrusted),
  boolean: [true, false],
  date: ['20240102T03:04:05.678+0000', '19700101T00:00:00.000+0000', '20240229T12:00:00.000+0000'],
}
const TYPES: readonly Type[] = [
  'string',
  'string',
  'string',
  'integer',
  'integer',
  'bigdecimal',
  'double',
  'date',
  'boolean',
]
const ID_TYPES: readonly Type[] = ['string', 'string', 'integer', 'uid', 'bigdecimal']

/** Names end in the label. */
export function makeEntities(chance: Chance, label: string): Entities {
  const names = ['a', 'b', 'c', 'd'].slice(0, 2 + chance.int(3)).map((name) => `${name}${label}`)
  const roots = new Map(names.map((name) => [name, makeRoot(chance)]))
  return new Map(names.map((name) => [name, makeEntity(chance, name, roots)]))
}

function makeRoot(chance: Chance): ObjectNode {
  const fields = new Map<string, Node>([['_id', simple(chance.pick(ID_TYPES))]])
  for (const name of ['a', 'b', 'c', 'd'].slice(0, 2 + chance.int(3))) fields.set(name, makeSimple(chance))
  if (chance.happens(60)) fields.set('o', makeObject(chance, 1))
  if (chance.happens(70)) fields.set('l', { kind: 'array', element: makeSimple(chance) })
  if (chance.happens(60)) fields.set('p', { kind: 'array', element: makeObject(chance, 1) })
  return { kind: 'object', fields }
}

function makeObject(chance: Chance, depth: number): ObjectNode {
  const fields = new Map<string, Node>([['x', makeSimple(chance)]])
  if (chance.happens(50)) fields.set('y', makeSimple(chance))
  if (chance.happens(25)) fields.set('m', { kind: 'array', element: makeSimple(chance) })
  if (depth > 0 && chance.happens(25)) fields.set('q', { kind: 'array', element: makeObject(chance, 0) })
  return { kind: 'object', fields }
}

function makeSimple(chance: Chance): Simple {
  return simple(chance.pick(TYPES))
}

function simple(type: Type): Simple {
  return { kind: 'simple', type, pool: POOLS[type]! }
}

function makeEntity(chance: Chance, name: string, roots: ReadonlyMap<string, ObjectNode>): Entity {
  const root = roots.get(name)!
  const holders = [...objectsIn(withPredefined(root), [], [])]
  const references = Array.from({ length: chance.pick([0, 1, 2, 2, 3]) }, (_, i): Reference => {
    const { path, around } = chance.happens(50) ? holders[0]! : chance.pick(holders)
    const entity = chance.pick([...roots.keys()])
    const other = withPredefined(roots.get(entity)!)
    const query = makeJoin(chance, [other, ...around])
    return {
      holder: path,
      name: `r${i}`,
      entity,
      ...(query && { query }),
      ...(chance.happens(40) && { sort: makeSort(chance, [other]) }),
      ...(chance.happens(25) && { projection: makeProjection(chance, [other], 1) }),
    }
  })
  return { name, root, references }
}

interface Holder {
  readonly path: readonly string[]
  /** The object, then the objects around it. */
  readonly around: readonly ObjectNode[]
}

function* objectsIn(node: Node, path: readonly string[], around: readonly ObjectNode[]): Generator<Holder> {
  if (node.kind === 'array') yield* objectsIn(node.element, [...path, '*'], around)
  if (node.kind !== 'object') return
  const here = [node, ...around]
  yield { path, around: here }
  for (const [name, field] of node.fields) yield* objectsIn(field, [...path, name], here)
}

/** The scope: the documents to join, then the objects around the reference. */
function makeJoin(chance: Chance, scope: Scope): JsonObject | undefined {
  const clause = (): JsonObject => makeJoinClause(chance, scope) ?? makeQuery(chance, scope, 1)
  const other = (): JsonObject => (chance.happens(40) ? makeCompare(chance, [scope[0]]) : clause())
  const kind = chance.int(100)
  if (kind < 45) return clause()
  if (kind < 70) return { $and: [clause(), other()] }
  if (kind < 78) return { $or: [clause(), other()] }
  if (kind < 84) return { $not: clause() }
  if (kind < 90) return makeElemMatch(chance, scope) ?? clause()
  if (kind < 95) return makeQuery(chance, scope, 2)
  return kind < 98 ? makeCompare(chance, [scope[0]]) : undefined
}

/** A field of the other documents against one of the own. */
function makeJoinClause(chance: Chance, scope: Scope): JsonObject | undefined {
  const up = 1 + (chance.happens(70) ? 0 : chance.int(scope.length - 1))
  const isMembership = chance.happens(25)
  const isOwn = (node: Node): boolean =>
    isMembership ? node.kind === 'array' && comparedFamily(node) !== undefined : familyOf(node) !== undefined
  const own = pickBelow(chance, scope, up, isOwn)
  if (!own) return undefined
  const family = comparedFamily(own.node)
  const other = chance.happens(35)
    ? pickBelow(chance, [idOnly(scope[0] as ObjectNode)], 0, (node) => familyOf(node) === family)
    : pickBelow(chance, scope, 0, (node) => familyOf(node) === family)
  if (!other) return undefined
  const op = isMembership ? '$in' : chance.happens(85) ? '=' : chance.pick(['!=', '<', '>', '<=', '>='])
  if (isMembership || chance.happens(75)) return { field: other.path, op, rfield: own.path }
  return { field: own.path, op, rfield: other.path }
}

function idOnly({ fields }: ObjectNode): ObjectNode {
  return { kind: 'object', fields: new Map([['_id', fields.get('_id')!]]) }
}

/** The elements of an array of the other documents, compared with the own object. */
function makeElemMatch(chance: Chance, scope: Scope): JsonObject | undefined {
  const array = pickBelow(chance, scope, 0, (node) => node.kind === 'array')
  if (array?.node.kind !== 'array') return undefined
  const inner: Scope = [array.node.element, ...array.holders]
  const clause = (): JsonObject => makeFieldCompare(chance, inner) ?? makeCompare(chance, inner)
  return { array: array.path, elemMatch: chance.happens(50) ? clause() : { $and: [clause(), clause()] } }
}

export function makeHeld(chance: Chance, entities: Entities): ReadonlyMap<string, readonly JsonObject[]> {
  return new Map([...entities].map(([name, { root }]) => [name, makeDocuments(chance, root)]))
}

function makeDocuments(chance: Chance, root: ObjectNode): readonly JsonObject[] {
  const { type } = root.fields.get('_id') as Simple
  const count = 4 + chance.int(5)
  return Array.from({ length: count }, (_, i) => {
    const members = [...root.fields].flatMap(([name, node]): [string, Json][] => {
      if (name === '_id' || !chance.happens(80)) return []
      return [[name, chance.happens(6) && node.kind === 'simple' ? null : makeValue(chance, node)]]
    })
    return { ...Object.fromEntries(members), _id: idOf(type, (i * 5) % 9) }
  })
}

/** Ids are values of the pools as far as these go. */
function idOf(type: Type, i: number): Json {
  if (type === 'string' || type === 'uid') return i < TEXTS.length ? TEXTS[i]! : `x${i}`
  return type === 'bigdecimal' ? parseTrusted(`${i}.00`) : i
}
