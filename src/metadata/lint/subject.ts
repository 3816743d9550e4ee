/** What the rules of the linter look at, and what they say about it. */
import type { Field } from '../../schema/field.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import { NO, type Reach, type Reaches } from '../../schema/reach.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { fieldsOnPath } from '../../schema/trail.ts'
import type { EntityInfo } from '../documents/entity-info.ts'

export interface Finding {
  /** A warning is worth a change; a hint is worth a look. */
  readonly severity: 'warning' | 'hint'
  readonly code: string
  /** JSON pointer into the metadata document. */
  readonly at: string
  /** Of the metadata document; absent where it does not matter which. */
  readonly version?: string
  /** What is the matter, and what to do about it. */
  readonly msg: string
}

export interface Subject {
  readonly info: EntityInfo
  /** The versions that are served: all but disabled ones. */
  readonly schemas: readonly Schema[]
  /** Of all roles that any of them names. */
  readonly reaches: Reaches
  readonly access: AccessMeter
  readonly others: Others
}

/** What decides about requests, as far as the rules ask it. */
export interface AccessMeter {
  readonly reachesIn: (schemas: readonly Schema[]) => Reaches
  /** How far somebody reaches who has all these roles. */
  readonly reachOf: (question: Question, roles: readonly string[]) => Reach
}

interface Question {
  readonly schema: Schema
  readonly operation: EntityOperation
  readonly trail?: readonly Field[]
}

/** A version that is served of some entity, the default one unless it is named; undefined where there is none. */
export type Others = (
  entity: string,
  version: string | undefined,
) => { readonly info: EntityInfo; readonly schema: Schema } | undefined

export type LintRule = (subject: Subject) => Generator<Finding>

/** What the role may at most do to a field of this path; nothing where there is none. */
export function rankTo(
  { reaches }: Subject,
  schema: Schema,
  [role, operation, path]: readonly [role: string, operation: EntityOperation, path?: string],
): number {
  const field = path === undefined ? undefined : fieldsOnPath(schema, path)?.at(-1)
  if (path !== undefined && !field) return NO
  return reaches.ranks(schema, operation, field)[reaches.classOf(role)]!
}

/** The roles of the classes that pass the test. */
export function rolesOf({ roles, classes }: Reaches, test: (index: number) => boolean): readonly string[] {
  const passing = new Map<number, boolean>()
  return roles.filter((_, i) => {
    const index = classes[i]!
    const known = passing.get(index) ?? test(index)
    passing.set(index, known)
    return known
  })
}

/** Where roles may put values of their own, one for each class. */
export function writable({ reaches }: Subject, schema: Schema, field: Field): (index: number) => boolean {
  const [insert, update] = [reaches.ranks(schema, 'insert', field), reaches.ranks(schema, 'update', field)]
  return (index) => insert[index] !== NO || update[index] !== NO
}

/** For a sentence: those who have no role stand without quotes. */
export function listed(roles: readonly string[]): string {
  return some(roles.map((role) => (role === ANYONE_ELSE ? role : `"${role}"`)))
}

export function quoted(names: readonly string[]): string {
  return some(names.map((name) => `"${name}"`))
}

/** A sentence is to be read: it names some of many. */
function some(names: readonly string[]): string {
  const others = names.length - MAX_NAMED
  return others <= 1 ? names.join(', ') : `${names.slice(0, MAX_NAMED).join(', ')} and ${others} others`
}

const MAX_NAMED = 20
