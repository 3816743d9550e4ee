/** What the rules of the linter look at, and what they say about it. */
import type { Field } from '../../schema/field.ts'
import { ANYONE_ELSE } from '../../schema/named-roles.ts'
import type { EntityOperation, Schema } from '../../schema/schema.ts'
import { trailTo } from '../../schema/trail.ts'
import type { EntityInfo } from '../entity-info.ts'

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
  /** All that any of them names, with those who have none at the end. */
  readonly roles: readonly string[]
  readonly reachOf: ReachOf
  readonly others: Others
}

/** A version that is served of some entity, the default one unless it is named; undefined where there is none. */
export type Others = (
  entity: string,
  version: string | undefined,
) => { readonly info: EntityInfo; readonly schema: Schema } | undefined

export type LintRule = (subject: Subject) => Iterable<Finding>

/** To all documents, to none, or to those that a row rule matches. */
export type Reach = 'yes' | 'no' | 'where'

/** How far somebody with these roles reaches; decided by what decides about requests. */
export type ReachOf = (
  question: {
    readonly schema: Schema
    readonly operation: EntityOperation
    readonly trail?: readonly Field[]
  },
  roles: readonly string[],
) => Reach

/** One role, one operation, one field; how the rules mostly ask. */
export function reachTo(
  { reachOf }: Subject,
  schema: Schema,
  [role, operation, path]: readonly [role: string, operation: EntityOperation, path?: string],
): Reach {
  if (path === undefined) return reachOf({ schema, operation }, [role])
  const trail = trailTo(schema, path)
  return trail ? reachOf({ schema, operation, trail }, [role]) : 'no'
}

/** Whether the role may put values of its own there. */
export function mayWrite(subject: Subject, schema: Schema, [role, path]: readonly [string, string]): boolean {
  const operations = ['insert', 'update'] as const
  return operations.some((operation) => reachTo(subject, schema, [role, operation, path]) !== 'no')
}

/** For a sentence: those who have no role stand without quotes. */
export function listed(roles: readonly string[]): string {
  return roles.map((role) => (role === ANYONE_ELSE ? role : `"${role}"`)).join(', ')
}

export function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(', ')
}
