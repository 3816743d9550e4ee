/**
 * Reads the archives of `mongodump --archive`: a prelude that lists the collections, then blocks of documents. Blocks of
 * several collections alternate; each collection ends with a block that contains the checksum of its documents.
 */
import type { BSON } from 'bson'
import { type BsonDocument, documentFrom, nextBytes } from './bson-stream.ts'
import type { ByteReader } from './byte-reader.ts'
import { Crc64 } from './crc64.ts'

/** The first four bytes of an archive. */
export const SINGLE_FILE_MAGIC = Buffer.from([0x6d, 0xe2, 0x99, 0x81])

interface PlacedDocument {
  readonly database: string
  readonly collection: string
  readonly document: BsonDocument
}

/** Fails with a SourceError unless every collection of the prelude is complete and has the right checksum. */
export async function* singleFileDocuments(reader: ByteReader): AsyncGenerator<PlacedDocument> {
  const states = await readPrelude(reader)
  for (let bytes = await nextBytes(reader); bytes; bytes = await nextBytes(reader)) {
    const header = headerFrom(bytes, reader)
    const { database, collection } = header
    const state = states.get(nameOf(header)) ?? { crc: new Crc64(), isComplete: false }
    states.set(nameOf(header), state)
    if (state.isComplete) throw reader.broken(`the collection ${collection} goes on after its end`)
    while (!(await isTerminator(reader))) {
      const body = await nextBytes(reader)
      if (!body) throw reader.broken('the archive ends inside of a collection')
      if (header.isEnd)
        throw reader.broken(`the last block of the collection ${collection} contains documents`)
      state.crc.add(body)
      yield { database, collection, document: documentFrom(body, reader) }
    }
    if (!header.isEnd) continue
    if (header.crc !== state.crc.value())
      throw reader.broken(`the checksum of the collection ${collection} is wrong`)
    state.isComplete = true
  }
  const missing = [...states].find(([, { isComplete }]) => !isComplete)
  if (missing) throw reader.broken(`the archive ends before the end of the collection ${missing[0]}`)
}

interface CollectionState {
  readonly crc: Crc64
  isComplete: boolean
}

async function readPrelude(reader: ByteReader): Promise<Map<string, CollectionState>> {
  const states = new Map<string, CollectionState>()
  const isArchive = (await reader.has(4)) && reader.take(4).equals(SINGLE_FILE_MAGIC)
  if (!isArchive) throw reader.broken('it is not an archive of mongodump')
  const header = await nextBytes(reader)
  if (!header) throw reader.broken('the archive ends inside of its header')
  documentFrom(header, reader)
  while (!(await isTerminator(reader))) {
    const bytes = await nextBytes(reader)
    if (!bytes) throw reader.broken('the archive ends inside of its header')
    const { db = '', collection = '', type = '' } = documentFrom(bytes, reader).document
    // the documents of a time series are in a collection with another name
    if (type === 'timeseries') continue
    states.set(nameOf({ database: String(db), collection: String(collection) }), {
      crc: new Crc64(),
      isComplete: false,
    })
  }
  return states
}

interface BlockHeader {
  readonly database: string
  readonly collection: string
  readonly isEnd: boolean
  readonly crc: bigint
}

function headerFrom(bytes: Buffer, reader: ByteReader): BlockHeader {
  const { db = '', collection, EOF, CRC } = documentFrom(bytes, reader).document
  if (typeof db !== 'string' || typeof collection !== 'string')
    throw reader.broken('a block has no collection')
  const crc = EOF === true ? (CRC as BSON.Long).toBigInt() : 0n
  return { database: db, collection, isEnd: EOF === true, crc }
}

/** Takes the four bytes that end a block, if they are next. */
async function isTerminator(reader: ByteReader): Promise<boolean> {
  if (!(await reader.has(4)) || reader.peekInt32() !== -1) return false
  reader.take(4)
  return true
}

function nameOf({ database, collection }: Pick<BlockHeader, 'database' | 'collection'>): string {
  return `${database}.${collection}`
}
