/** Requests in terms of a schema, as they are asked and as they are allowed. */
import type { JsonObject } from '../base/json/json.ts'
import type { Path } from '../base/path.ts'
import type { Followed } from '../lang/resolve/follow.ts'
import type { Projection, ProjectionItem } from '../lang/projection.ts'
import type { Query } from '../lang/query.ts'
import type { FieldRef } from '../lang/resolve/scope.ts'
import type { SortKey } from '../lang/sort.ts'
import type { Update } from '../lang/update.ts'
import type { Field, ObjectField } from '../schema/field.ts'
import type { Schema } from '../schema/schema.ts'
import type { Rules } from './conditions.ts'

/** What a caller sees of a document; the same object for documents that are seen alike, so it can be a key. */
export interface Visibility {
  /** Whether `_id` may be told, which document versions are made of. */
  readonly showsId: boolean
  readonly isHidden: (field: Field) => boolean
  /** Whether any field of the schema is hidden. */
  readonly hidesSome: boolean
  /** What is hidden in these documents, as the end of a projection. */
  readonly exclusions: readonly ProjectionItem<never>[]
}

/** What an answer may show. */
export interface Rendering {
  readonly schema: Schema
  /** As the caller wrote it. */
  readonly requested: Projection<FieldRef>
  /** With what is hidden in every document excluded. */
  readonly projection: Projection<FieldRef>
  /** What is seen of every document, but for what is said of single ones. */
  readonly visibility: Visibility
  /** Where it differs from document to document: as what a stored document is shown. */
  readonly shownAs?: (document: JsonObject) => Visibility
  /** What references show. */
  readonly joined?: Joined
}

/** References that are followed, as this caller may have them. */
export interface Joined {
  /** The fields of a document in which these references are filled in. */
  readonly root: ObjectField
  readonly joins: readonly AllowedJoin[]
}

/** The documents of one reference. */
export interface AllowedJoin {
  /** From the document that holds the reference to the reference; `*` stands for every element of an array. */
  readonly steps: Path
  readonly schema: Schema
  /** Asked of each document; around it are a scope for every `*` of the steps and the holding document. */
  readonly query: Query<FieldRef>
  /** Whether rules stand in that query. */
  readonly isNarrowed: boolean
  readonly sort: readonly SortKey<FieldRef>[]
  readonly visibility: Visibility
  readonly shownAs?: (document: JsonObject) => Visibility
  /** What the reference shows of them at most. */
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
  /** Documents as they were then; access is what it is now. */
  readonly asOf?: number
  /** The references it follows, and the fields of a document in which they are filled in. */
  readonly references?: { readonly root: ObjectField; readonly followed: readonly Followed[] }
}

/** A find as this caller may have it. */
export interface AllowedFind extends Find, Rendering {
  readonly schema: Schema
  readonly projection: Projection<FieldRef>
  /** Whether rules stand in its query that the caller did not write. */
  readonly isNarrowed: boolean
}

/** What a caller may insert, and what of it they may see again. */
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

/** What a writer may see and do, document by document and field by field. */
export interface WriteVisibility extends Rendering {
  /** Where fields have rules: what is seen of a document that is stored. */
  readonly visibilityOf?: (document: JsonObject) => Visibility
  /** Whether the field may be part of this new document. */
  readonly mayInsert: (field: Field, document: JsonObject) => boolean
  /** Whether the field may change in a document that is, or becomes, this. */
  readonly mayUpdate: (field: Field, document: JsonObject) => boolean
  /** What new documents must match. */
  readonly insertRules: Rules
  /** What documents must still match once they are changed. */
  readonly updateRules: Rules
}

export type AllowedChange = ChangeRequest &
  WriteVisibility & {
    /** Fields the update names: those that the caller cannot see are judged by that. */
    readonly targets: readonly FieldRef[]
  }

export type AllowedSave = SaveRequest &
  WriteVisibility & {
    /** Documents that do not match these are not there. */
    readonly saveRules: Rules
  }
