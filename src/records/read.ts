/** Reads documents in any of the formats. */
import { type CsvOptions, readCsv } from './csv.ts'
import { readJsonArray } from './json-array.ts'
import { readNdjson } from './ndjson.ts'
import type { Chunks, FileFormat, RecordLimits, SourceRecord } from './record.ts'

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

export interface RecordBatch {
  readonly records: readonly SourceRecord[]
  /** Number of records before this batch. */
  readonly first: number
}

/**
 * Groups records by count and size. Where a batch ends depends on its own records only: whoever starts at the end of
 * one gets the same batches as whoever starts at the beginning.
 */
export async function* batchesOf(
  records: AsyncIterable<SourceRecord>,
  { count, bytes, skip = 0 }: { readonly count: number; readonly bytes: number; readonly skip?: number },
): AsyncGenerator<RecordBatch> {
  let batch: SourceRecord[] = []
  let size = 0
  let seen = 0
  for await (const record of records) {
    seen++
    if (seen <= skip) continue
    batch.push(record)
    size += record.bytes
    if (batch.length < count && size < bytes) continue
    yield { records: batch, first: seen - batch.length }
    batch = []
    size = 0
  }
  if (batch.length > 0) yield { records: batch, first: seen - batch.length }
}
