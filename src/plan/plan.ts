/** What a store is asked to do, as plain data. Only `plan/read.ts` and `plan/write.ts` make these. */
import type { JsonObject } from '../base/json.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Collection } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'

export interface ReadPlan {
  readonly collection: Collection
  /** Absent: every document. */
  readonly query?: Query<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  /** Inclusive, zero-based; without `to` the page is open. */
  readonly from: number
  readonly to?: number
  readonly counted: boolean
  /** How `_id` orders, which breaks ties. */
  readonly idType: TypeName
}

export interface InsertPlan {
  readonly collection: Collection
  readonly idType: TypeName
  readonly documents: readonly JsonObject[]
  /** One failure fails all. */
  readonly atomic: boolean
}
