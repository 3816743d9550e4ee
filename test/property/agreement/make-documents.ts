/** Random schemas, documents that fit them, and indexes over them. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { type ArrayNode, type Node, type ObjectNode, type Simple, type Type, familyOf } from './model.ts'
import { NAMES, POOLS } from './pools.ts'

const TYPES = Object.keys(POOLS) as readonly Type[]
const ID_TYPES: readonly Type[] = [
  'string',
  'string',
  'uid',
  'integer',
  'double',
  'biginteger',
  'bigdecimal',
  'date',
]

export function makeSchema(chance: Chance): ObjectNode {
  const fields = new Map<string, Node>([['_id', { kind: 'simple', type: chance.pick(ID_TYPES) }]])
  // Several fields of one type, so that fields can be compared with each other.
  const favourites = [chance.pick(TYPES), chance.pick(TYPES)]
  const count = 4 + chance.int(6)
  while (fields.size < count)
    fields.set(chance.pick(NAMES), makeNode(chance, favourites, { arrays: 3, depth: 4 }))
  return { kind: 'object', fields }
}

interface Room {
  readonly arrays: number
  readonly depth: number
}

function makeNode(chance: Chance, favourites: readonly Type[], room: Room): Node {
  const inside = { ...room, depth: room.depth - 1 }
  const kind = room.depth === 0 ? 0 : chance.int(100)
  if (kind < 45) return makeSimple(chance, favourites)
  if (kind < 60) return makeObject(chance, favourites, inside)
  if (room.arrays === 0) return makeSimple(chance, favourites)
  const isOfObjects = chance.happens(60)
  const within = { ...inside, arrays: room.arrays - 1 }
  const element = isOfObjects ? makeObject(chance, favourites, within) : makeSimple(chance, favourites)
  return { kind: 'array', element }
}

function makeSimple(chance: Chance, favourites: readonly Type[]): Simple {
  return { kind: 'simple', type: chance.happens(60) ? chance.pick(favourites) : chance.pick(TYPES) }
}

function makeObject(chance: Chance, favourites: readonly Type[], room: Room): ObjectNode {
  const fields = new Map<string, Node>()
  const count = 1 + chance.int(3)
  while (fields.size < count) {
    fields.set(chance.happens(5) ? '_id' : chance.pick(NAMES), makeNode(chance, favourites, room))
  }
  return { kind: 'object', fields }
}

/** Documents with different identities, in no particular order. */
export function makeDocuments(chance: Chance, root: ObjectNode, count: number): readonly JsonObject[] {
  const { type } = root.fields.get('_id') as Simple
  return Array.from({ length: count }, (_, i) => ({ ...makeMembers(chance, root), _id: idOf(type, i) }))
}

/** Neither in order of time nor of text: the seventh comes before the second. */
function idOf(type: Type, i: number): Json {
  const number = (i * 37) % 101
  switch (type) {
    case 'integer':
      return number - 5
    case 'double':
      return number / 2
    case 'biginteger':
      return JSON.rawJSON(`${number - 5}000000000000000000000`)
    case 'bigdecimal':
      return JSON.rawJSON(`${number - 5}.50`)
    case 'date':
      return `20240102T03:04:05.${String(number).padStart(3, '0')}+0000`
    case 'boolean':
    case 'binary':
    case 'any':
      throw new Error(`${type} cannot be an identity`)
    case 'string':
    case 'uid':
      return `${i % 3 === 0 ? '\u{10000}' : i % 3 === 1 ? '\uFFFF' : 'x'}${number}`
  }
}

function makeMembers(chance: Chance, { fields }: ObjectNode): JsonObject {
  const members: Record<string, Json> = {}
  for (const [name, node] of fields) {
    if (chance.happens(75)) members[name] = makeValue(chance, node)
  }
  return members
}

export function makeValue(chance: Chance, node: Node): Json {
  switch (node.kind) {
    case 'simple':
      return chance.pick(node.pool ?? POOLS[node.type])
    case 'object':
      return makeMembers(chance, node)
    case 'array':
      return chance.list(4, () => (chance.happens(12) ? null : makeValue(chance, node.element)))
  }
}

export interface IndexSpec {
  readonly unique: boolean
  readonly fields: readonly {
    readonly path: string
    readonly type: Type
    readonly caseInsensitive: boolean
  }[]
  /** As entity info writes it. */
  readonly printed: JsonObject
}

/** Indexes over fields outside and inside of arrays; unique ones are proposals, the documents may repeat. */
export function makeIndexes(chance: Chance, root: ObjectNode): readonly IndexSpec[] {
  const paths = [...comparablePaths(root, '')].filter(({ path }) => path !== '_id' && path.trim() !== '')
  if (paths.length === 0) return []
  const seen = new Set<string>()
  return chance
    .list(7, () => {
      const fields = Array.from({ length: 1 + chance.int(3) }, () => {
        const { path, node } = chance.pick(paths)
        const caseInsensitive = familyOf(node) === 'text' && chance.happens(50)
        return { path, type: node.type, caseInsensitive, dir: chance.pick(['$asc', '$desc']) }
      })
      const isFlat = fields.every(({ path }) => !path.includes('*'))
      const unique = isFlat && chance.happens(40)
      const printed = {
        unique,
        fields: fields.map(({ path, dir, caseInsensitive }) => ({ field: path, dir, caseInsensitive })),
      }
      return { unique, fields, printed }
    })
    .filter(({ fields }) => {
      const key = JSON.stringify(
        fields.map(({ path, dir, caseInsensitive }) => [path.replace(/\.\*$/, ''), dir, caseInsensitive]),
      )
      const isNew = !seen.has(key) && new Set(fields.map(({ path }) => path)).size === fields.length
      seen.add(key)
      return isNew && goesIntoOneArray(fields.map(({ path }) => path))
    })
}

/** Indexes into two arrays at once are refused, and that is tested elsewhere. */
function goesIntoOneArray(paths: readonly string[]): boolean {
  const arrays = paths
    .map((path) => path.split('.'))
    .map((steps) => steps.slice(0, steps.lastIndexOf('*') + 1))
  const deepest = arrays.toSorted((a, b) => b.length - a.length)[0]!
  return arrays.every((array) => array.every((step, i) => step === deepest[i]))
}

function* comparablePaths(
  { fields }: ObjectNode,
  above: string,
): Generator<{ readonly path: string; readonly node: Simple }> {
  for (const [name, node] of fields) yield* pathsOf(node, above + name)
}

function* pathsOf(node: Node, path: string): Generator<{ readonly path: string; readonly node: Simple }> {
  if (node.kind === 'object') yield* comparablePaths(node, `${path}.`)
  else if (node.kind === 'array') yield* pathsOf((node satisfies ArrayNode).element, `${path}.*`)
  else if (familyOf(node)) yield { path, node }
}
