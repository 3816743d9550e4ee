/** The input of the linter's rules, and their findings. */
import type { Field } from '../../schema/field.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import { NO, type Reach, type Reaches } from '../../schema/reach.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { fieldsOnPath } from '../../schema/fields-on-path.ts'
import type { Finding } from '../finding.ts'
import type { SchemaDocument } from '../documents/schema-document.ts'
import type { EntityInfo } from '../documents/entity-info.ts'

export interface Subject {
  readonly info: EntityInfo
  /** All versions, also the disabled ones. */
  readonly versions: readonly Schema[]
  /** The documents of the enabled versions. */
  readonly documents: readonly SchemaDocument[]
  /** The enabled versions; requests cannot use disabled ones. */
  readonly schemas: readonly Schema[]
  /** Covers all roles that any of these versions names. */
  readonly reaches: Reaches
  readonly access: AccessMeter
  readonly others: Others
}

/** The part of access decisions that the rules need. */
export interface AccessMeter {
  readonly reachesIn: (schemas: readonly Schema[]) => Reaches
  /** The reach of a caller with all these roles. */
  readonly reachOf: (question: Question, roles: readonly string[]) => Reach
}

interface Question {
  readonly schema: Schema
  readonly operation: EntityOperation
  readonly trail?: readonly Field[]
}

/** An enabled version of another entity, by default its default version; undefined when there is none. */
export type Others = (
  entity: string,
  version: string | undefined,
) => { readonly info: EntityInfo; readonly schema: Schema } | undefined

export type LintRule = (subject: Subject) => Generator<Finding>

/** The highest rank of the role for the field at this path; NO when there is no such field. */
export function rankTo(
  { reaches }: Subject,
  schema: Schema,
  [role, operation, path]: readonly [role: string, operation: EntityOperation, path?: string],
): number {
  const field = path === undefined ? undefined : fieldsOnPath(schema, path)?.at(-1)
  if (path !== undefined && !field) return NO
  return reaches.ranks(schema, operation, field)[reaches.classOf(role)]!
}

/** The roles whose class passes the test. */
export function rolesOf({ roles, classes }: Reaches, test: (index: number) => boolean): readonly string[] {
  const passing = new Map<number, boolean>()
  return roles.filter((_, i) => {
    const index = classes[i]!
    const known = passing.get(index) ?? test(index)
    passing.set(index, known)
    return known
  })
}

/** Whether the roles of a class may write values of their own into the field. */
export function writable({ reaches }: Subject, schema: Schema, field: Field): (index: number) => boolean {
  const [insert, update] = [reaches.ranks(schema, 'insert', field), reaches.ranks(schema, 'update', field)]
  return (index) => insert[index] !== NO || update[index] !== NO
}

/** For messages: callers without a role appear without quotes. */
export function listed(roles: readonly string[]): string {
  return some(roles.map((role) => (role === ANYONE_ELSE ? role : `"${role}"`)))
}

export function quoted(names: readonly string[]): string {
  return some(names.map((name) => `"${name}"`))
}

/** Shortens a long list, so that the message stays readable. */
function some(names: readonly string[]): string {
  const others = names.length - MAX_NAMED
  return others <= 1 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${others} others`
}

const MAX_NAMED = 20
