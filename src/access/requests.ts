/** The types of resolved requests, before and after authorization. */
import type { JsonObject } from '../base/json/json.ts'
import type { Path } from '../base/path.ts'
import type { Followed } from '../lang/resolve/follow.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import type { Query } from '../lang/query.ts'
import type { ResolvedAggregation } from '../lang/resolve/resolve-aggregate.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Update } from '../lang/update.ts'
import type { Field, ObjectField } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { Rules } from './conditions.ts'

/**
 * The fields of a document that a caller may read. Documents with the same visible fields share one object, so that it
 * can be the key of a cache.
 */
export interface Visibility {
  /** Whether the caller may read `_id`. Otherwise document versions contain an opaque mark in its place. */
  readonly showsId: boolean
  readonly isHidden: (field: Field) => boolean
  /** Whether any field of the schema is hidden. */
  readonly hidesSome: boolean
  /** The hidden fields as projection items, to be added at the end of a projection. */
  readonly exclusions: readonly ProjectionItem<never>[]
}

/** How the documents of a response are rendered. */
export interface Rendering {
  readonly schema: Schema
  /** The projection of the request. */
  readonly requested: Projection<FieldRef>
  /** The same, with exclusions of the fields that are hidden in every document. */
  readonly projection: Projection<FieldRef>
  /** The visibility of documents for which `shownAs` is absent. */
  readonly visibility: Visibility
  /** The visibility of one stored document. Present if it depends on the document. */
  readonly shownAs?: (document: JsonObject) => Visibility
  /** The references to embed. */
  readonly joined?: Joined
}

/** The authorized references of a request. */
export interface Joined {
  /** The fields of a document after the references are embedded. */
  readonly root: ObjectField
  readonly joins: readonly AllowedJoin[]
}

/** The documents of one reference. */
export interface AllowedJoin {
  /** Whether only the number of the documents is embedded. */
  readonly isCount?: true
  /** From the document that contains the reference to the reference; `*` stands for every element of an array. */
  readonly steps: Path
  /** The reference, and the fields beside it that its query names: where one of them is hidden, it is hidden as well. */
  readonly joinedBy: readonly Field[]
  readonly schema: Schema
  /** Selects the joined documents. Its outer scopes: one for every `*` of the steps, then the containing document. */
  readonly query: Query<FieldRef>
  /** Whether row rules were added to the query. */
  readonly isNarrowed: boolean
  readonly sort: readonly SortKey<FieldRef>[]
  readonly visibility: Visibility
  readonly shownAs?: (document: JsonObject) => Visibility
  /** The projection in the definition of the reference, which limits what is embedded. */
  readonly projection?: Projection<FieldRef>
  readonly joins: readonly AllowedJoin[]
}

export interface Find {
  readonly schema: Schema
  readonly query?: Query<FieldRef>
  readonly projection: Projection<FieldRef>
  readonly sort: readonly SortKey<FieldRef>[]
  readonly from: number
  readonly to?: number
  readonly counted: boolean
  /** Read documents as of this time. Access is decided by the current metadata. */
  readonly asOf?: number
  /** The references to embed, and the fields of a document that contains them. */
  readonly references?: { readonly root: ObjectField; readonly followed: readonly Followed[] }
}

/** A find after authorization. */
export interface AllowedFind extends Find, Rendering {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
  /** Whether row rules were added to its query or joins. */
  readonly isNarrowed: boolean
}

/** Groups of documents, or of elements of their arrays. */
export interface Aggregate {
  readonly schema: Schema
  readonly query?: Query<FieldRef>
  readonly aggregation: ResolvedAggregation
  readonly from: number
  readonly to?: number
}

/** An aggregate after authorization: row rules narrow its query, and the documents of its references. */
export interface AllowedAggregate extends Aggregate {
  readonly isNarrowed: boolean
}

export interface Insert {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
  readonly atomic: boolean
}

export type AllowedInsert = Insert & WriteVisibility

/** A write that selects by query: update and delete. */
export interface Select {
  readonly schema: Schema
  readonly query: Query<FieldRef>
}

export interface DeleteRequest extends Select {
  readonly atomic: boolean
}

/** The response shows nothing of deleted documents, but names those that were not deleted. */
export type AllowedDelete = DeleteRequest & Rendering & Pick<WriteVisibility, 'visibilityOf'>

export interface ChangeRequest extends Select {
  readonly update: Update<FieldRef>
  readonly projection: Projection<FieldRef>
  readonly atomic: boolean
}

export interface SaveRequest {
  readonly schema: Schema
  /** The fields by which the documents are found. */
  readonly identity: readonly Field[]
  readonly projection: Projection<FieldRef>
  readonly upsert: boolean
  readonly atomic: boolean
}

/** Decides for each document and field what a writer may change, and what the response shows of it. */
export interface WriteVisibility extends Rendering {
  /** The visibility of one stored document. Present if fields have row rules. */
  readonly visibilityOf?: (document: JsonObject) => Visibility
  /** Whether the caller may read the field in every document. */
  readonly isReadable: (field: Field) => boolean
  /** Whether the caller may read, insert or change the field in some document. */
  readonly isReachable: (field: Field) => boolean
  /** Whether the caller may set the field in this new document. */
  readonly mayInsert: (field: Field, document: JsonObject) => boolean
  /** Whether the caller may change the field in this document. Checked before and after the change. */
  readonly mayUpdate: (field: Field, document: JsonObject) => boolean
  /** New documents must match these. */
  readonly insertRules: Rules
  /** Changed documents must match these after the change. */
  readonly updateRules: Rules
}

export type AllowedChange = ChangeRequest &
  WriteVisibility & {
    /**
     * The fields that the update names. Hidden ones count as changed, because a comparison of their values would reveal
     * them.
     */
    readonly targets: readonly FieldRef[]
  }

export type AllowedSave = SaveRequest &
  WriteVisibility & {
    /** Documents that do not match these are treated as absent. */
    readonly saveRules: Rules
  }
