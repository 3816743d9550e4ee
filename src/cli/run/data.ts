/** `smalt find`, `get`, `insert`, `update`, `delete`, `aggregate` and `explain`: one request to a service each. */
import { type Json, type JsonObject, isArray, member } from '../../base/json/json.ts'
import { type Client, createClient } from '../client/client.ts'
import type { ConnectionFlags } from '../client/connection.ts'
import { failOnDocuments } from '../client/failure.ts'
import { documentsOf } from '../client/lines.ts'
import { formatFrom, print, printDocuments } from '../client/output.ts'
import {
  conditionFrom,
  countFrom,
  dataPath,
  fieldsFrom,
  jsonFrom,
  projectionFrom,
  sortFrom,
} from '../client/request-parts.ts'
import type { Environment } from '../config/settings.ts'
import { EXIT, Exit } from '../exit.ts'
import { usageError } from '../usage-error.ts'
import { aggregation } from './aggregation.ts'
import { readInput } from './input.ts'

interface DataFlags extends ConnectionFlags {
  readonly version?: string
  readonly format?: string
  readonly json?: boolean
  readonly fields?: string
  readonly sort?: string
  readonly limit?: string
  readonly offset?: string
  readonly 'as-of'?: string
  readonly by?: readonly string[]
  readonly value?: readonly string[]
  readonly having?: string
  readonly 'idempotency-key'?: string
}

type Invoked = {
  readonly words: readonly string[]
  readonly flags: DataFlags
  readonly environment: Environment
}

export async function runFind({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, filter] = wordsOf('find', words, ['ENTITY'], 'FILTER')
  const format = formatFrom(flags)
  const client = createClient(flags, environment)
  const body = { ...conditionFrom(filter), ...reading(flags), execution: { count: 'none' } }
  await printFound(client, dataPath('find', entity!, flags.version), { body, flags, format })
}

export async function runGet({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, id] = wordsOf('get', words, ['ENTITY', 'ID'])
  const format = formatFrom({ ...flags, ...(flags.format === undefined && { json: true }) })
  const client = createClient(flags, environment)
  const query = { field: '_id', op: '=', rvalue: id! }
  const body = { query, ...reading(flags), execution: { count: 'none' } }
  const found = await client.ask('POST', dataPath('find', entity!, flags.version), { body })
  const documents = listIn(found, 'processed')
  if (documents.length === 0)
    throw new Exit(EXIT.failed, `${entity} has no document with the _id ${id}, or you may not read it`)
  if (format === 'json') await print(`${JSON.stringify(documents[0], undefined, 2)}\n`)
  else await printDocuments(textsOf(documents), printing(flags, format))
}

export async function runInsert({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, text] = wordsOf('insert', words, ['ENTITY'], 'DOCUMENTS')
  const data = await readInput(text, '-')
  const body = { data, ...projectionFrom(flags.fields ?? '_id') }
  await write(createClient(flags, environment), {
    method: 'PUT',
    operation: 'insert',
    entity: entity!,
    body,
    flags,
  })
}

export async function runUpdate({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, filter, update] = wordsOf('update', words, ['ENTITY', 'FILTER', 'UPDATE'])
  const body = {
    ...conditionFrom(filter),
    update: jsonFrom(update!, 'the update'),
    ...projectionFrom(flags.fields ?? '_id'),
  }
  await write(createClient(flags, environment), {
    method: 'POST',
    operation: 'update',
    entity: entity!,
    body,
    flags,
  })
}

export async function runDelete({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, filter] = wordsOf('delete', words, ['ENTITY', 'FILTER'])
  const body = conditionFrom(filter)
  await write(createClient(flags, environment), {
    method: 'POST',
    operation: 'delete',
    entity: entity!,
    body,
    flags,
  })
}

export async function runAggregate({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, filter] = wordsOf('aggregate', words, ['ENTITY'], 'FILTER')
  const format = formatFrom(flags)
  const body = {
    ...conditionFrom(filter),
    ...aggregation(flags),
    ...sortFrom(flags.sort),
    ...rangeFrom(flags),
  }
  const client = createClient(flags, environment)
  const answer = await client.ask('POST', dataPath('aggregate', entity!, flags.version), { body })
  await printDocuments(textsOf(listIn(answer, 'processed')), { format })
}

export async function runExplain({ words, flags, environment }: Invoked): Promise<void> {
  const [entity, filter] = wordsOf('explain', words, ['ENTITY'], 'FILTER')
  const body = { ...conditionFrom(filter), ...reading(flags) }
  const client = createClient(flags, environment)
  const answer = await client.ask('POST', dataPath('explain', entity!, flags.version), { body })
  await print(`${JSON.stringify(listIn(answer, 'processed')[0] ?? {}, undefined, 2)}\n`)
}

/** The words of a command by name, the last of which may be optional. */
function wordsOf(
  command: string,
  words: readonly string[],
  required: readonly string[],
  optional?: string,
): readonly string[] {
  const most = required.length + (optional === undefined ? 0 : 1)
  if (words.length >= required.length && words.length <= most) return words
  const form = [...required, ...(optional === undefined ? [] : [`[${optional}]`])].join(' ')
  const hint = words.length > most ? '; quote a filter, so that it is one word of the shell' : ''
  throw usageError(`${command} takes ${form}${hint}`)
}

function reading(flags: DataFlags): JsonObject {
  const { fields, sort } = flags
  const asOf = flags['as-of']
  return {
    ...projectionFrom(fields),
    ...sortFrom(sort),
    ...rangeFrom(flags),
    ...(asOf !== undefined && { asOf }),
  }
}

function rangeFrom({ limit, offset }: DataFlags): JsonObject {
  const from = countFrom('--offset', offset, 0) ?? 0
  const count = countFrom('--limit', limit)
  if (count === undefined && from === 0) return {}
  return { range: [from, count === undefined ? null : from + count - 1] }
}

interface Found {
  readonly body: JsonObject
  readonly flags: DataFlags
  readonly format: ReturnType<typeof formatFrom>
}

async function printFound(client: Client, path: string, { body, flags, format }: Found): Promise<void> {
  const headers = { accept: 'application/x-ndjson' }
  const response = await client.open('POST', path, { body, headers, isEndless: true })
  const count = await printDocuments(documentsOf(client.base, response), printing(flags, format))
  if (format === 'table') process.stderr.write(`${count} document${count === 1 ? '' : 's'}\n`)
}

function printing({ fields }: DataFlags, format: Found['format']) {
  return fields === undefined ? { format } : { format, columns: fieldsFrom(fields) }
}

interface Writing {
  readonly method: string
  readonly operation: 'insert' | 'update' | 'delete'
  readonly entity: string
  readonly body: JsonObject
  readonly flags: DataFlags
}

/** Prints the documents that were written, then fails if others were not. */
async function write(client: Client, { method, operation, entity, body, flags }: Writing): Promise<void> {
  const format = formatFrom(flags)
  const key = flags['idempotency-key']
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  const answer = await client.ask(method, dataPath(operation, entity, flags.version), { body, headers })
  if (operation !== 'delete')
    await printDocuments(textsOf(listIn(answer, 'processed')), printing(flags, format))
  const count = Number(member(answer, 'modifiedCount') ?? 0)
  process.stderr.write(`${count} document${count === 1 ? '' : 's'} ${DONE[operation]}\n`)
  failOnDocuments(answer)
}

const DONE = { insert: 'inserted', update: 'changed', delete: 'deleted' } as const

function listIn(answer: Json, name: string): readonly Json[] {
  const list = member(answer, name)
  return isArray(list) ? list : []
}

function textsOf(documents: readonly Json[]): readonly string[] {
  return documents.map((each) => JSON.stringify(each))
}
