/** The fields of a compiled schema. */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Pattern } from '../base/pattern.ts'
import type { Language } from '../base/stemmers.ts'
import type { ValueType } from './types.ts'

export type Field = SimpleField | ObjectField | ArrayField | ReferenceField
export type Fields = ReadonlyMap<string, Field>
/** The element of an array; arrays of arrays and of references do not exist. */
export type Element = SimpleField | ObjectField

export type FieldOperation = 'find' | 'insert' | 'update'
/** Roles that are admitted, some of them only to documents that match a row rule. */
export type RoleList = readonly AccessEntry[]
export type AccessEntry = string | RowRule
/** Admits the role to documents that match the query `where`, in which `$caller.…` stands for attributes of the caller. */
export interface RowRule {
  readonly [key: string]: Json
  readonly role: string
  readonly where: Json
}

interface Described {
  /** Last step of the path; `*` for the element of an array, empty for the root. */
  readonly name: string
  /** Path from the root with `*` for array elements. */
  readonly path: string
  /** Non-empty role lists of this field and its ancestors: all of them must admit the caller. */
  readonly roles: Readonly<Record<FieldOperation, readonly RoleList[]>>
  readonly constraints: Constraints
  /** Set when versions give this field or an ancestor types of different kinds: stored values may then not fit. */
  readonly isMixed?: true
}

export interface SimpleField extends Described {
  readonly kind: 'simple'
  readonly type: ValueType
  readonly generator?: Generator
  /** The value of a new document in which the member is absent, as stored. */
  readonly default?: Json
  /** Computed when the document is read, never stored. */
  readonly virtual?: 'documentVersion' | 'resultMetadata'
}

export interface ObjectField extends Described {
  readonly kind: 'object'
  readonly fields: Fields
  /** The indexes for text search of the entity; only at the root of documents, and absent where there is none. */
  readonly wordIndexes?: readonly WordIndex[]
  /** The order in which the collection stores the members, those of other versions too; absent if it is that of the fields. */
  readonly storedOrder?: readonly string[]
  /** The order of the fields, in which members are shown; absent if they are stored in it. */
  readonly shownOrder?: readonly string[]
}

/** An index of words: a text search names it. */
export interface WordIndex {
  readonly name: string
  readonly fields: readonly WeightedField[]
  /** The language of the stems that it has; absent if it has words as they are written. */
  readonly language?: Language
}

interface WeightedField {
  readonly path: string
  /** How much an occurrence of a word in this field counts. */
  readonly weight: number
}

export interface ArrayField extends Described {
  readonly kind: 'array'
  readonly element: Element
  readonly default?: Json
}

/** Documents of another entity, joined when a request includes them; nothing is stored under this name. */
export interface ReferenceField extends Described {
  readonly kind: 'reference'
  readonly entity: string
  readonly versionValue?: string
  readonly query?: Json
  readonly projection?: Json
  readonly sort?: Json
}

export interface Constraints {
  readonly required?: boolean
  readonly identity?: boolean
  readonly elementIdentity?: boolean
  readonly minLength?: number
  readonly maxLength?: number
  /** Bounds with the exact digits of the metadata. */
  readonly minimum?: Json
  readonly maximum?: Json
  readonly minItems?: number
  readonly maxItems?: number
  /** The allowed values, with the name of the enum they come from. */
  readonly enum?: { readonly name: string; readonly values: ReadonlySet<string> }
  readonly matches?: Pattern
}

export interface Generator {
  readonly type: 'UUID' | 'CurrentTime' | 'CurrentUser' | 'IntSequence'
  readonly overwrite: boolean
  /** Only for IntSequence. */
  readonly sequence?: Sequence
  readonly configuration: JsonObject
}

export interface Sequence {
  readonly name: string
  readonly initialValue: bigint
  readonly increment: bigint
}

export function roleOf(entry: AccessEntry): string {
  return typeof entry === 'string' ? entry : entry.role
}

/** Whether documents must have a value here: a missing one is generated, or is a fault. */
export function isMandatory({ constraints }: Field): boolean {
  return Boolean(constraints.required || constraints.identity || constraints.elementIdentity)
}

/** Whether the field is computed when the document is read, and never stored. */
export function isVirtual(field: Field): boolean {
  return field.kind === 'simple' && field.virtual !== undefined
}

/** References and virtual fields are not stored: their values are produced on read. */
export function isStored(field: Field): boolean {
  return field.kind !== 'reference' && !isVirtual(field)
}

/** Whether the field is the size of an array or virtual: values that clients send for it are ignored. */
export function isComputed(field: Field): boolean {
  return field.name.endsWith('#') || isVirtual(field)
}

/** Whether the server generates a value in place of the one that was sent, or of a missing one. */
export function willBeGenerated(field: Field, sent: Json | undefined): boolean {
  if (field.kind !== 'simple' || (!field.generator && field.type.name !== 'uid')) return false
  if (sent === undefined) return isMandatory(field)
  return sent === null || Boolean(field.generator?.overwrite)
}

/** Whether the server generates a new value with every write, whatever value was sent. */
export function isRegenerated(field: Field): boolean {
  return field.kind === 'simple' && Boolean(field.generator?.overwrite)
}

/** Whether omitting the field replaces its value by a new one. An element without its identity is a new element. */
export function isReplacedByOmission(field: Field): boolean {
  return willBeGenerated(field, undefined) && !isRegenerated(field) && !field.constraints.elementIdentity
}
