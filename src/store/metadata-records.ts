/** Metadata as stores keep it: JSON text that they do not look into, and the collections it describes. */
import type { Collection, IndexDefinition } from '../schema/schema.ts'

/** Metadata as the store keeps it: JSON text, without understanding it. */
export interface MetadataRecords {
  /** Rises with every change of any metadata. */
  readonly epoch: number
  /** Made once with the store, the same for every process: what marks are made with that nobody else can make. */
  readonly secret: string
  readonly entities: readonly { readonly entity: string; readonly info: string }[]
  /** In the order in which the versions were made. */
  readonly schemas: readonly { readonly entity: string; readonly version: string; readonly schema: string }[]
  readonly collections: readonly { readonly collection: Collection; readonly paths: readonly string[] }[]
}

export interface MetadataChange {
  /** The change is refused as `metadata:UpdateInvalidatesMetadata` when others changed metadata since. */
  readonly expectedEpoch: number
  readonly entity: string
  /** New entity info; null removes the entity with all its versions. */
  readonly info: string | null
  /** Versions to add or to replace. */
  readonly schemas: readonly { readonly version: string; readonly schema: string }[]
  /** The collection to create or to change; an index that cannot be built is `metadata:InvalidIndex`. */
  readonly prepare?: CollectionDefinition
  readonly history: HistoryRecord
}

export interface CollectionDefinition {
  readonly collection: Collection
  readonly indexes: readonly IndexDefinition[]
  /** Paths of fields that may be stored from now on; the store remembers all it was ever told. */
  readonly paths: readonly string[]
  /** Whether past versions of the documents are kept from now on; what is kept already stays in any case. */
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
