/** How far roles reach by the access lists of a schema, for all roles at once; `access/reach.ts` works it out. */
import type { Field } from './field.ts'
import type { EntityOperation, Schema } from './schema.ts'

/** To all documents, to none, or to those that a row rule matches. */
export type Reach = 'yes' | 'no' | 'where'

/** In the order of how far they go, so that the least of several decides. */
export const REACHES = ['no', 'where', 'yes'] as const satisfies readonly Reach[]
export const [NO, WHERE, YES] = [0, 1, 2] as const

/** One of the above for each class of roles; the same object for all fields that the same lists decide about. */
export type Ranks = Uint8Array

/** Roles that no list tells apart form a class, so that many roles cost as much as they differ. */
export interface Reaches {
  /** Sorted, with those who have none at the end. */
  readonly roles: readonly string[]
  /** The class of each of them. */
  readonly classes: readonly number[]
  readonly classOf: (role: string) => number
  /** Without a field: of documents as a whole. */
  readonly ranks: (schema: Schema, operation: EntityOperation, field?: Field) => Ranks
}
