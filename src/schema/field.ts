/** The fields of a schema, as the metadata documents define them, ready to be walked beside a document. */
import type { Json, JsonObject } from '../base/json/json.ts'
import type { Pattern } from '../base/pattern.ts'
import type { ValueType } from './types.ts'

export type Field = SimpleField | ObjectField | ArrayField | ReferenceField
export type Fields = ReadonlyMap<string, Field>
/** What an array holds: arrays of arrays and of references do not exist. */
export type Element = SimpleField | ObjectField

export type FieldOperation = 'find' | 'insert' | 'update'
/** Who is admitted: roles, some of them only to the documents that a rule matches. */
export type RoleList = readonly AccessEntry[]
export type AccessEntry = string | RowRule
/** Admits the role to the documents that match `where`: a query, in which `$caller.…` stands for what is known of the caller. */
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
  /** Every non-empty role list on the way down to this field: all of them must admit the caller. */
  readonly roles: Readonly<Record<FieldOperation, readonly RoleList[]>>
  readonly constraints: Constraints
  /** Whether versions gave it, or something above it, types of different kinds, so that stored values may not fit. */
  readonly isMixed?: true
}

export interface SimpleField extends Described {
  readonly kind: 'simple'
  readonly type: ValueType
  readonly generator?: Generator
  /** Filled when read, never stored. */
  readonly virtual?: 'documentVersion' | 'resultMetadata'
}

export interface ObjectField extends Described {
  readonly kind: 'object'
  readonly fields: Fields
}

export interface ArrayField extends Described {
  readonly kind: 'array'
  readonly element: Element
}

/** Documents of another entity, joined when asked for; nothing is stored under its name. */
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
  /** Exact bounds, as the metadata wrote them. */
  readonly minimum?: Json
  readonly maximum?: Json
  readonly minItems?: number
  readonly maxItems?: number
  /** The allowed values, with the name of the enum they come from. */
  readonly enum?: { readonly name: string; readonly values: ReadonlySet<string> }
  readonly matches?: Pattern
}

export interface Generator {
  readonly type: 'UUID' | 'CurrentTime' | 'IntSequence'
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

/** Whether documents must hold a value here: a missing one is generated, or is a fault. */
export function isNeeded({ constraints }: Field): boolean {
  return Boolean(constraints.required || constraints.identity || constraints.elementIdentity)
}

/** Filled when read, never stored. */
export function isVirtual(field: Field): boolean {
  return field.kind === 'simple' && field.virtual !== undefined
}

/** Sizes of arrays are counted, virtual fields filled when read: what a client says about them does not matter. */
export function isServerMade(field: Field): boolean {
  return field.name.endsWith('#') || isVirtual(field)
}

/** Whether the server puts a value of its own where the sender put this one, or none. */
export function willBeMade(field: Field, sent: Json | undefined): boolean {
  if (field.kind !== 'simple' || (!field.generator && field.type.name !== 'uid')) return false
  if (sent === undefined) return isNeeded(field)
  return sent === null || Boolean(field.generator?.overwrite)
}

/** Whether the server makes the value anew with every write, whatever the sender says. */
export function isMadeAnew(field: Field): boolean {
  return field.kind === 'simple' && Boolean(field.generator?.overwrite)
}

/** Whether to leave the field out replaces its value by a new one; an element without its identity is another element. */
export function isReplacedByOmission(field: Field): boolean {
  return willBeMade(field, undefined) && !isMadeAnew(field) && !field.constraints.elementIdentity
}
