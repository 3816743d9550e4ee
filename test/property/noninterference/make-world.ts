/** Random worlds: schemas in several versions with random lists of roles, constraints, generators and indexes. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeIndexes, makeSchema } from '../agreement/make-documents.ts'
import { makeProjection } from '../agreement/make-requests.ts'
import { type Node, type ObjectNode, familyOf } from '../agreement/model.ts'
import { makeReferences, namesUsed } from './references.ts'
import {
  ENTITY,
  type List,
  type Lists,
  RULED,
  type Rule,
  type Version,
  type World,
  isOpen,
  isSecret,
  pathOfReference,
} from './world.ts'

export const ROLES: readonly string[] = ['r1', 'r2', 'r3', 'r4']

/** The one that most requests are about, and those that its references lead to. */
export function makeWorlds(chance: Chance): readonly World[] {
  const main = makeWorld(chance)
  if (chance.happens(10)) return [main]
  const { roles } = main
  const others = ['c', 'g'].map((suffix) => {
    const root = makeSmallRoot(chance)
    const world = makeAny(chance, { entity: `${ENTITY}${suffix}`, root, roles })
    return { ...world, isApart: chance.happens(20), tellsVersions: chance.happens(30), hooks: [] }
  })
  return linked(chance, [main, ...others])
}

/** From the first to the second, from there to the third, and to some others. */
function linked(chance: Chance, worlds: readonly World[]): readonly World[] {
  const all = worlds.map((world, i) => {
    const others = worlds.filter((_, to) => chance.happens(i === to ? 30 : 15))
    const targets = [...worlds.slice(i + 1, i + 2), ...others]
    return { ...world, references: makeReferences(chance, world, targets) }
  })
  const used = namesUsed(all.flatMap(({ references }) => references))
  return all.map((world) => ({
    ...world,
    versions: world.versions.map((version) => ({
      ...version,
      dropped: new Set([...version.dropped].filter((name) => !used.has(name))),
      fields: new Map([...version.fields, ...listsOfReferences(chance, world)]),
    })),
  }))
}

function listsOfReferences(chance: Chance, { root, references }: World): readonly [string, Lists][] {
  const isRuled = root.fields.has('owner')
  return references
    .filter(() => chance.happens(30))
    .map((each) => [
      pathOfReference(each),
      { find: isRuled && chance.happens(50) ? inSome(chance) : withRules(chance, makeList(chance), isRuled) },
    ])
}

function makeWorld(chance: Chance): World {
  // a world that hides nothing, or all of it, shows little
  for (let tries = 0; ; tries++) {
    const root = makeRoot(chance)
    const roles = ROLES.filter(() => chance.happens(40))
    const world = makeAny(chance, { entity: ENTITY, root, roles })
    const paths = [...pathsOf(world.root, '')].map(({ path }) => path)
    const secrets = paths.filter((path) => isSecret(world, path)).length
    if ((secrets > 0 && secrets < paths.length) || tries > 5) return world
  }
}

type Named = Pick<World, 'entity' | 'root' | 'roles'>

function makeAny(chance: Chance, { entity, root, roles }: Named): World {
  const versions = Array.from({ length: 1 + chance.int(2) }, (_, i) => makeVersion(chance, root, i))
  const hooks = Array.from({ length: 1 + chance.int(2) }, (_, i) => makeHook(chance, root, i))
  const named = { entity, isApart: false, tellsVersions: false, root, references: [], roles }
  const world = { ...named, rules: new Map<string, Rule>(), versions, indexes: [], hooks }
  return { ...world, rules: makeRules(chance, world), indexes: makeWorldIndexes(chance, world) }
}

/** Watching all, or what a random projection names, which may choose elements by what is out of sight. */
function makeHook(chance: Chance, root: ObjectNode, i: number): JsonObject {
  const projection = (): Json => makeProjection(chance, [root], 1)
  const actions = ['insert', 'update', 'delete'].filter(() => chance.happens(80))
  return {
    name: `h${i}`,
    actions: actions.length > 0 ? actions : ['update'],
    configuration: {
      ...(chance.happens(70) && { watchProjection: projection() }),
      ...(chance.happens(60) && { includeProjection: projection() }),
      ...(chance.happens(50) && { arrayOrderingSignificant: chance.happens(50) }),
      ...(chance.happens(30) && { kind: 'audit' }),
    },
  }
}

/** Names are texts, so that whoever may not see them still finds documents in the same order on both sides. */
function makeRoot(chance: Chance): ObjectNode {
  const fields = new Map([...makeSchema(chance).fields, ...KEYS])
  if (chance.happens(30)) fields.set('name', { kind: 'simple', type: 'string' })
  return ruled(chance, fields)
}

/** Documents that come many at a time are better short. */
function makeSmallRoot(chance: Chance): ObjectNode {
  const inner = new Map<string, Node>([
    ['x', KEY],
    ['y', { kind: 'simple', type: chance.pick(['string', 'integer', 'date', 'bigdecimal']) }],
  ])
  const fields = new Map<string, Node>(KEYS)
  fields.set('a', { kind: 'simple', type: chance.pick(['string', 'double', 'boolean', 'uid']) })
  if (chance.happens(40)) fields.set('o', { kind: 'object', fields: inner })
  if (chance.happens(40)) fields.set('p', { kind: 'array', element: { kind: 'object', fields: inner } })
  return ruled(chance, fields)
}

/** By what documents meet: names of documents are among the values. */
const KEY: Node = { kind: 'simple', type: 'string', pool: ['d00', 'd07', 'd14', 'p', 'q'] }
const KEYS: readonly (readonly [string, Node])[] = [
  ['_id', { kind: 'simple', type: 'string', pool: ['d00', 'd07', 'd14', 'd21', 'n1'] }],
  ['key', KEY],
  ['rank', { kind: 'simple', type: 'integer', pool: [0, 1, 2, 3] }],
  ['keys', { kind: 'array', element: KEY }],
]

function ruled(chance: Chance, fields: Map<string, Node>): ObjectNode {
  if (chance.happens(60)) {
    fields.set('owner', { kind: 'simple', type: 'string' })
    fields.set('level', { kind: 'simple', type: 'integer' })
  }
  return { kind: 'object', fields }
}

function makeVersion(chance: Chance, root: ObjectNode, i: number): Version {
  const fields = new Map<string, Lists>()
  const isRuled = root.fields.has('owner')
  const some = (own: Chance, operation: string, percent: number): Lists =>
    own.happens(percent) ? { [operation]: withRules(own, makeList(own), isRuled) } : {}
  for (const { path } of pathsOf(root, '')) {
    const isName = path === '_id' || path === 'name'
    const lists = {
      ...(isName ? chance.happens(12) && { find: ['r4'] } : some(chance, 'find', isRuled ? 30 : 45)),
      // what documents are joined by is out of sight in some of them
      ...(isRuled && isKey(path) && chance.happens(35) && { find: inSome(chance) }),
      ...(isRuled && isName && chance.happens(15) && { find: inSome(chance) }),
      ...some(chance, 'insert', 12),
      ...some(chance, 'update', 20),
      // whoever could change what a rule asks about could make it hold
      ...(RULED.has(path) && { update: ['noone'] }),
    }
    if (Object.keys(lists).length > 0) fields.set(path, lists)
  }
  const entityLists = (percent: number): List =>
    withRules(chance, chance.happens(percent) ? ['anyone'] : makeList(chance), isRuled)
  return {
    name: `${i + 1}.0.0`,
    access: {
      find: entityLists(80),
      insert: entityLists(75),
      update: entityLists(85),
      delete: entityLists(60),
    },
    fields,
    dropped: new Set([...root.fields.keys()].filter((name) => i > 0 && !isFixed(name) && chance.happens(15))),
  }
}

function isKey(path: string): boolean {
  return path !== '_id' && KEYS.some(([name]) => name === path)
}

/** For everybody in documents that a rule admits to, and in all of them for some. */
function inSome(chance: Chance): List {
  return [{ role: 'anyone', where: makeWhere(chance, 1) }, ...(chance.happens(60) ? ['r4'] : [])]
}

function isFixed(name: string): boolean {
  return name === '_id' || name === 'name' || RULED.has(name)
}

function withRules(chance: Chance, list: List, isRuled: boolean): List {
  return list.map((role) =>
    isRuled && role !== 'noone' && chance.happens(40) ? { role, where: makeWhere(chance, 1) } : role,
  )
}

function makeWhere(chance: Chance, depth: number): JsonObject {
  const kind = chance.int(depth > 0 ? 6 : 4)
  if (kind === 4) return { $not: makeWhere(chance, depth - 1) }
  if (kind === 5) return { $or: [makeWhere(chance, depth - 1), makeWhere(chance, depth - 1)] }
  if (kind < 2) return { field: 'owner', op: '=', rvalue: '$caller.principal' }
  if (kind === 2) return { field: 'owner', op: '=', rvalue: 'you' }
  return { field: 'level', op: '<', rvalue: 1 + chance.int(3) }
}

function makeList(chance: Chance): List {
  const kind = chance.int(100)
  if (kind < 12) return ['anyone']
  if (kind < 24) return ['noone', ...ROLES.filter(() => chance.happens(20))]
  if (kind < 28) return []
  return [chance.pick(ROLES), ...ROLES.filter(() => chance.happens(20))]
}

export interface Way {
  readonly path: string
  readonly node: Node
}

export function* pathsOf({ fields }: ObjectNode, at: string): Generator<Way> {
  for (const [name, node] of fields) {
    const path = at + name
    yield { path, node }
    if (node.kind === 'object') yield* pathsOf(node, `${path}.`)
    if (node.kind === 'array' && node.element.kind === 'object') yield* pathsOf(node.element, `${path}.*.`)
  }
}

/** Bounds are such that the pools hold values on both sides of them. */
function makeRules(chance: Chance, world: World): ReadonlyMap<string, Rule> {
  const rules = new Map<string, Rule>()
  for (const way of pathsOf(world.root, '')) {
    if (way.path === '_id' || RULED.has(way.path)) continue
    const rule = way.path === 'name' ? { constraints: { identity: true } } : makeRule(chance, way, world)
    if (rule) rules.set(way.path, rule)
  }
  return rules
}

function makeRule(chance: Chance, { path, node }: Way, world: World): Rule | undefined {
  const kind = chance.int(100)
  // an identity of elements that is out of sight may clash, which is argued in the documentation
  const isElementId = path.split('.').at(-2) === '*' && familyOf(node) === 'text' && isOpen(world, path)
  if (isElementId && kind < 30) return { constraints: { 'element-identity': true } }
  if (kind < 60) return undefined
  if (node.kind === 'simple' && kind < 75) {
    const generator = makeGenerator(chance, node.type, {
      entity: world.entity,
      isInvisible: !isOpen(world, path),
    })
    return generator && { generator, ...(chance.happens(50) && { constraints: { required: true } }) }
  }
  if (kind < 85) return { constraints: { required: true } }
  const bounds = makeBounds(chance, node)
  return bounds && { constraints: bounds }
}

function makeGenerator(
  chance: Chance,
  type: string,
  { entity, isInvisible }: { readonly entity: string; readonly isInvisible: boolean },
): JsonObject | undefined {
  const overwrite = chance.happens(40)
  switch (type) {
    case 'integer':
    case 'biginteger':
    case 'double':
      // how many values were drawn shows in the next one, as the documentation argues
      if (overwrite && isInvisible) return undefined
      return { type: 'IntSequence', overwrite, configuration: { name: `${entity}${chance.int(2)}` } }
    case 'date':
      return { type: 'CurrentTime', overwrite }
    case 'uid':
      return { type: 'UUID', overwrite }
    default:
      return undefined
  }
}

function makeBounds(chance: Chance, node: Node): JsonObject | undefined {
  if (node.kind === 'array')
    return chance.pick([{ maxItems: 3 }, { minItems: 1 }, { minItems: 1, maxItems: 2 }])
  const family = familyOf(node)
  if (family === 'number') return chance.pick([{ minimum: 0 }, { maximum: 3 }])
  if (family === 'text') return chance.pick([{ maxLength: 1 }, { minLength: 1 }, { matches: '[^a]*' }])
  return undefined
}

/** Uniqueness shows to everybody, as the documentation argues, so secrets are in no unique index. */
function makeWorldIndexes(chance: Chance, world: World): readonly JsonObject[] {
  const plain = makeIndexes(chance, world.root).map(({ unique, fields, printed }) => ({
    ...printed,
    unique: unique && fields.length > 1 && fields.every(({ path }) => isOpen(world, path)),
  }))
  return [...plain, ...makeWordIndexes(chance, world)]
}

/** For text search: of fields in sight, of fields out of it, and of both. */
function makeWordIndexes(chance: Chance, world: World): readonly JsonObject[] {
  const texts = [...textsIn(world.root)]
  const subsets = [
    texts.filter((path) => isOpen(world, path)),
    texts.filter((path) => isSecret(world, path)),
    texts,
  ]
  const indexes = subsets.map((paths) => paths.filter(() => chance.happens(60)).slice(0, 4))
  const distinct = new Map(indexes.filter(({ length }) => length > 0).map((paths) => [paths.join(), paths]))
  return [...distinct.values()].map((paths, i) => ({
    name: `words ${i}`,
    kind: 'text',
    fields: paths.map((field) => ({ field, weight: 1 + chance.int(3) })),
  }))
}

function* textsIn({ fields }: ObjectNode, at = ''): Generator<string> {
  for (const [name, node] of fields) {
    const element = node.kind === 'array' ? node.element : node
    const path = node.kind === 'array' ? `${at}${name}.*` : `${at}${name}`
    if (element.kind === 'object') yield* textsIn(element, `${path}.`)
    else if (element.kind === 'simple' && element.type === 'string') yield path
  }
}
