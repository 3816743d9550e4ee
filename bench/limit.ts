/**
 * What Smalt is measured against: the least that could answer the same requests with the same bytes. Node's own HTTP
 * server, the same file with the same settings, the same prepared statements, and nothing in between.
 */
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { uuidV7 } from '../src/base/uuid.ts'
import { openConnection } from '../src/store/sqlite/connection.ts'
import { ENTITY } from './documents.ts'

/** The statements of Smalt itself, as its explain tells them. */
export interface Statements {
  readonly table: string
  readonly page: string
  readonly count: string
}

type Row = readonly [id: string, version: number, text: string]

interface Body {
  readonly query: { readonly field: string; readonly rvalue: string }
  readonly data: Readonly<Record<string, unknown>> | readonly Readonly<Record<string, unknown>>[]
}

const [directory = '', statements = ''] = process.argv.slice(2)
const { table, page, count } = JSON.parse(statements) as Statements
const { database } = openConnection(directory)
const findOne = prepared(`select id, version, doc from ${table} where id = ?`)
const findPage = prepared(page)
const countAll = prepared(count)
const insert = prepared(`insert into ${table}(id, version, doc) values (?, ?, ?)`)
const begin = prepared('begin immediate')
const commit = prepared('commit')
let version = Date.now() * 1_000

const server = createServer((request, response) => {
  const url = request.url!
  if (url === '/health') return send(response, '{"status":"up"}')
  if (request.method === 'GET') return send(response, foundOne(url.slice(url.indexOf('_id:') + 4)))
  return read(request, (text) => {
    const { query, data } = JSON.parse(text) as Body
    if (request.method === 'PUT') send(response, inserted(data))
    else send(response, query.field === '_id' ? foundOne(query.rvalue) : foundPage(query.rvalue))
  })
})
server.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`{"api":"http://127.0.0.1:${port}"}\n`)
})
process.on('SIGTERM', () => process.exit())

function prepared(text: string) {
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  return statement
}

function foundOne(id: string): string {
  const row = findOne.get(id) as unknown as Row
  return answer([row[2]], [versionOf(row[0], row[1])], 0, 1)
}

function foundPage(value: string): string {
  const rows = findPage.all(value, 100, 0) as unknown as readonly Row[]
  const [matchCount] = countAll.get(value) as unknown as readonly [number]
  const versions = rows.map((row) => versionOf(row[0], row[1]))
  return answer(
    rows.map((row) => row[2]),
    versions,
    0,
    matchCount,
  )
}

function inserted(data: Body['data']): string {
  const at = ++version
  if (!Array.isArray(data)) return answer(['{}'], [insertOne(data as Record<string, unknown>, at)], 1, 0)
  begin.run()
  const versions = data.map((each: Record<string, unknown>) => insertOne(each, at))
  commit.run()
  return answer(
    data.map(() => '{}'),
    versions,
    data.length,
    0,
  )
}

function insertOne(document: Record<string, unknown>, at: number): string {
  const id = uuidV7(Date.now())
  document['_id'] = id
  document['objectType'] = ENTITY
  insert.run(id, at, JSON.stringify(document))
  return versionOf(id, at)
}

function versionOf(id: string, at: number): string {
  return `{"documentVersion":"${id}:${at}"}`
}

function answer(
  documents: readonly string[],
  versions: readonly string[],
  modifiedCount: number,
  matchCount: number,
): string {
  return (
    `{"entity":"${ENTITY}","entityVersion":"1.0.0","status":"COMPLETE","modifiedCount":${modifiedCount},` +
    `"matchCount":${matchCount},"processed":[${documents.join(',')}],"resultMetadata":[${versions.join(',')}]}`
  )
}

function read(request: IncomingMessage, take: (text: string) => void): void {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => take((chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)).toString()))
}

function send(response: ServerResponse, text: string): void {
  const length = Buffer.byteLength(text)
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(length)])
  response.end(text, length === text.length ? 'latin1' : 'utf8')
}
