/** What a store gives and takes when all of it moves to another one. Locks are short-lived, and stay behind. */
import type { Collection, IndexDefinition } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import type { ExportedSinks } from './transfer-sinks.ts'
import type { ExportedEvent } from './events.ts'
import type { HistoryRow } from './history.ts'
import type { CollectionDefinition, HistoryRecord, MetadataRecords } from './metadata-records.ts'

export interface Transfer {
  /** Every collection, also those of entities that are no more. */
  collections(): Promise<readonly ExportedCollection[]>
  /** In pages that fit into memory. */
  documents(collection: Collection): AsyncIterable<readonly ExportedDocument[]>
  /** The changes of documents that are kept, in pages; none where no past was ever kept. */
  past(collection: Collection): AsyncIterable<readonly ExportedChange[]>
  sequences(): Promise<readonly ExportedSequence[]>
  /** Of all entities, also removed ones, in the order in which it happened; in pages. */
  history(): AsyncIterable<readonly ExportedHistory[]>
  /** Watched changes that are kept, in the order of their numbers; in pages. */
  events(): AsyncIterable<readonly ExportedEvent[]>
  /** The last number that an event ever got. */
  lastEvent(): Promise<number>
  sinks(): Promise<ExportedSinks>
  records(): Promise<ExportedRecords>
  /** What keeps this store from being moved into; undefined when it is empty. */
  obstacle(): Promise<Obstacle | undefined>
  /**
   * Begins to fill an empty store, which nobody else can use from now on until that is finished; throws an
   * ObstacleError when it is not empty.
   */
  beginImport(options: ImportOptions): Promise<StoreImport>
}

/** Data of its own, a move that broke off, or one that is under way. */
export type Obstacle = 'filled' | 'unfinished' | 'busy'

interface ImportOptions {
  /** Whether what a move that broke off has left is taken away first. */
  readonly discardsIncomplete: boolean
}

export class ObstacleError extends Error {
  readonly obstacle: Obstacle

  constructor(obstacle: Obstacle) {
    super(`the store is ${obstacle}`)
    this.obstacle = obstacle
  }
}

/** Disposing ends it as it is: unless it was finished or cleared, the store stays unusable. */
export interface StoreImport extends AsyncDisposable {
  /** Without its indexes, which are quicker to build when the documents are there. */
  createCollection(collection: ImportedCollection): Promise<void>
  /** One page, all of it or nothing. */
  addDocuments(collection: Collection, documents: readonly ExportedDocument[]): Promise<void>
  addDocumentHistory(collection: Collection, changes: readonly ExportedChange[]): Promise<void>
  buildIndexes(collection: Collection): Promise<void>
  addSequences(sequences: readonly ExportedSequence[]): Promise<void>
  addHistory(history: readonly ExportedHistory[]): Promise<void>
  addEvents(events: readonly ExportedEvent[]): Promise<void>
  /** Events from now on get higher numbers. */
  putLastEvent(last: number): Promise<void>
  addSinks(sinks: ExportedSinks): Promise<void>
  /** The epoch becomes a later one than any that was ever read here. */
  putRecords(records: ExportedRecords): Promise<void>
  /** From now on the store can be used. */
  finish(): Promise<void>
  /** Takes everything away again. */
  clear(): Promise<void>
}

export interface ExportedCollection extends CollectionDefinition {
  readonly count: number
  /** From when on past versions are kept; null: not any more; absent: they never were. */
  readonly historySince?: number | null
}

export interface ImportedCollection extends CollectionDefinition {
  /** What numbers are as `_id` here; a store may keep them in a form that depends on it. */
  readonly numericIdType: TypeName | undefined
  readonly historySince?: number | null
}

export interface ExportedDocument {
  /** The same in every store: text as it is, numbers as text that sorts as they do. */
  readonly key: string
  readonly version: number
  readonly text: string
}

/** How many paths its writers knew does not move. */
export interface ExportedChange extends Omit<HistoryRow, 'paths'> {
  /** Of the document, as that of the document itself. */
  readonly key: string
}

export interface ExportedSequence {
  readonly name: string
  readonly next: bigint
  readonly increment: bigint
}

export interface ExportedHistory extends HistoryRecord {
  readonly entity: string
}

export type ExportedRecords = Omit<MetadataRecords, 'collections'>

/** A page ends at whichever is reached first. */
export const PAGE = { documents: 1_000, characters: 8_000_000 } as const

/** Thrown by whoever opens a store that a move has not filled completely. */
export class IncompleteImportError extends Error {
  constructor() {
    super(
      'it holds a part of a move that has not finished; when that move is no longer running, ' +
        'repeat it with "smalt move --restart", or remove what is there',
    )
  }
}

/** Thrown where what a store holds cannot be taken over by another kind of store. */
export class UnfitError extends Error {
  constructor({ name, entity }: Collection, problem: string, cause?: unknown) {
    super(`the collection ${name} of ${entity}: ${problem}`, { cause })
  }
}

export function indexNames({ fields }: IndexDefinition): string {
  return fields.map(({ path }) => path).join(', ')
}
