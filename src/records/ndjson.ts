/** Reads NDJSON: one document per line. Blank lines are skipped. */
import { isUtf8 } from 'node:buffer'
import { isObject } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import {
  type BadRecord,
  type Chunks,
  type RecordLimits,
  RecordsError,
  type SourceRecord,
  type UnparsedRecord,
} from './record.ts'

const LINE_FEED = 0x0a
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export async function* readNdjson(chunks: Chunks, limits: RecordLimits): AsyncGenerator<SourceRecord> {
  for await (const { line, bytes } of linesOf(chunks, limits.maxBytes)) {
    const record = recordFrom(bytes, line, limits)
    if (record) yield record
  }
}

/** Leaves records of more than `parsedBytes` to another thread. */
export async function* readSmallNdjson(
  chunks: Chunks,
  limits: RecordLimits & { readonly parsedBytes: number },
): AsyncGenerator<SourceRecord | UnparsedRecord> {
  for await (const { line, bytes } of linesOf(chunks, limits.maxBytes)) {
    const isSmall = bytes.length <= limits.parsedBytes
    const record = isSmall ? recordFrom(bytes, line, limits) : unparsedFrom(bytes, line)
    if (record) yield record
  }
}

interface Line {
  readonly line: number
  readonly bytes: Buffer
}

/** Leaves out empty lines, and keeps at most one incomplete line in memory. */
async function* linesOf(chunks: Chunks, maxBytes: number): AsyncGenerator<Line> {
  let parts: Buffer[] = []
  let size = 0
  let line = 1
  const keep = (part: Buffer): void => {
    size += part.length
    if (size > maxBytes) throw new RecordsError(line, `the document is larger than ${maxBytes} bytes`)
    parts.push(part)
  }
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    let begin = 0
    for (let end = buffer.indexOf(LINE_FEED); end >= 0; end = buffer.indexOf(LINE_FEED, begin)) {
      if (end > begin) keep(buffer.subarray(begin, end))
      if (size > 0) yield lineOf(line, parts.length === 1 ? parts[0]! : Buffer.concat(parts, size))
      line++
      parts = []
      size = 0
      begin = end + 1
    }
    // a copy, so that the rest of a line does not keep the whole chunk
    if (begin < buffer.length) keep(Buffer.from(buffer.subarray(begin)))
  }
  if (size > 0) yield lineOf(line, Buffer.concat(parts, size))
}

/** A byte order mark is no part of the first document. */
function lineOf(line: number, bytes: Buffer): Line {
  const isMarked = line === 1 && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)
  return { line, bytes: isMarked ? bytes.subarray(3) : bytes }
}

/** Undefined for a blank line, which is no record. */
function unparsedFrom(bytes: Buffer, line: number): BadRecord | UnparsedRecord | undefined {
  const size = bytes.length + 1
  if (!isUtf8(bytes)) return { line, problem: NOT_UTF8, bytes: size }
  return bytes.toString('utf8').trim() === '' ? undefined : { line, text: bytes, bytes: size }
}

const NOT_UTF8 = 'the line is not valid UTF-8'

/** Undefined for a blank line. */
export function recordFrom(
  bytes: Buffer,
  line: number,
  { maxDepth }: Pick<RecordLimits, 'maxDepth'>,
): SourceRecord | undefined {
  const size = bytes.length + 1
  if (!isUtf8(bytes)) return { line, problem: NOT_UTF8, bytes: size }
  const text = bytes.toString('utf8')
  if (text.trim() === '') return undefined
  try {
    const document = parseJson(text, maxDepth)
    if (isObject(document)) return { line, document, bytes: size }
    return { line, problem: 'a document must be a JSON object', bytes: size }
  } catch (error) {
    return { line, problem: (error as Error).message.replace('the body', 'the document'), bytes: size }
  }
}
