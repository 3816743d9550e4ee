/** Reads documents in any of the formats. */
import { type CsvOptions, parseRow, readCsv, readSmallCsv } from './csv.ts'
import { readJsonArray } from './json-array.ts'
import { readNdjson, readSmallNdjson, recordFrom } from './ndjson.ts'
import type {
  Chunks,
  FileFormat,
  RecordLimits,
  SourceRecord,
  StreamedFormat,
  UnparsedRecord,
} from './record.ts'

export function readRecords(
  format: FileFormat,
  chunks: Chunks,
  limits: RecordLimits,
  options: CsvOptions = {},
): AsyncGenerator<SourceRecord> {
  switch (format) {
    case 'ndjson':
      return readNdjson(chunks, limits)
    case 'json':
      return readJsonArray(chunks, limits)
    case 'csv':
      return readCsv(chunks, limits, options)
  }
}

/** Leaves records of more than `parsedBytes` to another thread. */
export function readSmallRecords(
  format: StreamedFormat,
  chunks: Chunks,
  limits: RecordLimits & { readonly parsedBytes: number },
  options: CsvOptions = {},
): AsyncGenerator<SourceRecord | UnparsedRecord> {
  return format === 'csv' ? readSmallCsv(chunks, limits, options) : readSmallNdjson(chunks, limits)
}

/** Parses a record that `readSmallRecords` left, whose line it does not know. */
export function parseRecord(
  format: StreamedFormat,
  text: Buffer,
  limits: Pick<RecordLimits, 'maxDepth'>,
): SourceRecord {
  return format === 'csv' ? parseRow(text, limits) : recordFrom(text, 1, limits)!
}

interface RecordBatch<R> {
  readonly records: readonly R[]
  /** Number of records before this batch. */
  readonly first: number
}

interface BatchOptions<R> {
  readonly count: number
  readonly bytes: number
  /** What a record counts towards `bytes`; its own bytes when absent. */
  readonly sizeOf?: (record: R) => number
  readonly skip?: number
  /** Whether a record makes a batch of its own. */
  readonly isAlone?: (record: R) => boolean
}

/**
 * Groups records by count and size. Where a batch ends depends on its own records and the next one only: whoever starts
 * at the end of one gets the same batches as whoever starts at the beginning.
 */
export async function* batchesOf<R extends { readonly bytes: number }>(
  records: AsyncIterable<R>,
  { count, bytes, sizeOf = (record) => record.bytes, skip = 0, isAlone = () => false }: BatchOptions<R>,
): AsyncGenerator<RecordBatch<R>> {
  let batch: R[] = []
  let size = 0
  let seen = 0
  for await (const record of records) {
    seen++
    if (seen <= skip) continue
    const isSeparate = isAlone(record)
    if (isSeparate && batch.length > 0) {
      yield { records: batch, first: seen - 1 - batch.length }
      batch = []
      size = 0
    }
    batch.push(record)
    size += sizeOf(record)
    if (!isSeparate && batch.length < count && size < bytes) continue
    yield { records: batch, first: seen - batch.length }
    batch = []
    size = 0
  }
  if (seen < skip) throw new MissingRecordsError(seen, skip)
  if (batch.length > 0) yield { records: batch, first: seen - batch.length }
}

/** There are fewer records than were to be left out: surely another source than the one that was read before. */
export class MissingRecordsError extends Error {
  readonly count: number

  constructor(count: number, skip: number) {
    super(`there are ${count} records, of which ${skip} were to be left out`)
    this.count = count
  }
}
