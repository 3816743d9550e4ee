/** Reads BSON documents that follow each other, as in the files and archives of mongodump. */
import { readBson } from '../values/bson-document.ts'
import type { ByteReader } from './byte-reader.ts'

export interface BsonDocument {
  readonly document: ReturnType<typeof readBson>
  /** Its size. */
  readonly bytes: number
}

const SMALLEST = 5
/** MongoDB's limit for a document, and its allowance for its own members. */
const LARGEST = 16 * 1024 * 1024 + 16 * 1024

/** The documents of a file that contains nothing else. */
export async function* documentsIn(reader: ByteReader): AsyncGenerator<BsonDocument> {
  for (let bytes = await nextBytes(reader); bytes; bytes = await nextBytes(reader)) {
    yield documentFrom(bytes, reader)
  }
}

/** The bytes of the next document; undefined at the end of the file. */
export async function nextBytes(reader: ByteReader): Promise<Buffer | undefined> {
  if (!(await reader.has(4))) {
    if (reader.isAtEnd) return undefined
    throw reader.broken('the file ends inside of a document')
  }
  const size = reader.peekInt32()
  if (size < SMALLEST || size > LARGEST) throw reader.broken(`${size} is not the size of a BSON document`)
  if (!(await reader.has(size))) throw reader.broken('the file ends inside of a document')
  return reader.take(size)
}

export function documentFrom(bytes: Buffer, reader: ByteReader): BsonDocument {
  try {
    return { document: readBson(bytes), bytes: bytes.length }
  } catch (error) {
    throw reader.broken(`the bytes before it are not a BSON document (${(error as Error).message})`)
  }
}
