/** A schema with lists of roles on it, and one caller: the harness's own idea of what that caller may read. */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { memoized } from '../../../src/base/memo.ts'
import type { Node, ObjectNode } from '../agreement/model.ts'
import type { Reference } from '../agreement/references-model.ts'
import { storeKind } from '../../support/store-kind.ts'

/** Stands in requests and answers for the name of the entity, which is another one in each replay. */
export const ENTITY = '@E@'
/** Open to everybody, used to fill the databases, and disabled before the first request. */
export const FILLING = '0.0.1'

/** Who asks, always; rules may name it. */
export const PRINCIPAL = 'me'
/** What rules ask about; callers may give these fields to new documents, and never change them. */
export const RULED: ReadonlyMap<string, readonly Json[]> = new Map<string, readonly Json[]>([
  ['owner', [PRINCIPAL, 'you', 'they']],
  ['level', [0, 1, 2, 3]],
])

/** Roles, some of them with a rule: `{role, where}`. */
export type List = readonly Json[]
export type Lists = Readonly<Partial<Record<'find' | 'insert' | 'update' | 'delete', List>>>

export interface World {
  /** Its name, which begins with `ENTITY`. */
  readonly entity: string
  /** Whether its documents are in a datasource of their own. */
  readonly isApart: boolean
  readonly root: ObjectNode
  /** Where its documents lead to; lists of roles are on their paths as on those of fields. */
  readonly references: readonly Reference[]
  /** Whether documents show their version in a field, also where a reference shows them. */
  readonly tellsVersions: boolean
  /** Constraints and generator by path, `*` for elements; the same in every version. */
  readonly rules: ReadonlyMap<string, Rule>
  readonly versions: readonly Version[]
  readonly indexes: readonly JsonObject[]
  /** What watches the documents; of fields in sight and out of it. */
  readonly hooks: readonly JsonObject[]
  readonly roles: readonly string[]
}

export interface Rule {
  readonly constraints?: JsonObject
  readonly generator?: JsonObject
}

export interface Version {
  readonly name: string
  readonly access: Lists
  readonly fields: ReadonlyMap<string, Lists>
  /** Names of fields of the root that this version does not have. */
  readonly dropped: ReadonlySet<string>
}

export function pathOfReference({ holder, name }: Reference): string {
  return [...holder, name].join('.')
}

/** Whether a rule holds: of one document, or of none and of all of them. */
export type Holds = (where: Json) => boolean

const ALWAYS: Holds = () => true
const NEVER: Holds = () => false

/** `noone` beats `anyone` beats a role in common. */
function admits(list: List, roles: readonly string[], holds: Holds): boolean {
  if (list.includes('noone')) return false
  return list.some((entry) => {
    const { role, where } = isObject(entry) ? entry : { role: entry, where: undefined }
    const isMeant = role === 'anyone' || roles.some((each) => each === role)
    return isMeant && (where === undefined || holds(where))
  })
}

/** By default in some document, whichever. */
export function mayRead(
  { access, fields, dropped }: Version,
  path: string,
  { roles, holds = ALWAYS }: { readonly roles: readonly string[]; readonly holds?: Holds },
): boolean {
  if (!admits(access.find ?? [], roles, holds)) return false
  // asked for every field of every request
  for (let end = path.indexOf('.'); ; end = path.indexOf('.', end + 1)) {
    const upTo = end < 0 ? path : path.slice(0, end)
    if (dropped.has(upTo)) return false
    const list = fields.get(upTo)?.find
    if (list !== undefined && list.length > 0 && !admits(list, roles, holds)) return false
    if (end < 0) return true
  }
}

/** Whether no version shows the field to the caller: in this document, or in whichever. */
export function isSecret({ versions, roles }: World, path: string, document?: JsonObject): boolean {
  const holds = document ? holdsOf(document) : ALWAYS
  return versions.every((version) => !mayRead(version, path, { roles, holds }))
}

/** Whether some version shows the field to the caller in every document. */
export function isOpen({ versions, roles }: World, path: string): boolean {
  return versions.some((version) => mayRead(version, path, { roles, holds: NEVER }))
}

/** Whether the caller can neither find the document nor do anything to it: then it may as well not be there. */
export function isUnknown({ versions, roles }: World, document: JsonObject): boolean {
  const holds = holdsOf(document)
  return versions.every(({ access }) => {
    // whoever may find nothing at all still chooses among all documents
    const deciding = admits(access.find ?? [], roles, ALWAYS)
      ? (['find'] as const)
      : (['update', 'delete'] as const)
    return deciding.every((operation) => !admits(access[operation] ?? [], roles, holds))
  })
}

function holdsOf(document: JsonObject): Holds {
  const holds = (where: Json): boolean => {
    if (!isObject(where)) return false
    const { $not, $or, field, op, rvalue } = where
    if ($not !== undefined) return !holds($not)
    if (isArray($or)) return $or.some(holds)
    const value = field === 'owner' ? document['owner'] : document['level']
    if (op === '=') return value === (rvalue === '$caller.principal' ? PRINCIPAL : rvalue)
    return typeof value === 'number' && value < Number(rvalue)
  }
  return holds
}

/** The part of the schema whose fields pass the test. */
export function pruned(node: ObjectNode, isKept: (path: string) => boolean, at = ''): ObjectNode {
  const fields = new Map<string, Node>()
  for (const [name, field] of node.fields) {
    const path = at + name
    if (isKept(path)) fields.set(name, prunedNode(field, isKept, path))
  }
  return { kind: 'object', fields }
}

function prunedNode(node: Node, isKept: (path: string) => boolean, path: string): Node {
  if (node.kind === 'object') return pruned(node, isKept, `${path}.`)
  if (node.kind === 'simple' || node.element.kind === 'simple') return node
  const element = pruned(node.element, isKept, `${path}.*.`)
  // requests into elements have to name something
  return { kind: 'array', element: element.fields.size > 0 ? element : node.element }
}

/** What a version shows to the caller; everything where it shows nothing, since requests have to name something. */
export function visibilityOf(world: World, version: Version): ObjectNode {
  return sightsOf(world)(version)
}

/** Requests are drawn from the same few views again and again. */
const sightsOf = memoized(({ root, roles }: World) =>
  memoized((version: Version): ObjectNode => {
    const seen = pruned(root, (path) => mayRead(version, path, { roles }))
    return seen.fields.size > 0 ? seen : root
  }),
)

/** The part of the schema that the caller never sees, with the containers around it; all of it where there is none. */
export const secretsOf = memoized((world: World): ObjectNode => {
  const paths = new Set<string>()
  const collect = (node: Node, path: string): boolean => {
    const inside = node.kind === 'array' ? node.element : node
    const prefix = node.kind === 'array' ? `${path}.*.` : `${path}.`
    const below =
      inside.kind === 'object' &&
      [...inside.fields].filter(([name, each]) => collect(each, prefix + name)).length > 0
    if (!below && !isSecret(world, path)) return false
    paths.add(path)
    return true
  }
  for (const [name, node] of world.root.fields) collect(node, name)
  return paths.size > 0 ? pruned(world.root, (path) => paths.has(path)) : world.root
})

export function printWorld(world: World, version: Version | undefined): JsonObject {
  const name = version?.name ?? FILLING
  const open = { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }
  return {
    entityInfo: {
      name: world.entity,
      defaultVersion: name,
      datastore: world.isApart ? APART : { backend: storeKind() },
      indexes: world.indexes,
      hooks: world.hooks,
      history: true,
    },
    schema: {
      name: world.entity,
      version: { value: name, changelog: 'one of them' },
      status: { value: 'active' },
      access: (version?.access as JsonObject | undefined) ?? open,
      fields: printFields(world, version, { node: world.root, at: '' }),
    },
  }
}

/** The second datasource, always of the kind that costs least. */
export const APART = { backend: 'sqlite', datasource: 'apart' } as const

interface Place<N> {
  readonly node: N
  readonly at: string
}

function printFields(
  world: World,
  version: Version | undefined,
  { node, at }: Place<ObjectNode>,
): JsonObject {
  const fields: Record<string, Json> = {}
  for (const [name, field] of node.fields) {
    if (at === '' && version?.dropped.has(name)) continue
    fields[name] = printField(world, version, { node: field, at: at + name })
  }
  if (at === '' && version && world.tellsVersions) fields['told'] = { type: 'string', documentVersion: true }
  // entities have to be there before others refer to them
  for (const reference of version ? world.references : []) {
    if (pathOfReference(reference) === at + reference.name)
      fields[reference.name] = printReference(reference, version)
  }
  return fields
}

function printReference(reference: Reference, version: Version | undefined): JsonObject {
  const { holder: _holder, name: _name, ...said } = reference
  const access = version?.fields.get(pathOfReference(reference))
  return { type: 'reference', ...said, ...(access && { access }) }
}

function printField(world: World, version: Version | undefined, { node, at }: Place<Node>): JsonObject {
  const { constraints, generator } = world.rules.get(at) ?? {}
  const access = version?.fields.get(at)
  return {
    ...printKind(world, version, { node, at }),
    ...(constraints && { constraints }),
    // values are stored as they are drawn, so nothing is made while the databases are filled
    ...(version && generator && { valueGenerator: generator }),
    ...(access && { access }),
  }
}

function printKind(world: World, version: Version | undefined, { node, at }: Place<Node>): JsonObject {
  if (node.kind === 'simple') return { type: node.type }
  if (node.kind === 'object')
    return { type: 'object', fields: printFields(world, version, { node, at: `${at}.` }) }
  const { element } = node
  const items =
    element.kind === 'simple'
      ? { type: element.type }
      : { type: 'object', fields: printFields(world, version, { node: element, at: `${at}.*.` }) }
  return { type: 'array', items }
}
