/** What a source of documents offers, wherever it reads from. */
import type { JsonObject } from '../base/json/json.ts'

export interface DocumentSource {
  /**
   * Reads everything once, as far as that is possible without loading it, and fails with a SourceError if something is
   * damaged. Returns what there is.
   */
  readonly check: (onProgress: (progress: SourceProgress) => void) => Promise<readonly SourceCollection[]>
  /** The documents of the wanted collections. */
  readonly batches: (isWanted: (name: string) => boolean) => AsyncIterable<SourceBatch>
}

interface SourceProgress {
  readonly done: number
  readonly total: number
}

export interface SourceCollection {
  /** Name of the collection; of the entity where the source knows no collections. */
  readonly name: string
  readonly database?: string
  readonly documents: number
}

/** Documents of one collection, in the order of the source. */
export interface SourceBatch {
  readonly name: string
  readonly documents: readonly SourceDocument[]
  /** To be called when the batch is stored: a source that can be resumed goes on from here. */
  readonly onStored?: () => void
}

export type SourceDocument =
  | { readonly kind: 'read'; readonly document: JsonObject }
  /** A document with a value that JSON cannot represent; `shown` is JSON text. */
  | { readonly kind: 'refused'; readonly shown: string; readonly path: string; readonly problem: string }

/** A batch ends at whichever limit is reached first. */
export const BATCH = { documents: 500, bytes: 4 * 1024 * 1024 } as const
