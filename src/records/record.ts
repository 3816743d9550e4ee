/** One document of a file or body, with the place where it stands. */
import type { JsonObject } from '../base/json/json.ts'

export type SourceRecord = GoodRecord | BadRecord

export interface GoodRecord {
  /** The line on which it begins, from 1. */
  readonly line: number
  readonly document: JsonObject
  /** Bytes that it takes in the source, with the names of its members if these stand elsewhere. */
  readonly bytes: number
}

/** A record that is no document; the records after it can still be read. */
export interface BadRecord {
  readonly line: number
  readonly problem: string
  readonly bytes: number
}

/** A record that is too large to be parsed on this thread. */
export interface UnparsedRecord {
  readonly line: number
  /** UTF-8 for `parseRecord`. */
  readonly text: Uint8Array
  readonly bytes: number
}

/** The source cannot be read any further: a quote without an end, a line that is too long. */
export class RecordsError extends Error {
  readonly line: number

  constructor(line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.line = line
  }
}

export interface RecordLimits {
  /** Bytes of one record. */
  readonly maxBytes: number
  /** Levels of nesting in one document. */
  readonly maxDepth: number
}

export type Chunks = AsyncIterable<Uint8Array>

export const FILE_FORMATS = ['ndjson', 'csv', 'json'] as const
export type FileFormat = (typeof FILE_FORMATS)[number]
/** Formats of bodies that are read as they arrive. */
export type StreamedFormat = Exclude<FileFormat, 'json'>
