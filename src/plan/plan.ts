/** What a store is asked to do, as plain data. Only `plan/read.ts` and `plan/write.ts` make these. */
import { type ServiceError, unreachable } from '../base/errors.ts'
import type { JsonObject } from '../base/json.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/scope.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Sequence } from '../schema/field.ts'
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

export type WritePlan = InsertPlan | UpdatePlan | SavePlan | DeletePlan

interface Writing {
  readonly collection: Collection
  readonly idType: TypeName
  /** One failure fails all. */
  readonly atomic: boolean
}

export interface InsertPlan extends Writing {
  readonly kind: 'insert'
  readonly documents: readonly JsonObject[]
}

/** Every document that matches is shown to `change`, in its newest state, and becomes what that says. */
export interface UpdatePlan extends Writing {
  readonly kind: 'update'
  readonly query: Query<FieldRef>
  readonly change: (stored: StoredDocument, draw: Draw) => Change
}

/** Each item finds at most one document by its identity; `change` says what becomes of it, or of its absence. */
export interface SavePlan extends Writing {
  readonly kind: 'save'
  readonly items: readonly SaveItem[]
}

export interface SaveItem {
  /** Absent: the identity is not complete, so nothing can be found by it. */
  readonly query?: Query<FieldRef>
  readonly change: (stored: StoredDocument | undefined, draw: Draw) => Change
}

export interface DeletePlan extends Writing {
  readonly kind: 'delete'
  readonly query: Query<FieldRef>
}

/** The next value of a sequence, drawn in the transaction of the write. */
export type Draw = (sequence: Sequence) => bigint

export type Change =
  | { readonly kind: 'write'; readonly document: JsonObject }
  /** Nothing to write, but part of the answer. */
  | { readonly kind: 'keep' }
  /** Not touched and not counted. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'refuse'; readonly faults: readonly ServiceError[] }

/** What a store did with one document, told in the order of the documents. */
export type Outcome =
  | { readonly kind: 'inserted' | 'updated' | 'kept'; readonly document: StoredDocument }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'duplicate'; readonly document?: StoredDocument }
  | { readonly kind: 'refused'; readonly faults: readonly ServiceError[]; readonly document?: StoredDocument }

export interface StoredDocument {
  /** The document as JSON text, exactly as it was written. */
  readonly text: string
  /** `_id` as text. */
  readonly id: string
  /** Rises with each write of the document. */
  readonly version: number
  /**
   * How many paths its writers knew the collection to have. Where that is more than a reader knows, another process has
   * added a version, and the document may hold what the reader's schema has never heard of.
   */
  readonly paths?: number
}

export function isFailure(outcome: Outcome): boolean {
  return outcome.kind === 'duplicate' || outcome.kind === 'refused'
}

/** The outcome of a change that writes nothing. */
export function unwritten(
  change: Exclude<Change, { kind: 'write' }>,
  stored: StoredDocument,
): Outcome | undefined {
  switch (change.kind) {
    case 'skip':
      return undefined
    case 'keep':
      return { kind: 'kept', document: stored }
    case 'refuse':
      return { kind: 'refused', faults: change.faults, document: stored }
    default:
      return unreachable(change)
  }
}
