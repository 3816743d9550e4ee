/** A compiled version of an entity, as data operations use it. */
import type { Language } from '../base/stemmers.ts'
import type { Field, Fields, ObjectField, RoleList, SimpleField } from './field.ts'

export type EntityOperation = 'find' | 'insert' | 'update' | 'delete'
export type Status = 'active' | 'deprecated' | 'disabled'

export interface Schema {
  readonly entity: string
  readonly version: string
  readonly status: Status
  readonly access: Readonly<Record<EntityOperation, RoleList>>
  readonly root: ObjectField
  /** The fields that together identify a document, in path order; `_id` alone when none is declared. */
  readonly identity: readonly SimpleField[]
  /** The paths whose values together no two documents share, one list for each unique index; null is no value. */
  readonly uniqueKeys: readonly (readonly string[])[]
  readonly collection: Collection
  /** Whether this version defines every member that any version ever stored in the collection. */
  readonly coversCollection: boolean
}

/** Where a store keeps the documents of an entity. Entities with the same collection name do not share documents. */
export interface Collection {
  readonly datasource: string
  readonly name: string
  readonly entity: string
  /** Number of paths in the collection when the schema was compiled; it never decreases. */
  readonly paths?: number
}

/** Every field at every depth, parents first. */
export function* allFields(fields: Fields): Generator<Field> {
  // Not recursive: each level of nested generators would pass on every field below it.
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

/** The definition of an index, independent of the store. */
export interface IndexDefinition {
  /** Present for an index of the words of its fields. */
  readonly kind?: 'text'
  /** The language of the stems of such an index. */
  readonly language?: Language
  readonly unique: boolean
  readonly fields: readonly IndexField[]
}

export interface IndexField {
  readonly path: string
  readonly type: SimpleField['type']['name']
  readonly descending: boolean
  readonly caseInsensitive: boolean
  /** Set when stored values may be of another kind than the type; those are not indexed. */
  readonly isMixed?: true
}
