/**
 * A file of records in parts that are sent one after the other, so that progress is known and rejects are read early: a browser
 * reads no answer before it has sent the whole request.
 */
import type { FileFormat } from '../client/import-client.ts'

export interface FilePart {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** To be added to a line of the part for the line of the file. */
  readonly linesBefore: number
  /** Where the part ends in the file. */
  readonly end: number
}

export class RecordTooLarge extends Error {
  constructor() {
    super('a record is larger than 8 MiB; is a quotation mark missing?')
    this.name = 'RecordTooLarge'
  }
}

/** What of a `Blob` is needed. */
export interface Source {
  readonly size: number
  readonly slice: (from: number, to: number) => { readonly arrayBuffer: () => Promise<ArrayBuffer> }
}

export interface PartLimits {
  readonly bytes: number
  readonly records: number
}

const USUAL: PartLimits = { bytes: 2 ** 20, records: 5_000 }
/** More than the service takes. */
const MAX_RECORD_BYTES = 2 ** 23
const NEWLINE = 10
const RETURN = 13
const QUOTE = 34
const SPACE = 32
const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf]

/** Parts of whole records. Of CSV, each part begins with the header. */
export async function* partsOf(
  file: Source,
  format: FileFormat,
  limits: PartLimits = USUAL,
): AsyncGenerator<FilePart> {
  let header: Uint8Array<ArrayBuffer> = new Uint8Array()
  let headerLines = 0
  let lines = 0
  let from = 0
  while (from < file.size) {
    const isFirst = from === 0
    const { bytes, count } = await recordsAt(file, from, { format, limits, header })
    if (isFirst && format === 'csv') {
      header = bytes.slice(0, headerEnd(bytes))
      headerLines = newlinesIn(header)
      yield { bytes, linesBefore: 0, end: bytes.length }
    } else {
      const linesBefore = lines - headerLines
      yield { bytes: joined(header, bytes), linesBefore, end: from + bytes.length }
    }
    from += bytes.length
    lines += count
  }
}

interface Reading {
  readonly format: FileFormat
  /** Empty as long as it is not known. */
  readonly header: Uint8Array
  readonly limits: PartLimits
}

interface Piece {
  readonly bytes: Uint8Array<ArrayBuffer>
  /** Newlines in it. */
  readonly count: number
}

/** As many whole records as fit, but at least one. */
async function recordsAt(file: Source, from: number, { format, limits, header }: Reading): Promise<Piece> {
  // as the service reads CSV: the first line says whether all lines end with CR LF
  const isReturned = header.length === 0 ? undefined : header.at(-2) === RETURN
  for (let size = limits.bytes; ; size *= 2) {
    const bytes = new Uint8Array(await file.slice(from, Math.min(file.size, from + size)).arrayBuffer())
    const isRest = from + bytes.length >= file.size
    const found = lastRecordEnd(bytes, { format, maxRecords: limits.records, isReturned })
    if (found.isFull || (found.end > 0 && !isRest))
      return { bytes: bytes.slice(0, found.end), count: found.newlines }
    if (isRest) return { bytes, count: newlinesIn(bytes) }
    if (size >= MAX_RECORD_BYTES) throw new RecordTooLarge()
  }
}

interface Counting {
  readonly format: FileFormat
  readonly maxRecords: number
  /** Whether lines of CSV end with CR LF; the first one says it when absent. */
  readonly isReturned?: boolean | undefined
}

interface RecordEnd {
  readonly end: number
  readonly newlines: number
  readonly isFull: boolean
}

/** Where the last whole record ends; a newline between quotes of CSV ends none. */
function lastRecordEnd(bytes: Uint8Array, counting: Counting): RecordEnd {
  const { format, maxRecords } = counting
  let { isReturned } = counting
  let found = { end: 0, newlines: 0 }
  let records = 0
  let newlines = 0
  let isQuoted = false
  let isBlank = true
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]!
    if (byte === QUOTE && format === 'csv') isQuoted = !isQuoted
    if (byte > SPACE && !BYTE_ORDER_MARK.includes(byte)) isBlank = false
    if (byte !== NEWLINE) continue
    newlines++
    const hasReturn = bytes[i - 1] === RETURN
    if (isQuoted || (format === 'csv' && (isReturned ??= hasReturn) && !hasReturn)) continue
    // blank lines belong to the record after them
    if (isBlank) continue
    isBlank = true
    found = { end: i + 1, newlines }
    if (++records >= maxRecords) return { ...found, isFull: true }
  }
  return { ...found, isFull: false }
}

/** The first record of CSV. */
function headerEnd(bytes: Uint8Array): number {
  const { end } = lastRecordEnd(bytes, { format: 'csv', maxRecords: 1 })
  return end === 0 ? bytes.length : end
}

function newlinesIn(bytes: Uint8Array): number {
  let count = 0
  for (const byte of bytes) if (byte === NEWLINE) count++
  return count
}

function joined(one: Uint8Array, other: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(one.length + other.length)
  both.set(one)
  both.set(other, one.length)
  return both
}
