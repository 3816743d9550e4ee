/** Metadata as stores see it: JSON text that they do not parse, and the collections it describes. */
import type { Collection, IndexDefinition } from '../schema/schema.ts'
import type { Answer, Keyed } from './tables/answers.ts'

export interface MetadataRecords {
  /** Increases with every change of any metadata. */
  readonly epoch: number
  /** The key of the document version marks, which only the service can make; the same for every process. */
  readonly secret: string
  readonly entities: readonly { readonly entity: string; readonly info: string }[]
  /** In the order in which the versions were created. */
  readonly schemas: readonly { readonly entity: string; readonly version: string; readonly schema: string }[]
  readonly collections: readonly { readonly collection: Collection; readonly paths: readonly string[] }[]
}

/** Changes of several entities in one transaction, in this order. */
export interface MetadataChange {
  /** The change fails as `metadata:UpdateInvalidatesMetadata` when metadata has changed since this epoch. */
  readonly expectedEpoch: number
  readonly entities: readonly EntityChange[]
  /** The answer to a request with an idempotency key. */
  readonly keyedAnswer?: {
    readonly keyed: Keyed
    readonly answer: Answer & { readonly expiresMs: number }
  }
}

export interface EntityChange {
  readonly entity: string
  /** New entity info; null removes the entity with all its versions. */
  readonly info: string | null
  /** Versions to add or to replace. */
  readonly schemas: readonly { readonly version: string; readonly schema: string }[]
  /**
   * The collection to create or to change; an index that cannot be built fails as `metadata:InvalidIndex`.
   */
  readonly prepare?: CollectionDefinition
  /** What becomes of the documents of a removed entity; absent: they stay. */
  readonly removed?: RemovedCollection
  readonly history: HistoryRecord
}

/** `isDropped`: with its documents and their history; otherwise the change fails if there are documents. */
export interface RemovedCollection {
  readonly collection: Collection
  readonly isDropped: boolean
}

export interface CollectionDefinition {
  readonly collection: Collection
  readonly indexes: readonly IndexDefinition[]
  /** Paths of fields that may be stored from now on. The store adds them to all earlier ones. */
  readonly paths: readonly string[]
  /** Whether history is recorded from now on. History that exists is never removed. */
  readonly history?: boolean
}

export interface HistoryRecord {
  readonly at: string
  readonly principal: string
  readonly action: string
  readonly version?: string
  readonly before: string | null
  readonly after: string | null
}
