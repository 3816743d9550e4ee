/** A schema with lists of roles on it, and one caller: the harness's own idea of what that caller may read. */
import type { Json, JsonObject } from '../../src/base/json.ts'
import type { Node, ObjectNode } from '../agreement/model.ts'
import { storeKind } from '../support/store-kind.ts'

/** Stands in requests and answers for the name of the entity, which is another one in each replay. */
export const ENTITY = '@E@'
/** Open to everybody, used to fill the databases, and disabled before the first request. */
export const FILLING = '0.0.1'

export type List = readonly Json[]
export type Lists = Readonly<Partial<Record<'find' | 'insert' | 'update' | 'delete', List>>>

export interface World {
  readonly root: ObjectNode
  /** Constraints and generator by path, `*` for elements; the same in every version. */
  readonly rules: ReadonlyMap<string, Rule>
  readonly versions: readonly Version[]
  readonly indexes: readonly JsonObject[]
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

/** `noone` beats `anyone` beats a role in common. */
function admits(list: List, roles: readonly string[]): boolean {
  if (list.includes('noone')) return false
  return list.includes('anyone') || roles.some((role) => list.includes(role))
}

export function mayRead({ access, fields, dropped }: Version, path: string, roles: readonly string[]): boolean {
  if (!admits(access.find ?? [], roles)) return false
  const steps = path.split('.')
  if (dropped.has(steps[0]!)) return false
  return steps.every((_, i) => {
    const list = fields.get(steps.slice(0, i + 1).join('.'))?.find
    return list === undefined || list.length === 0 || admits(list, roles)
  })
}

/** Whether no version shows the field to the caller. */
export function isSecret({ versions, roles }: World, path: string): boolean {
  return versions.every((version) => !mayRead(version, path, roles))
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
export function sightOf({ root, roles }: World, version: Version): ObjectNode {
  const seen = pruned(root, (path) => mayRead(version, path, roles))
  return seen.fields.size > 0 ? seen : root
}

export function printWorld(world: World, version: Version | undefined): JsonObject {
  const name = version?.name ?? FILLING
  const open = { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] }
  return {
    entityInfo: {
      name: ENTITY,
      defaultVersion: name,
      datastore: { backend: storeKind() },
      indexes: world.indexes,
    },
    schema: {
      name: ENTITY,
      version: { value: name, changelog: 'one of them' },
      status: { value: 'active' },
      access: (version?.access as JsonObject | undefined) ?? open,
      fields: printFields(world, version, { node: world.root, at: '' }),
    },
  }
}

interface Place<N> {
  readonly node: N
  readonly at: string
}

function printFields(world: World, version: Version | undefined, { node, at }: Place<ObjectNode>): JsonObject {
  const fields: Record<string, Json> = {}
  for (const [name, field] of node.fields) {
    if (at === '' && version?.dropped.has(name)) continue
    fields[name] = printField(world, version, { node: field, at: at + name })
  }
  return fields
}

function printField(world: World, version: Version | undefined, { node, at }: Place<Node>): JsonObject {
  const { constraints, generator } = world.rules.get(at) ?? {}
  const access = version?.fields.get(at)
  return {
    ...printKind(world, version, { node, at }),
    ...(constraints && { constraints }),
    // values are stored as they are drawn, so nothing is made while the databases are filled
    ...(version && generator && { valueGenerator: generator }),
    ...(access && { access: access as JsonObject }),
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
