/** What a store is asked to do, as plain data. Only `plan/read.ts` and `plan/write.ts` make these. */
import { type ServiceError, unreachable } from '../base/errors.ts'
import type { JsonObject } from '../base/json/json.ts'
import type { Step } from '../base/path.ts'
import type { Arguments } from '../lang/operand.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Sequence } from '../schema/field.ts'
import type { Collection } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'

export interface ReadPlan {
  readonly collection: Collection
  /** Absent: every document. */
  readonly query?: Query<FieldRef>
  /** For the parameters of the query. Present in plans of prepared finds, which share the query. */
  readonly arguments?: Arguments
  readonly sort: readonly SortKey<FieldRef>[]
  /** Inclusive, zero-based; without `to` the page is open. */
  readonly from: number
  readonly to?: number
  readonly counted: boolean
  /** How `_id` orders, which breaks ties. */
  readonly idType: TypeName
  /** Documents of other collections that come along with each document. */
  readonly joins?: readonly JoinPlan[]
  /** All documents, also those of other collections, as they were then: microseconds since 1970, as versions are. */
  readonly asOf?: number
}

/** The documents that a reference joins. */
export interface JoinPlan {
  /** From the document that holds the reference to the reference itself; `*` stands for every element of an array. */
  readonly steps: readonly Step[]
  readonly collection: Collection
  readonly idType: TypeName
  /** Asked of each document there is; around it are a scope for every `*` of the steps and the holding document. */
  readonly query: Query<FieldRef>
  /** Ties go by `_id`. */
  readonly sort: readonly SortKey<FieldRef>[]
  /** Documents that come along with each of these. */
  readonly joins: readonly JoinPlan[]
  /** Whether they are shown as they are stored, so that nothing has to be known of each of them. */
  readonly isShownWhole: boolean
}

export type WritePlan = InsertPlan | UpdatePlan | SavePlan | DeletePlan

interface Writing {
  readonly collection: Collection
  readonly idType: TypeName
  /** One failure fails all. */
  readonly atomic: boolean
  /** Absent: nobody watches these documents. */
  readonly captureChange?: CaptureChange
  /** Who writes, for collections that keep their past. */
  readonly principal?: string
}

/** What is to be kept of a change, in its transaction, for those who watch; asked again when a store begins again. */
export type CaptureChange = (change: WatchedChange) => readonly OutboxEntry[]

export type WatchedChange =
  | { readonly operation: 'insert'; readonly after: JsonObject }
  | { readonly operation: 'update'; readonly before: StoredText; readonly after: JsonObject }
  | { readonly operation: 'delete'; readonly before: StoredText }

type StoredText = Pick<StoredDocument, 'text'>

/** A hook watches, and its events begin with this; the store adds both states of the document as it keeps them. */
export interface OutboxEntry {
  readonly id: string
  readonly entity: string
  readonly hook: string
  readonly operation: WatchedChange['operation']
  /** Milliseconds since 1970. */
  readonly at: number
  /** JSON text. */
  readonly details: string
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
  /** What its plan joins, in that order. */
  readonly joined?: readonly JoinedDocuments[]
}

/**
 * What a reference joins, as JSON text: an array of documents, or an array of those for each element, where the steps to
 * the reference pass an array; null where nothing can be joined, and `TOO_LARGE` where it is more than can be held.
 */
export interface JoinedDocuments {
  readonly documents: string | null
  /**
   * Of the same form, with `[version, paths, …]` for each document, followed by both texts' values for each join of its
   * own; of documents that are shown as they are stored, the most `paths` of any of them.
   */
  readonly facts: string | null
}

export const TOO_LARGE = 'too large'

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
