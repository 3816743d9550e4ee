/** Which documents each role may access by the access lists of a schema; `access/reach.ts` computes it for all roles. */
import type { Field } from './field.ts'
import type { EntityOperation, Schema } from './schema.ts'

/** All documents, none, or those that match a row rule. */
export type Reach = 'yes' | 'no' | 'where'

/** In ascending order, so that the minimum of several applies. */
export const REACHES = ['no', 'where', 'yes'] as const satisfies readonly Reach[]
export const [NO, WHERE, YES] = [0, 1, 2] as const

/** One of `NO`, `WHERE`, `YES` for each class of roles; fields with the same access lists share the object. */
export type Ranks = Uint8Array

/** Roles with the same access everywhere form a class, so that the cost depends on the number of different roles. */
export interface Reaches {
  /** Sorted, with `ANYONE_ELSE` at the end. */
  readonly roles: readonly string[]
  /** The class of each role. */
  readonly classes: readonly number[]
  readonly classOf: (role: string) => number
  /** Without a field: for whole documents. */
  readonly ranks: (schema: Schema, operation: EntityOperation, field?: Field) => Ranks
}
