/** Entities that refer to each other, as the agreement test sees them: what is declared, and what a request unfolds. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { type Node, type ObjectNode, printFields, withPredefined } from './model.ts'

export interface Reference {
  /** From the root of its entity to the object that holds it; `*` stands for the elements of an array. */
  readonly holder: readonly string[]
  readonly name: string
  readonly entity: string
  readonly query?: JsonObject
  readonly sort?: Json
  readonly projection?: Json
}

export interface Entity {
  readonly name: string
  /** Without references. */
  readonly root: ObjectNode
  readonly references: readonly Reference[]
}

export type Entities = ReadonlyMap<string, Entity>

/**
 * Paths of references from the document that is asked for, with `*` for elements and for joined documents; where the
 * number of documents is shown, its path, too.
 */
export type Followed = ReadonlySet<string>

/** The path of the number of documents that a reference joins. */
export function countOf(reference: readonly string[]): string {
  return `${reference.join('.')}#`
}

/** The `fields` of the schema document, references included. */
export function printEntity({ root, references }: Entity): JsonObject {
  const fields = structuredCopy(printFields(root)) as Record<string, Json>
  for (const reference of references) {
    const { holder, name, entity, query, sort, projection } = reference
    let members = fields
    for (const step of holder) {
      if (step !== '*') members = membersOf(members[step] as Record<string, Json>)
    }
    members[name] = {
      type: 'reference',
      entity,
      ...(query && { query }),
      ...(sort !== undefined && { sort }),
      ...(projection !== undefined && { projection }),
    }
  }
  return fields
}

function membersOf(node: Record<string, Json>): Record<string, Json> {
  const object = node['type'] === 'array' ? (node['items'] as JsonObject) : node
  return object['fields'] as Record<string, Json>
}

function structuredCopy(value: Json): Json {
  return JSON.parse(JSON.stringify(value)) as Json
}

interface Unfolding {
  readonly entities: Entities
  readonly followed: Followed
  /** Whether the numbers of joined documents can be asked for, as in queries. */
  readonly isCounted: boolean
}

const knownUnfoldings = new WeakMap<Entities, Map<string, ObjectNode>>()

/** The fields of an entity with an array of documents in place of each reference that is followed. */
export function unfolded(entity: string, unfolding: Unfolding): ObjectNode {
  const { entities, followed, isCounted } = unfolding
  const known = knownUnfoldings.get(entities) ?? new Map<string, ObjectNode>()
  knownUnfoldings.set(entities, known)
  // Requests of a round follow the same references again and again.
  const key = `${entity} ${isCounted} ${keyOf(followed)}`
  const node = known.get(key) ?? unfoldedAt(entity, unfolding, [])
  known.set(key, node)
  return node
}

/** The same for the same references, whatever their order. */
export function keyOf(followed: Followed): string {
  return [...followed].sort().join('\n')
}

function unfoldedAt(entity: string, unfolding: Unfolding, path: readonly string[]): ObjectNode {
  const { root, references } = unfolding.entities.get(entity)!
  const unfold = (node: Node, at: readonly string[]): Node => {
    if (node.kind === 'simple') return node
    if (node.kind === 'array') return { ...node, element: unfold(node.element, [...at, '*']) as ObjectNode }
    const fields = new Map([...node.fields].map(([name, field]) => [name, unfold(field, [...at, name])]))
    for (const { holder, name, entity: target } of references) {
      const full = [...path, ...holder, name]
      if (holder.join('.') !== at.join('.')) continue
      if (unfolding.followed.has(countOf(full))) fields.set(`${name}#`, COUNT)
      if (!unfolding.followed.has(full.join('.'))) continue
      const element = unfoldedAt(target, unfolding, [...full, '*'])
      fields.set(name, { kind: 'array', element, isJoined: true })
      if (unfolding.isCounted) fields.set(`${name}#`, COUNT)
    }
    return { kind: 'object', fields }
  }
  return unfold(withPredefined(root), []) as ObjectNode
}

const COUNT: Node = { kind: 'simple', type: 'integer', isCount: true, pool: [0, 1, 2, 3] }
