/** One version of an entity, compiled: all that data operations need to know about it. */
import type { Field, Fields, ObjectField, RoleList, SimpleField } from './field.ts'

export type EntityOperation = 'find' | 'insert' | 'update' | 'delete'
export type Status = 'active' | 'deprecated' | 'disabled'

export interface Schema {
  readonly entity: string
  readonly version: string
  readonly status: Status
  readonly access: Readonly<Record<EntityOperation, RoleList>>
  readonly root: ObjectField
  /** The fields that together name a document, in path order; `_id` alone when none is declared. */
  readonly identity: readonly SimpleField[]
  readonly collection: Collection
  /** Whether every member that any version ever stored in the collection is a member of this version. */
  readonly coversCollection: boolean
}

/** Where the documents of an entity live. Every entity has documents of its own, also under a shared name. */
export interface Collection {
  readonly datasource: string
  readonly name: string
  readonly entity: string
  /** How many paths the collection had as far as the maker of the schema knows; they only grow in number. */
  readonly paths?: number
}

/** Every field at every depth, parents first. */
export function* allFields(fields: Fields): Generator<Field> {
  // Not by recursion: each level of generators would hand on every field below it.
  const levels = [fields.values()]
  while (levels.length > 0) {
    const { value: field, done } = levels.at(-1)!.next()
    if (done) {
      levels.pop()
      continue
    }
    yield field
    const below = field.kind === 'array' ? field.element : field
    if (below.kind === 'object') levels.push(below.fields.values())
  }
}

/** An index as the store needs it: what is indexed, not how. */
export interface IndexDefinition {
  readonly unique: boolean
  readonly fields: readonly IndexField[]
}

export interface IndexField {
  readonly path: string
  readonly type: SimpleField['type']['name']
  readonly descending: boolean
  readonly caseInsensitive: boolean
  /** Whether stored values may be of another kind than the type; those are not indexed. */
  readonly isMixed?: true
}
