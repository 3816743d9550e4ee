/** Prints documents: as a table for people, as JSON, as lines of JSON, or as CSV. */
import { once } from 'node:events'
import { fstatSync } from 'node:fs'
import { type Json, isObject } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { ColumnError, cellsOf } from '../../records/columns.ts'
import { csvLine } from '../../records/csv-text.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { writeWhole } from '../write-whole.ts'
import { tableOf } from './table.ts'

export const FORMATS = ['table', 'json', 'ndjson', 'csv'] as const
export type Format = (typeof FORMATS)[number]

export const FORMAT_OPTIONS = {
  format: {
    type: 'string',
    value: 'F',
    summary: `${FORMATS.join(', ')}; table on a terminal, ndjson elsewhere`,
  },
  json: { type: 'boolean', summary: 'the same as --format json' },
} as const

interface FormatFlags {
  readonly format?: string
  readonly json?: boolean
}

export function formatFrom({ format, json = false }: FormatFlags): Format {
  const known = FORMATS.find((each) => each === format)
  if (format !== undefined && !known)
    throw usageError(`--format must be ${FORMATS.join(', ')}, not ${format}`, {
      word: format,
      known: FORMATS,
    })
  if (json && known !== undefined && known !== 'json') throw usageError(`--json and --format ${known} differ`)
  return known ?? (json ? 'json' : process.stdout.isTTY ? 'table' : 'ndjson')
}

type Texts = AsyncIterable<string> | Iterable<string>

interface Printing {
  readonly format: Format
  /** Columns of a table or CSV; those of the first documents when absent. */
  readonly columns?: readonly string[]
}

const MAX_DEPTH = 200
/** Documents that decide about columns and widths. */
const SAMPLE = 1_000

/** `documents` are texts of JSON. Returns their number. */
export async function printDocuments(documents: Texts, { format, columns }: Printing): Promise<number> {
  switch (format) {
    case 'ndjson':
      return await printLines(documents)
    case 'json':
      return await printArray(documents)
    case 'csv':
      return await printSampled(documents, columns, printCsv)
    case 'table':
      return await printSampled(documents, columns, printTable)
  }
}

async function printLines(documents: Texts): Promise<number> {
  let count = 0
  for await (const text of documents) {
    await print(`${text}\n`)
    count++
  }
  return count
}

async function printArray(documents: Texts): Promise<number> {
  let count = 0
  for await (const text of documents) {
    await print(`${count === 0 ? '[\n' : ',\n'}${indented(text)}`)
    count++
  }
  await print(count === 0 ? '[]\n' : '\n]\n')
  return count
}

function indented(text: string): string {
  return JSON.stringify(parseJson(text, MAX_DEPTH), undefined, 2).replaceAll(/^/gm, '  ')
}

type Rows = (columns: readonly string[], sample: readonly Cells[]) => (cells: Cells, i: number) => string
type Cells = ReadonlyMap<string, Json>

/** The first documents decide about the columns; a later one with another column would lose it, so it is refused. */
async function printSampled(
  documents: Texts,
  given: readonly string[] | undefined,
  rows: Rows,
): Promise<number> {
  let sample: Cells[] | undefined = []
  let line: ReturnType<Rows> | undefined
  let known: ReadonlySet<string> = new Set()
  let count = 0
  const begin = async (): Promise<void> => {
    const found = new Set(sample!.flatMap((cells) => [...cells.keys()]))
    const columns = given === undefined ? [...found] : columnsAmong(given, found)
    known = new Set(columns)
    line = rows(columns, sample!)
    for (const cells of sample!) await show(cells)
    sample = undefined
  }
  const show = async (cells: Cells): Promise<void> => {
    const stray = [...cells.keys()].find((name) => !known.has(name))
    if (stray !== undefined) throw strayColumn(count, stray)
    await print(line!(cells, count++))
  }
  for await (const text of documents) {
    const cells = cellsIn(text)
    if (sample) sample.push(cells)
    else await show(cells)
    if (sample?.length === SAMPLE) await begin()
  }
  if (sample) await begin()
  return count
}

/** A field that is named may be an object or an array: its columns are those below it. */
function columnsAmong(given: readonly string[], found: ReadonlySet<string>): readonly string[] {
  return given.flatMap((field) => {
    const own = [...found].filter(
      (name) => name === field || name === `${field}:json` || name.startsWith(`${field}.`),
    )
    return own.length > 0 ? own : [field]
  })
}

function strayColumn(index: number, name: string): Exit {
  const message =
    `document ${index + 1} has "${name}", which is no column: columns are those of the first ${SAMPLE} documents; ` +
    'name all of them with --fields, or use --format ndjson'
  return new Exit(EXIT.failed, message)
}

function cellsIn(text: string): Cells {
  const value = parseJson(text, MAX_DEPTH)
  try {
    return cellsOf(isObject(value) ? value : { value })
  } catch (error) {
    throw error instanceof ColumnError ? new Exit(EXIT.failed, error.message) : error
  }
}

function printCsv(columns: readonly string[]): ReturnType<Rows> {
  return (cells, i) => {
    const row = csvLine(columns.map((name) => cells.get(name)))
    return i === 0 ? csvLine(columns) + row : row
  }
}

function printTable(columns: readonly string[], sample: readonly Cells[]): ReturnType<Rows> {
  return tableOf(columns, sample)
}

/** Waits until a slow reader has taken what was written. */
export async function print(text: string): Promise<void> {
  // Node.js would ignore what does not fit into a file
  if (isFile()) return writeWhole({ descriptor: process.stdout.fd, name: 'the output' }, text)
  endQuietly()
  if (!process.stdout.write(text)) await once(process.stdout, 'drain')
}

/** Throws an Exit if nobody gets the text, also if the reader has left: for what cannot be printed again. */
export async function printWhole(text: string): Promise<void> {
  const { fd } = process.stdout as { readonly fd?: number }
  const stats = fd === undefined ? undefined : fstatSync(fd)
  if (stats?.isFile() || (stats?.isCharacterDevice() && !process.stdout.isTTY))
    return writeWhole({ descriptor: process.stdout.fd, name: 'the output' }, text)
  const error = await new Promise<Error | null | undefined>((resolve) => process.stdout.write(text, resolve))
  if (error) throw new Exit(EXIT.failed, `the output cannot be written: ${error.message}`)
}

let isKnownFile: boolean | undefined

function isFile(): boolean {
  const { fd } = process.stdout as { readonly fd?: number }
  return (isKnownFile ??= fd !== undefined && fstatSync(fd).isFile())
}

let isListening = false

/** A reader such as `head` may leave before the end, which is no failure. */
function endQuietly(): void {
  if (isListening || typeof process.stdout.on !== 'function') return
  isListening = true
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    process.exit(error.code === 'EPIPE' ? EXIT.ok : EXIT.failed)
  })
}
