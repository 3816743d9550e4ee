/** Requests in terms of a schema, as they are asked and as they are allowed. */
import type { Projection } from '../lang/projection.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/scope.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Update } from '../lang/update.ts'
import type { Field } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'

export interface Find {
  readonly schema: Schema
  readonly query?: Query<FieldRef>
  readonly projection: Projection<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  readonly from: number
  readonly to?: number
  readonly counted: boolean
}

/** A find as this caller may have it. */
export interface AllowedFind extends Find {
  /** Whether `_id` may be told, which document versions are made of. */
  readonly showsId: boolean
}

/** What a caller may insert, and what of it they may see again. */
export interface Insert {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
  readonly atomic: boolean
}

export type AllowedInsert = Insert & WriteSight

/** A write that selects by query: update and delete. */
export interface Select {
  readonly schema: Schema
  readonly query: Query<FieldRef>
}

export interface ChangeRequest extends Select {
  readonly update: Update<FieldRef>
  readonly projection: Projection<FieldRef>
  readonly atomic: boolean
}

export interface SaveRequest {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
  readonly upsert: boolean
  readonly atomic: boolean
}

/** What a writer may see and do, field by field. */
export interface WriteSight {
  readonly showsId: boolean
  readonly mayInsert: (field: Field) => boolean
  readonly mayUpdate: (field: Field) => boolean
  readonly isHidden: (field: Field) => boolean
}

export type AllowedChange = ChangeRequest &
  WriteSight & {
    /** Fields the update names as targets though the caller cannot see them: they are judged by being named. */
    readonly hiddenTargets: readonly FieldRef[]
  }
export type AllowedSave = SaveRequest & WriteSight
