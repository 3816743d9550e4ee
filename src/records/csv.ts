/** Reads CSV: a header with the paths of fields, then one document per row. */
import type { CastingContext, CsvError } from 'csv-parse'
import { Readable } from 'node:stream'
import type { Json } from '../base/json/json.ts'
import { aboutText, parseJson } from '../base/json/parse-json.ts'
import { type Column, ColumnError, columnFrom, columnsFrom, setAt } from './columns.ts'
import { detectDelimiter } from './delimiter.ts'
import {
  type Chunks,
  type RecordLimits,
  RecordsError,
  type SourceRecord,
  type UnparsedRecord,
} from './record.ts'

export interface CsvOptions {
  /** Detected from the header when absent. */
  readonly delimiter?: string
}

/** A cell; undefined when it is empty and not quoted. */
type Cell = string | undefined

interface CsvRow {
  readonly line: number
  readonly cells: readonly Cell[]
  readonly bytes: number
}

/** Rows of text; the first one is the header. */
async function* readRows(
  chunks: Chunks,
  { maxBytes }: Pick<RecordLimits, 'maxBytes'>,
  { delimiter }: CsvOptions = {},
): AsyncGenerator<CsvRow> {
  // most starts import nothing
  const { CsvError: ParserError, parse } = await import('csv-parse')
  const begun = await detectDelimiter(chunks, delimiter)
  // up to the end of the last cell that was parsed, which may be far ahead of the rows that were handed out
  const parsed = { line: 0, empty: 0, countedTwice: 0 }
  const parser = parse({
    delimiter: begun.delimiter,
    // all of them: the parser would take the one after the header for all rows, and others for a part of a cell
    record_delimiter: ['\r\n', '\n', '\r'],
    bom: true,
    relax_column_count: true,
    skip_empty_lines: true,
    info: true,
    max_record_size: maxBytes,
    cast(text: string, { quoting, lines, empty_lines: empty }: CastingContext) {
      if (quoting) parsed.countedTwice += crlfIn(text)
      Object.assign(parsed, { line: lines - parsed.countedTwice, empty })
      return text === '' && !quoting ? undefined : text
    },
  })
  // an error of the source, such as a connection that is cut, must end the rows as well
  const source = Readable.from(requireUtf8(begun.chunks), { objectMode: false })
  source.on('error', (error) => parser.destroy(error))
  source.pipe(parser)
  let line = 1
  let bytes = 0
  let emptyLines = 0
  let countedTwice = 0
  try {
    for await (const each of parser as AsyncIterable<{
      info: { lines: number; empty_lines: number; bytes: number }
      record: Cell[]
    }>) {
      const { info, record } = each
      // the parser counts the lines up to the end of a row, and skips empty ones before it
      const begunOn = line + info.empty_lines - emptyLines
      yield { line: begunOn, cells: record, bytes: info.bytes - bytes }
      // a row of several lines: the parser counts CRLF in a cell as two of them
      if (info.lines > begunOn) countedTwice += record.reduce((sum, cell) => sum + crlfIn(cell), 0)
      line = info.lines + 1 - countedTwice
      bytes = info.bytes
      emptyLines = info.empty_lines
    }
  } catch (error) {
    if (!(error instanceof ParserError)) throw error
    const { code, message } = error
    throw new RecordsError(lineOf(error as CsvError & Place, parsed), readable(code, message, maxBytes))
  } finally {
    source.destroy()
  }
}

/** What the parser adds to its errors. */
interface Place {
  readonly code: string
  /** The number of the cell in its row. */
  readonly index: number
  readonly lines: number
  readonly empty_lines: number
}

interface Parsed {
  readonly line: number
  readonly empty: number
  readonly countedTwice: number
}

/** The parser notices a quote without an end at the end of the source; what helps is the line where it begins. */
function lineOf({ code, index, lines, empty_lines: empty }: Place, parsed: Parsed): number {
  if (code !== 'CSV_QUOTE_NOT_CLOSED') return lines - parsed.countedTwice
  return index > 0 ? parsed.line : parsed.line + 1 + empty - parsed.empty
}

function crlfIn(cell: Cell = ''): number {
  return cell.split('\r\n').length - 1
}

/** The parser would replace what is no UTF-8 by other characters. */
async function* requireUtf8(chunks: Chunks): AsyncGenerator<Uint8Array> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let line = 1
  let before = ''
  const check = (chunk?: Uint8Array): void => {
    try {
      for (const character of decoder.decode(chunk, { stream: chunk !== undefined })) {
        if (character === '\r' || (character === '\n' && before !== '\r')) line++
        before = character
      }
    } catch {
      throw new RecordsError(
        line,
        'this line, or one soon after it, is not valid UTF-8; save the file as UTF-8',
      )
    }
  }
  for await (const chunk of chunks) {
    check(chunk)
    yield chunk
  }
  check()
}

function readable(code: string, message: string, maxBytes: number): string {
  if (code === 'CSV_MAX_RECORD_SIZE') return `the row is larger than ${maxBytes} bytes`
  if (code === 'CSV_QUOTE_NOT_CLOSED') return 'a quote that begins here has no end'
  if (code === 'CSV_INVALID_CLOSING_QUOTE' || code === 'INVALID_OPENING_QUOTE')
    return 'a quote stands inside of a cell; write it twice, and quote the cell'
  return message.split('\n')[0]!.slice(0, 200)
}

export async function* readCsv(
  chunks: Chunks,
  limits: RecordLimits,
  options: CsvOptions = {},
): AsyncGenerator<SourceRecord> {
  let columns: readonly Column[] | undefined
  for await (const row of readRows(chunks, limits, options)) {
    if (columns) yield recordFrom(row, columns, limits)
    else columns = headerFrom(row, limits)
  }
}

/** Leaves rows that make documents of more than `parsedBytes` to another thread. */
export async function* readSmallCsv(
  chunks: Chunks,
  limits: RecordLimits & { readonly parsedBytes: number },
  options: CsvOptions = {},
): AsyncGenerator<SourceRecord | UnparsedRecord> {
  let columns: readonly Column[] | undefined
  for await (const row of readRows(chunks, limits, options)) {
    if (!columns) columns = headerFrom(row, limits)
    else if (isComplete(row, columns) && sizeOf(row, columns) > limits.parsedBytes)
      yield unparsedFrom(row, columns)
    else yield recordFrom(row, columns, limits)
  }
}

/** A row with its header, as another thread gets it. */
interface UnparsedRow {
  readonly names: readonly string[]
  readonly cells: readonly (string | null)[]
}

function unparsedFrom(row: CsvRow, columns: readonly Column[]): UnparsedRecord {
  const { line, cells } = row
  const unparsed: UnparsedRow = {
    names: columns.map(({ name }) => name),
    cells: cells.map((cell) => cell ?? null),
  }
  return { line, text: Buffer.from(JSON.stringify(unparsed)), bytes: sizeOf(row, columns) }
}

/** Parses what `readSmallCsv` left. */
export function parseRow(text: Buffer, limits: Pick<RecordLimits, 'maxDepth'>): SourceRecord {
  const { names, cells } = JSON.parse(text.toString('utf8')) as UnparsedRow
  const row = { line: 1, cells: cells.map((cell) => cell ?? undefined), bytes: text.length }
  return recordFrom(row, names.map(columnFrom), limits)
}

function headerFrom({ cells, line }: CsvRow, { maxDepth }: RecordLimits): readonly Column[] {
  try {
    return columnsFrom(
      cells.map((cell) => cell?.trim() ?? ''),
      maxDepth,
    )
  } catch (error) {
    throw error instanceof ColumnError ? new RecordsError(line, error.message) : error
  }
}

function recordFrom(
  row: CsvRow,
  columns: readonly Column[],
  limits: Pick<RecordLimits, 'maxDepth'>,
): SourceRecord {
  const { cells, line, bytes } = row
  if (!isComplete(row, columns)) {
    const problem = `the row has ${cells.length} cells, and the header has ${columns.length}`
    return { line, problem, bytes }
  }
  const document: Record<string, Json> = {}
  for (const [i, column] of columns.entries()) {
    const cell = cells[i]
    if (cell === undefined) continue
    const value = valueOf(cell, column, limits)
    if (value instanceof ColumnError) return { line, problem: value.message, bytes }
    setAt(document, column.path, value)
  }
  return { line, document, bytes: sizeOf(row, columns) }
}

function isComplete({ cells }: CsvRow, columns: readonly Column[]): boolean {
  return cells.length === columns.length
}

/** A row does not repeat the names, but the document does. */
function sizeOf({ cells, bytes }: CsvRow, columns: readonly Column[]): number {
  let size = bytes
  for (const [i, { name }] of columns.entries()) if (cells[i] !== undefined) size += name.length
  return size
}

/** Texts are converted by the type of their field when the document is stored. */
function valueOf(
  cell: string,
  { isJson, name }: Column,
  { maxDepth }: Pick<RecordLimits, 'maxDepth'>,
): Json | ColumnError {
  if (!isJson) {
    const isSound = !cell.includes('\0') && cell.isWellFormed()
    return isSound ? cell : new ColumnError(`the cell "${name}" contains a character that is not allowed`)
  }
  try {
    return parseJson(cell, maxDepth)
  } catch (error) {
    return new ColumnError(aboutText(error as Error, `the cell "${name}"`))
  }
}
