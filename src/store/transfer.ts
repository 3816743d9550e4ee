/** Export and import of a whole store, for a move to another one. Locks are short-lived and do not move. */
import type { Collection, IndexDefinition } from '../schema/schema.ts'
import type { TypeName } from '../schema/types.ts'
import type { ExportedSinkRow } from './transfer-sinks.ts'
import type { ExportedEvent } from './events.ts'
import type { HistoryRow } from './history.ts'
import type { CollectionDefinition, HistoryRecord, MetadataRecords } from './metadata-records.ts'

/** Everything in a store, to be written somewhere else. */
export interface StoreExport {
  /** Every collection, including those of removed entities. */
  collections(): Promise<readonly ExportedCollection[]>
  /** In pages that fit into memory. */
  documents(collection: Collection): AsyncIterable<readonly ExportedDocument[]>
  /** The stored changes of documents, in pages; empty for a collection that never had history. */
  past(collection: Collection): AsyncIterable<readonly ExportedChange[]>
  sequences(): Promise<readonly ExportedSequence[]>
  /** The history of metadata of all entities, including removed ones, in chronological order; in pages. */
  history(): AsyncIterable<readonly ExportedHistory[]>
  /** The stored events, ordered by `seq`; in pages. */
  events(): AsyncIterable<readonly ExportedEvent[]>
  /** The highest number that an event ever had. */
  lastEvent(): Promise<number>
  /** Without their items. */
  sinks(): Promise<readonly ExportedSinkRow[]>
  /** What sinks have not delivered yet, ordered by sink and `seq`; in pages. */
  sinkItems(): AsyncIterable<readonly ExportedSinkRow[]>
  records(): Promise<ExportedRecords>
  /** The kept answers to writes with an idempotency key, in pages. */
  answers(): AsyncIterable<readonly ExportedAnswer[]>
}

export interface Transfer extends StoreExport {
  /** Everything as it is at one moment, while others write. An embedded store must have been copied first. */
  snapshot<T>(work: (source: StoreExport) => Promise<T>): Promise<T>
  /** Why this store cannot be the target of a move; undefined when it is empty. */
  obstacle(): Promise<Obstacle | undefined>
  /**
   * Starts to fill an empty store. The store is unusable for everyone else until the import is finished.
   * Throws an ObstacleError when it is not empty.
   */
  beginImport(options: ImportOptions): Promise<StoreImport>
}

/** `filled`: the store has data. `unfinished`: an earlier move was interrupted. `busy`: a move is running. */
export type Obstacle = 'filled' | 'unfinished' | 'busy'

interface ImportOptions {
  /** Whether the data of an interrupted move is removed first. */
  readonly discardsIncomplete: boolean
}

export class ObstacleError extends Error {
  readonly obstacle: Obstacle

  constructor(obstacle: Obstacle) {
    super(`the store is ${obstacle}`)
    this.obstacle = obstacle
  }
}

/** A running import. Disposing it before `finish` or `clear` leaves the store unusable. */
export interface StoreImport extends AsyncDisposable {
  /** Creates the table without indexes, which are faster to build once the documents are there. */
  createCollection(collection: ImportedCollection): Promise<void>
  /** Adds one page atomically. */
  addDocuments(collection: Collection, documents: readonly ExportedDocument[]): Promise<void>
  addDocumentHistory(collection: Collection, changes: readonly ExportedChange[]): Promise<void>
  buildIndexes(collection: Collection): Promise<void>
  addSequences(sequences: readonly ExportedSequence[]): Promise<void>
  addHistory(history: readonly ExportedHistory[]): Promise<void>
  addEvents(events: readonly ExportedEvent[]): Promise<void>
  /** Later events get higher numbers. */
  putLastEvent(last: number): Promise<void>
  addSinks(sinks: readonly ExportedSinkRow[]): Promise<void>
  addSinkItems(items: readonly ExportedSinkRow[]): Promise<void>
  addAnswers(answers: readonly ExportedAnswer[]): Promise<void>
  /** The epoch becomes later than any that was ever read here, so that cached metadata is read again. */
  putRecords(records: ExportedRecords): Promise<void>
  /** Makes the store usable. */
  finish(): Promise<void>
  /** Removes everything that was imported. */
  clear(): Promise<void>
}

export interface ExportedCollection extends CollectionDefinition {
  readonly count: number
  /** The timestamp from which history is complete; null: history was turned off; absent: it was never on. */
  readonly historySince?: number | null
}

export interface ImportedCollection extends CollectionDefinition {
  /** The type of numbers in `_id`; the stored form may depend on it. */
  readonly numericIdType: TypeName | undefined
  readonly historySince?: number | null
}

export interface ExportedDocument {
  /** The same in every store: text unchanged, numbers as text in the order of the numbers. */
  readonly key: string
  readonly version: number
  readonly text: string
}

/** `paths`, the number of paths that the writer knew, does not move. */
export interface ExportedChange extends Omit<HistoryRow, 'paths'> {
  /** The key of the document, as in `ExportedDocument`. */
  readonly key: string
}

interface ExportedSequence {
  readonly name: string
  readonly next: bigint
  readonly increment: bigint
}

export interface ExportedHistory extends HistoryRecord {
  readonly entity: string
}

/** The columns of a kept answer: caller, key, fingerprint, status, answer, size, expiry and end of the lease. */
export type ExportedAnswer = readonly [string, string, string, number, string, number, number, number]

export type ExportedRecords = Omit<MetadataRecords, 'collections'>

/** A page ends at whichever limit is reached first. */
export const PAGE = { documents: 1_000, characters: 8_000_000 } as const

/**
 * How many rows of these sizes a page may have; at least one, because each may be as large as a document or, with both
 * states of one, an event.
 */
export function countWithin(sizes: readonly number[]): number {
  let bytes = 0
  const end = sizes.findIndex((size) => (bytes += size) > PAGE_BYTES)
  return end < 0 ? sizes.length : Math.max(1, end)
}

const PAGE_BYTES = 8 * 1024 * 1024

/** Thrown on opening a store that a move has not filled completely. */
export class IncompleteImportError extends Error {
  constructor() {
    super(
      'it holds a part of a move or restore that has not finished; when that is no longer running, ' +
        'repeat it with --restart ("smalt move" or "smalt restore"), or remove what is there',
    )
  }
}

/** Thrown where another kind of store cannot represent the exported data. */
export class UnfitError extends Error {
  constructor({ name, entity }: Collection, problem: string, cause?: unknown) {
    super(`the collection ${name} of ${entity}: ${problem}`, { cause })
  }
}

export function indexNames({ fields }: IndexDefinition): string {
  return fields.map(({ path }) => path).join(', ')
}
