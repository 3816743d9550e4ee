/** The files of an import: their formats, sizes and records. */
import { createReadStream, statSync } from 'node:fs'
import { extname } from 'node:path'
import type { CsvOptions } from '../../records/csv.ts'
import { DELIMITERS } from '../../records/delimiter.ts'
import { readRecords } from '../../records/read.ts'
import { type Chunks, FILE_FORMATS, type FileFormat, type SourceRecord } from '../../records/record.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'

export interface SourceFile {
  /** As given; `-` is standard input. */
  readonly path: string
  readonly format: FileFormat
  /** 0 for standard input. */
  readonly bytes: number
  readonly modified: number
  /** Whether what was read is gone, as with standard input and every other pipe. */
  readonly isReadOnce: boolean
}

const STANDARD_INPUT = '-'

const FORMAT_OF: Readonly<Record<string, FileFormat>> = {
  '.ndjson': 'ndjson',
  '.jsonl': 'ndjson',
  '.json': 'json',
  '.csv': 'csv',
  '.tsv': 'csv',
  '.txt': 'csv',
}

const SPREADSHEETS: readonly string[] = ['.xlsx', '.xlsm', '.xls', '.ods', '.numbers']

/** `csv, ndjson or json`. */
const FORMATS = new Intl.ListFormat('en-GB', { type: 'disjunction' }).format(FILE_FORMATS)

export function sourceFiles(paths: readonly string[], format: string | undefined): readonly SourceFile[] {
  const known = FILE_FORMATS.find((each) => each === format)
  if (format !== undefined && !known)
    throw usageError(`--format must be ${FILE_FORMATS.join(', ')}, not ${format}`, {
      word: format,
      known: FILE_FORMATS,
    })
  // in this order, because a directory has no format
  return paths.map((path) => ({ path, ...sizeOf(path), format: known ?? formatOf(path) }))
}

function formatOf(path: string): FileFormat {
  if (path === STANDARD_INPUT) throw usageError(`standard input has no name; add --format ${FORMATS}`)
  const extension = extname(path).toLowerCase()
  const format = FORMAT_OF[extension]
  if (format !== undefined) return format
  if (SPREADSHEETS.includes(extension)) throw usageError(`${path} is a spreadsheet; save it as CSV`)
  throw usageError(`the format of ${path} is not clear from its name; add --format ${FORMATS}`)
}

/** For options that read the files again, at once or when the command is repeated. */
export function refuseReadOnce(files: readonly SourceFile[], option: string): void {
  const file = files.find(({ isReadOnce }) => isReadOnce)
  if (!file) return
  const shown = file.path === STANDARD_INPUT ? 'standard input' : `${file.path}, which is no regular file,`
  throw usageError(`${shown} cannot be read a second time, so it takes no ${option}`)
}

function sizeOf(path: string): Pick<SourceFile, 'bytes' | 'modified' | 'isReadOnce'> {
  if (path === STANDARD_INPUT) return { bytes: 0, modified: 0, isReadOnce: true }
  try {
    const stat = statSync(path)
    if (!stat.isDirectory())
      return { bytes: stat.size, modified: Math.round(stat.mtimeMs), isReadOnce: !stat.isFile() }
  } catch (error) {
    throw new Exit(EXIT.failed, `${path} cannot be read: ${(error as Error).message}`)
  }
  throw new Exit(EXIT.failed, `${path} is a directory; name the files`)
}

/** Smaller than the body of a request may be. */
const LIMITS = { maxBytes: 15 * 1024 * 1024, maxDepth: 64 }

export function recordsOf({ path, format }: SourceFile, options: CsvOptions): AsyncGenerator<SourceRecord> {
  return readRecords(format, chunksOf(path), LIMITS, options)
}

export function chunksOf(path: string): Chunks {
  return path === STANDARD_INPUT
    ? (process.stdin as AsyncIterable<Buffer>)
    : (createReadStream(path, { highWaterMark: 256 * 1024 }) as AsyncIterable<Buffer>)
}

export function delimiterFrom(text: string | undefined): CsvOptions {
  if (text === undefined) return {}
  const delimiter = DELIMITERS.find((each) => each === (text === 'tab' ? '\t' : text))
  if (delimiter === undefined) throw usageError("--delimiter must be ',' or ';' or '|' or tab")
  return { delimiter }
}
