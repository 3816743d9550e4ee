/** Documents from the files of mongodump and mongoexport. */
import { ServiceError } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import {
  BATCH,
  type DocumentSource,
  type SourceBatch,
  type SourceCollection,
  type SourceDocument,
} from '../source.ts'
import { SourceError, ValueError } from '../source-error.ts'
import { bsonToJson, printBson } from '../values/bson-document.ts'
import { extendedToJson } from '../values/extended-json.ts'
import { type BsonDocument, documentsIn } from './bson-stream.ts'
import { ByteReader, bytesOf } from './byte-reader.ts'
import { exportedTexts } from './export-file.ts'
import { type DumpFile, findFiles } from './find-files.ts'
import { singleFileDocuments } from './single-file.ts'

interface DumpOptions {
  /** Only the collections of this database. */
  readonly database: string | undefined
  /** The deepest nesting that a document may have. */
  readonly maxDepth: number
}

export async function openDump(path: string, options: DumpOptions): Promise<DocumentSource> {
  const files = (await findFiles(path)).filter(
    (file) => file.kind === 'single' || isIn(file.database, options.database),
  )
  if (files.length === 0) throw new SourceError('invalid', `${path} has no database ${options.database}`)
  return {
    check: async (onProgress) => {
      const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
      const counts = new Map<string, SourceCollection>()
      let before = 0
      for (const file of files) {
        const onRead = (bytes: number): void => onProgress({ done: before + bytes, total })
        if (file.kind !== 'single') count(counts, file.collection, file.database, 0)
        for await (const { collection, database } of itemsIn(file, options, onRead)) {
          count(counts, collection, database, 1)
        }
        before += file.bytes
      }
      return [...counts.values()]
    },
    async *batches(isWanted) {
      for (const file of files) {
        if (file.kind !== 'single' && !isWanted(file.collection)) continue
        yield* inBatches(itemsIn(file, options), isWanted, options)
      }
    },
  }
}

/** One document of a file. `read` is called only for documents that are loaded. */
interface Item {
  readonly collection: string
  readonly database: string | undefined
  readonly bytes: number
  readonly read: (maxDepth: number) => SourceDocument
}

function count(
  counts: Map<string, SourceCollection>,
  name: string,
  database: string | undefined,
  documents: number,
): void {
  const key = JSON.stringify([database, name])
  const before = counts.get(key)?.documents ?? 0
  counts.set(key, { name, ...(database !== undefined && { database }), documents: before + documents })
}

async function* itemsIn(
  file: DumpFile,
  { database: wanted }: DumpOptions,
  onRead?: (bytes: number) => void,
): AsyncGenerator<Item> {
  const chunks = bytesOf(file.path, onRead)
  if (file.kind === 'export') {
    const { collection, database } = file
    let number = 0
    for await (const text of exportedTexts(file.path, chunks)) {
      yield { collection, database, ...exportItem(text, { path: file.path, number: ++number }) }
    }
    return
  }
  const reader = new ByteReader(file.path, chunks)
  if (file.kind === 'bson') {
    const { collection, database } = file
    for await (const document of documentsIn(reader)) yield { collection, database, ...bsonItem(document) }
    return
  }
  for await (const { collection, database, document } of singleFileDocuments(reader)) {
    if (!isIn(database, wanted) || collection.startsWith('system.')) continue
    yield { collection, database, ...bsonItem(document) }
  }
}

function isIn(database: string | undefined, wanted: string | undefined): boolean {
  return wanted === undefined || database === undefined || database === wanted
}

function bsonItem({ document, bytes }: BsonDocument): Pick<Item, 'bytes' | 'read'> {
  const show = (): string => printBson(document)
  return { bytes, read: (maxDepth) => readable(() => bsonToJson(document, maxDepth), show) }
}

function readable(read: () => JsonObject, show: () => string): SourceDocument {
  try {
    return { kind: 'read', document: read() }
  } catch (error) {
    if (error instanceof ValueError)
      return { kind: 'refused', shown: show(), path: error.path, problem: error.message }
    // the rules for JSON, which are those of requests
    if (error instanceof ServiceError)
      return { kind: 'refused', shown: show(), path: '', problem: error.message }
    throw error
  }
}

/** Extended JSON is deeper than the document that it stands for, by one or two levels at a value. */
const EXTENDED_LEVELS = 2

/** A text that is no JSON is damage; one that only breaks a rule for documents concerns that document. */
function exportItem(
  text: string,
  at: { readonly path: string; readonly number: number },
): Pick<Item, 'bytes' | 'read'> {
  if (!isJson(text)) {
    throw new SourceError('broken', `${at.path} is damaged at document ${at.number}: it is not JSON`)
  }
  const read = (maxDepth: number): JsonObject =>
    extendedToJson(parseJson(text, maxDepth + EXTENDED_LEVELS) as JsonObject, maxDepth)
  return {
    bytes: text.length,
    read: (maxDepth) =>
      readable(
        () => read(maxDepth),
        () => text,
      ),
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

async function* inBatches(
  items: AsyncIterable<Item>,
  isWanted: (name: string) => boolean,
  { maxDepth }: DumpOptions,
): AsyncGenerator<SourceBatch> {
  let name = ''
  let documents: SourceDocument[] = []
  let bytes = 0
  for await (const item of items) {
    if (!isWanted(item.collection)) continue
    const isFull = documents.length >= BATCH.documents || bytes >= BATCH.bytes
    if (documents.length > 0 && (isFull || item.collection !== name)) {
      yield { name, documents }
      documents = []
      bytes = 0
    }
    name = item.collection
    documents.push(item.read(maxDepth))
    bytes += item.bytes
  }
  if (documents.length > 0) yield { name, documents }
}
