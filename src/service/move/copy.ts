/** The steps of a move: copy documents, build indexes, copy the rest, and check that nothing is missing. */
import { ServiceError } from '../../base/errors.ts'
import type {
  StoreExport,
  Transfer,
  ExportedCollection,
  ExportedRecords,
  StoreImport,
} from '../../store/transfer.ts'
import { type Tally, createTally, differs, inUse, tallyOf } from './check.ts'
import { MoveError } from './move-error.ts'
import { numericIdTypes } from './move-metadata.ts'

export interface Plan {
  readonly source: StoreExport
  readonly target: Transfer
  /** The records in the form that the target needs. */
  readonly records: ExportedRecords
  readonly collections: readonly ExportedCollection[]
  readonly shown: string
}

export interface Watch {
  readonly onProgress?: (progress: Progress) => void
  /** Aborts the move; copied data is then removed from the target. */
  readonly signal?: AbortSignal
}

export interface Progress {
  readonly phase: 'copying' | 'indexing' | 'checking'
  /** Number of documents. */
  readonly done: number
  readonly total: number
}

/** Returns a tally of the copied documents for each collection. */
export async function copyDocuments(
  { source, collections }: Plan,
  storeImport: StoreImport,
  watch: Watch,
): Promise<readonly Tally[]> {
  const { onProgress, signal } = watch
  const total = totalOf(collections)
  const idTypeOf = await numericIdTypes(source)
  const copied: Tally[] = []
  let done = 0
  for (const { count: _, ...definition } of collections) {
    const { collection } = definition
    const tally = createTally()
    await storeImport.createCollection({ ...definition, numericIdType: idTypeOf(collection.entity) })
    for await (const page of source.documents(collection)) {
      signal?.throwIfAborted()
      await storeImport.addDocuments(collection, page)
      tally.add(page)
      onProgress?.({ phase: 'copying', done: (done += page.length), total })
    }
    copied.push(tally)
    for await (const page of source.past(collection)) {
      signal?.throwIfAborted()
      await storeImport.addDocumentHistory(collection, page)
    }
  }
  await buildIndexes(collections, storeImport, watch)
  return copied
}

/** Runs after the documents are copied, because building an index once is faster than updating it for each document. */
async function buildIndexes(
  collections: readonly ExportedCollection[],
  storeImport: StoreImport,
  { onProgress, signal }: Watch,
): Promise<void> {
  const total = totalOf(collections)
  let done = 0
  for (const { collection, count } of collections) {
    signal?.throwIfAborted()
    onProgress?.({ phase: 'indexing', done, total })
    await storeImport.buildIndexes(collection).catch((error: unknown) => {
      const { name, entity } = collection
      if (!(error instanceof ServiceError) || error.code === 'crud:Unavailable') throw error
      throw new MoveError('failed', `the collection ${name} of ${entity}: ${error.message}`, error)
    })
    done += count
  }
}

/** Metadata is copied last. */
export async function copyRest({ source, records }: Plan, storeImport: StoreImport): Promise<void> {
  await storeImport.addSequences(await source.sequences())
  for await (const page of source.history()) await storeImport.addHistory(page)
  for await (const page of source.events()) await storeImport.addEvents(page)
  await storeImport.putLastEvent(await source.lastEvent())
  await storeImport.addSinks(await source.sinks())
  for await (const page of source.sinkItems()) await storeImport.addSinkItems(page)
  for await (const page of source.answers()) await storeImport.addAnswers(page)
  await storeImport.putRecords(records)
}

/** Reads both stores again: the target must contain the copied documents, and the source must not have changed. */
export async function checkDocuments(
  { source, target, collections }: Plan,
  copied: readonly Tally[],
  { onProgress, signal }: Watch,
): Promise<void> {
  const total = 2 * totalOf(collections)
  let done = 0
  const onPage = (documents: number): void => {
    signal?.throwIfAborted()
    onProgress?.({ phase: 'checking', done: (done += documents), total })
  }
  for (const [i, { collection }] of collections.entries()) {
    const what = `the collection ${collection.name} of ${collection.entity}`
    const [there, here] = await Promise.all([
      tallyOf(source, collection, onPage),
      tallyOf(target, collection, onPage),
    ])
    if (!isSame(here, copied[i]!)) throw differs(what)
    if (!isSame(there, copied[i]!)) throw inUse(what)
  }
}

function isSame(a: Tally, b: Tally): boolean {
  return a.documents() === b.documents() && a.checksum() === b.checksum()
}

function totalOf(collections: readonly ExportedCollection[]): number {
  return collections.reduce((sum, { count }) => sum + count, 0)
}
