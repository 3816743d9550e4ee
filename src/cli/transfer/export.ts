/** `smalt export`: writes the documents of an entity into a file, or to standard output. */
import { type FileHandle, open } from 'node:fs/promises'
import { type Json, type JsonObject, member } from '../../base/json/json.ts'
import { parseJson } from '../../base/json/parse-json.ts'
import { csvLine } from '../../records/csv-text.ts'
import { type Client, createClient } from '../client/client.ts'
import type { ConnectionFlags } from '../client/connection.ts'
import { documentsOf } from '../client/lines.ts'
import { print } from '../client/output.ts'
import { conditionFrom, dataPath, fieldsFrom, sortFrom } from '../client/request-parts.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { createProgress } from '../run/progress.ts'
import { usageError } from '../usage-error.ts'
import { writeWhole } from '../write-whole.ts'
import { type CsvColumn, cellText, csvColumns } from './csv-columns.ts'
import { lastId } from './last-document.ts'

interface ExportFlags extends ConnectionFlags {
  readonly entity?: string
  readonly version?: string
  readonly filter?: string
  readonly fields?: string
  readonly sort?: string
  readonly format?: string
  readonly 'as-of'?: string
  readonly output?: string
  readonly continue?: boolean
  readonly json?: boolean
}

const FORMATS = ['ndjson', 'csv', 'json'] as const

export async function runExport(flags: ExportFlags, environment: Environment): Promise<void> {
  const { entity, version, output, sort } = flags
  if (entity === undefined || entity === '') throw usageError('export needs --entity')
  const format = FORMATS.find((each) => each === (flags.format ?? 'ndjson'))
  if (!format) throw usageError(`--format must be ${FORMATS.join(', ')}, not ${flags.format}`)
  const isContinued = flags.continue === true
  if (
    isContinued &&
    (output === undefined || format !== 'ndjson' || sort !== undefined || flags.fields !== undefined)
  )
    throw usageError('--continue needs --output and the format ndjson, and takes neither --sort nor --fields')
  if (flags.json === true && output === undefined)
    throw usageError('--json prints a report, so it needs --output')
  const client = createClient(flags, environment)
  const columns =
    format === 'csv' ? await csvColumns(client, { entity, version, fields: flags.fields }) : undefined
  const after = isContinued ? await lastId(output!) : undefined
  const target = output === undefined ? undefined : await openOutput(output, isContinued)
  try {
    const began = performance.now()
    const body = { ...selection(flags, after), ...projectionOf(flags.fields), ...sortFrom(sort) }
    const file = target && { descriptor: target.fd, name: output! }
    const write = file ? async (text: string): Promise<void> => writeWhole(file, text) : print
    const path = dataPath('find', entity, version)
    const total = await countOf(client, path, body)
    const found = documentsIn(client, path, body)
    const printed =
      format === 'csv' ? rowsOf(found, columns!) : format === 'json' ? arrayOf(found) : linesOf(found)
    const documents = await writeAll(printed, write, total)
    await target?.sync()
    const seconds = Math.round(performance.now() - began) / 1000
    report({ documents, seconds, output, isJson: flags.json === true })
  } finally {
    await target?.close()
  }
}

async function openOutput(path: string, isContinued: boolean): Promise<FileHandle> {
  try {
    return await open(path, isContinued ? 'a' : 'wx', 0o600)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EEXIST')
      throw new Exit(
        EXIT.conflict,
        `${path} exists already; name another file, or --continue an interrupted export`,
      )
    throw new Exit(EXIT.failed, `${path} cannot be written: ${message}`)
  }
}

/** Continues after the last document: without a sort, documents come in the order of _id. */
function selection({ filter, 'as-of': asOf }: ExportFlags, after: Json | undefined): JsonObject {
  const at = asOf === undefined ? {} : { asOf }
  const condition = conditionFrom(filter)
  if (after === undefined) return { ...condition, ...at }
  const isAfter = { field: '_id', op: '>', rvalue: after }
  if (condition['filter'] !== undefined)
    throw usageError('--continue takes a --filter in JSON, which begins with a brace')
  const query = condition['query']
  return { query: query === undefined ? isAfter : { $and: [isAfter, query] }, ...at }
}

/** `objectType` names the entity, so with it the documents could not be sent to another one. */
function projectionOf(fields: string | undefined): JsonObject {
  const named = fields === undefined ? [{ field: '*', recursive: true }] : fieldsFrom(fields).map(whole)
  return { projection: [...named, { field: 'objectType', include: false }] }
}

function whole(field: string): JsonObject {
  return { field, recursive: true }
}

/** The count must not delay the export for long. */
const COUNT_MS = 5_000

/**
 * For the progress only, so undefined if there are too many documents to count them in time: a stream has no such limit.
 * What else is wrong with the request is reported when the documents are requested.
 */
async function countOf(client: Client, path: string, body: JsonObject): Promise<number | undefined> {
  const execution = { maxTimeMs: COUNT_MS }
  const counted = { ...body, sort: null, projection: { field: '_id' }, range: [0, 0], execution }
  try {
    return Number(member(await client.ask('POST', path, { body: counted }), 'matchCount'))
  } catch (error) {
    if (error instanceof Exit && error.code === EXIT.failed) return undefined
    throw error
  }
}

async function* documentsIn(client: Client, path: string, body: JsonObject): AsyncGenerator<string> {
  const headers = { accept: 'application/x-ndjson' }
  const sent = { ...body, execution: { count: 'none' } }
  yield* documentsOf(client.base, await client.open('POST', path, { body: sent, headers, isEndless: true }))
}

/** What is written for one document, or for the begin and the end of the file. */
interface Piece {
  readonly text: string
  readonly documents: number
}

async function* linesOf(found: AsyncIterable<string>): AsyncGenerator<Piece> {
  for await (const text of found) yield { text: `${text}\n`, documents: 1 }
}

async function* arrayOf(found: AsyncIterable<string>): AsyncGenerator<Piece> {
  let before = '[\n'
  for await (const text of found) {
    yield { text: `${before}${text}`, documents: 1 }
    before = ',\n'
  }
  yield { text: before === '[\n' ? '[]\n' : '\n]\n', documents: 0 }
}

const MAX_DEPTH = 200

async function* rowsOf(found: AsyncIterable<string>, columns: readonly CsvColumn[]): AsyncGenerator<Piece> {
  yield { text: csvLine(columns.map(({ name }) => name)), documents: 0 }
  for await (const text of found) {
    const document = parseJson(text, MAX_DEPTH)
    yield { text: csvLine(columns.map((column) => cellText(document, column))), documents: 1 }
  }
}

/** Text is collected up to this size before it is written. */
const CHUNK = 64 * 1024

async function writeAll(
  pieces: AsyncIterable<Piece>,
  write: (text: string) => Promise<unknown>,
  total: number | undefined,
): Promise<number> {
  const progress = createProgress(process.stderr)
  let done = 0
  let chunk = ''
  const flush = async (): Promise<void> => {
    const text = chunk
    // what could not be written is not written a second time
    chunk = ''
    await write(text)
  }
  try {
    for await (const { text, documents } of pieces) {
      chunk += text
      done += documents
      if (chunk.length < CHUNK) continue
      await flush()
      // others may have inserted documents since they were counted
      progress.show({ phase: 'exporting', done, total: total === undefined ? total : Math.max(total, done) })
    }
  } finally {
    // what arrived before a failure is kept: --continue goes on after it
    if (chunk !== '') await flush()
    progress.end()
  }
  return done
}

interface Report {
  readonly documents: number
  readonly seconds: number
  readonly output: string | undefined
  readonly isJson: boolean
}

function report({ documents, seconds, output, isJson }: Report): void {
  if (isJson) process.stdout.write(`${JSON.stringify({ documents, seconds, output: output! })}\n`)
  else process.stderr.write(`exported ${documents.toLocaleString('en')} documents in ${seconds} s\n`)
}
