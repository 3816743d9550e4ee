/** Plans: the work of a store as plain data. Only `plan/read.ts` and `plan/write.ts` create them. */
import { type ServiceError, unreachable } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json/json.ts'
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
  /** Values for the parameters of the query. Present in plans of prepared finds: requests share the query. */
  readonly arguments?: Arguments
  readonly sort: readonly SortKey<FieldRef>[]
  /** Inclusive and zero-based. Without `to` the page has no end. */
  readonly from: number
  readonly to?: number
  readonly counted: boolean
  /** Begin after the document with these values of the sort keys and, last, this `_id`. */
  readonly after?: readonly Json[]
  /** The type of `_id`, which breaks ties in the sort. */
  readonly idType: TypeName
  /** Documents of other collections, read in the same statement. */
  readonly joins?: readonly JoinPlan[]
  /**
   * Whether what the page is sorted by through references is returned behind the joined documents, one for each such
   * key: the document at the end of the way, or a number of documents.
   */
  readonly withSources?: true
  /** Read all documents, joined ones too, as of this time: microseconds since 1970, the unit of versions. */
  readonly asOf?: number
}

/** The documents that a reference joins. */
export interface JoinPlan {
  /** Whether only the number of the documents is read. */
  readonly isCount?: true
  /** From the document that contains the reference to the reference; `*` stands for every element of an array. */
  readonly steps: readonly Step[]
  readonly collection: Collection
  readonly idType: TypeName
  /** Selects the joined documents. Its outer scopes: one for every `*` of the steps, then the containing document. */
  readonly query: Query<FieldRef>
  /** `_id` breaks ties. */
  readonly sort: readonly SortKey<FieldRef>[]
  /** Documents that are joined to each of these, in the same statement. */
  readonly joins: readonly JoinPlan[]
  /** Whether their stored text is embedded unchanged; `facts` of single documents are then not needed. */
  readonly isShownWhole: boolean
}

export type WritePlan = InsertPlan | UpdatePlan | SavePlan | DeletePlan

interface Writing {
  readonly collection: Collection
  readonly idType: TypeName
  /** One failure rolls back the whole write. */
  readonly atomic: boolean
  /** Absent: no hook watches these documents. */
  readonly captureChange?: CaptureChange
  /** The caller's name, for collections with history. */
  readonly principal?: string
}

/**
 * The outbox entries of a change, which the store writes in the same transaction. A store calls it again when it retries
 * a transaction.
 */
export type CaptureChange = (change: WatchedChange) => readonly OutboxEntry[]

export type WatchedChange =
  | { readonly operation: 'insert'; readonly after: JsonObject }
  | { readonly operation: 'update'; readonly before: StoredText; readonly after: JsonObject }
  | { readonly operation: 'delete'; readonly before: StoredText }

type StoredText = Pick<StoredDocument, 'text'>

/** One row of the outbox. The store adds the document before and after the change, as stored text. */
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

/** `change` receives every matching document in its newest state and returns its replacement. */
export interface UpdatePlan extends Writing {
  readonly kind: 'update'
  readonly query: Query<FieldRef>
  readonly change: (stored: StoredDocument, draw: Draw) => Change
}

/** Each item finds at most one document by its identity. `change` returns the result, also if there is none. */
export interface SavePlan extends Writing {
  readonly kind: 'save'
  readonly items: readonly SaveItem[]
}

export interface SaveItem {
  /** Absent: the identity is incomplete, so it finds no document. */
  readonly query?: Query<FieldRef>
  readonly change: (stored: StoredDocument | undefined, draw: Draw) => Change
}

export interface DeletePlan extends Writing {
  readonly kind: 'delete'
  readonly query: Query<FieldRef>
  /** Receives every matching document in its newest state. Absent: every one of them is deleted. */
  readonly decide?: (stored: StoredDocument) => Removal
}

type Removal = { readonly kind: 'delete' } | Unwritten

/** Returns the next value of a sequence, in the transaction of the write. */
export type Draw = (sequence: Sequence) => bigint

export type Change = Write | Unwritten

export interface Write {
  readonly kind: 'write'
  readonly document: JsonObject
  /**
   * The stored document, if it was parsed to make the new one; they share members that are the same. A store then need not
   * write what depends on these only.
   */
  readonly before?: JsonObject
}

export type Unwritten =
  /** Not written, but part of the response. */
  | { readonly kind: 'keep' }
  /** Neither written nor counted. */
  | { readonly kind: 'skip' }
  | { readonly kind: 'refuse'; readonly faults: readonly ServiceError[] }

/** What a store did with one document. Outcomes have the order of the documents. */
export type Outcome =
  | { readonly kind: 'inserted' | 'updated' | 'kept'; readonly document: StoredDocument }
  /** The document is present only where the plan decided about it. */
  | { readonly kind: 'deleted'; readonly document?: StoredDocument }
  | {
      readonly kind: 'duplicate'
      readonly document?: StoredDocument
      /** The paths of the unique index that another document occupies; absent if the store does not know. */
      readonly fields?: readonly string[]
    }
  | { readonly kind: 'refused'; readonly faults: readonly ServiceError[]; readonly document?: StoredDocument }

export interface StoredDocument {
  /** The document as JSON text, exactly as it was written. */
  readonly text: string
  /** `_id` as text. */
  readonly id: string
  /** Rises with each write of the document. */
  readonly version: number
  /**
   * The number of paths of the collection in the schema of the document's writers. If it is larger than in the reader's
   * schema, another process has added a version, and the document may contain members that the reader's schema lacks.
   */
  readonly paths?: number
  /** The joined documents, in the order of `joins` in the plan. */
  readonly joined?: readonly JoinedDocuments[]
}

/**
 * The documents that a reference joins, as JSON text: an array of documents, or one such array for each element where
 * the steps to the reference pass an array. Null where nothing can be joined: no object contains the reference, or the
 * joined collection does not exist. `TOO_LARGE` where the text would exceed the size limit. If only their number is read,
 * the number in place of each array of documents.
 */
export interface JoinedDocuments {
  readonly documents: string | null
  /**
   * JSON text of the same form, with `[version, paths, …]` for each document, followed by the values of both texts for
   * each of its own joins. For documents that are embedded unchanged: the largest `paths` of all of them.
   */
  readonly facts: string | null
}

export const TOO_LARGE = 'too large'

export function isFailure(outcome: Outcome): boolean {
  return outcome.kind === 'duplicate' || outcome.kind === 'refused'
}

/** The outcome of a change that writes nothing. */
export function unwritten(change: Unwritten, stored: StoredDocument): Outcome | undefined {
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
