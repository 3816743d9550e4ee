/** A real Smalt process with a heartbeat inside: asked over real sockets, measured from within, ended whatever happens. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import type { Duplex } from 'node:stream'
import { createInterface } from 'node:readline'
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import packageJson from '../../../package.json' with { type: 'json' }
import { rowsOf } from '../../support/postgres.ts'
import { type Definition, metadataDocument } from '../../support/service.ts'
import { freshPlace } from '../../support/store-kind.ts'
import { type Outcome, type Sent, createClient, headersOf } from './client.ts'
import type { Figures } from './heartbeat-thread.ts'
import { PROGRAM } from '../../support/program.ts'

export interface WatchedService extends AsyncDisposable {
  readonly kind: StoreKind
  readonly location: string
  readonly port: number
  readonly pid: number
  readonly isAlive: () => boolean
  /** Never fails: where no answer comes in time, the status is 0. */
  readonly ask: (method: string, path: string, sent?: Sent) => Promise<Outcome>
  /** Sends a request and reads nothing of the answer. */
  readonly open: (method: string, path: string, sent?: Sent) => Promise<Socket>
  /** Version 1.0.0 of an entity, open to anyone unless `more` says otherwise. */
  readonly define: (entity: string, fields: Json, more?: Definition) => Promise<void>
  /** Stores documents in portions of a size that a body may have. */
  readonly store: (entity: string, documents: readonly JsonObject[]) => Promise<void>
  /** Begins a new interval. */
  readonly reset: () => Promise<Figures>
  /** What the interval showed so far. */
  readonly read: () => Promise<Figures>
  /** The same, after a garbage collection. */
  readonly collect: () => Promise<Figures>
  /** Lines of the log that tell of a fault of the service, and how it ended if it did. */
  readonly faults: () => readonly string[]
}

export interface WatchedOptions {
  /** Variables, such as `SMALT_LIMITS_QUERY_TIME_MS`. */
  readonly env?: Readonly<Record<string, string>>
  readonly heapMb?: number
}

/** Flags of Node.js with which `npm start` runs the service. */
const START_FLAGS = packageJson.scripts.start.split(' ').filter((word) => word.startsWith('--'))
const HEARTBEAT = new URL('./heartbeat.ts', import.meta.url).href
const START_MS = 30_000

export async function startWatched(kind: StoreKind, options: WatchedOptions = {}): Promise<WatchedService> {
  await using opened = new AsyncDisposableStack()
  const { location } = opened.use(await freshPlace(kind))
  const child = launch(kind === 'sqlite' ? location : withName(location), options)
  const ended = once(child, 'close')
  opened.defer(async () => {
    child.kill('SIGKILL')
    await ended
    if (kind === 'postgres') await endStatements(location)
  })
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null
  const faults: string[] = []
  child.stderr!.on('data', (chunk) => faults.push(String(chunk).trim()))
  void ended.then(() => faults.push(`ended with ${child.signalCode ?? child.exitCode}`))
  const port = await Promise.race([
    listening(child, faults),
    ended.then(() => Promise.reject(new Error(`it ended at once: ${faults.join('\n')}`))),
    failAfter(START_MS, 'the service does not listen'),
  ])
  const client = createClient(port)
  opened.defer(() => client.close())
  const question = createQuestions(child)
  const owned = opened.move()
  const sound = async (method: string, path: string, body: Json, attempts = 5): Promise<void> => {
    const { status, text, code } = await client.ask(method, path, { body, withinMs: 60_000 })
    // limits that are small on purpose, on a machine that is busy: nothing was written
    if (attempts > 1 && (status === 503 || code === 'store-crud:Timeout')) {
      return await sound(method, path, body, attempts - 1)
    }
    if (status !== 200 || text.includes('"errorCode"')) {
      throw new Error(`${method} ${path} is ${status}: ${text.slice(0, 500)} ${faults.join('\n')}`)
    }
  }
  return {
    kind,
    location,
    port,
    pid: child.pid!,
    isAlive,
    ask: client.ask,
    open: (method, path, sent = {}) => openUnread(port, `${method} ${path}`, sent),
    async define(entity, fields, { info, schema } = {}) {
      const chosen = { info: { datastore: { backend: kind }, ...info }, ...(schema && { schema }) }
      await sound('PUT', `/metadata/${entity}/1.0.0`, metadataDocument(entity, fields, chosen))
    },
    async store(entity, documents) {
      for (const data of portions(documents)) await sound('PUT', `/data/insert/${entity}`, { data })
    },
    reset: () => question('reset'),
    read: () => question('read'),
    collect: () => question('collect'),
    faults: () => faults,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  }
}

/** A server that lost its client goes on with what it was asked, and would keep the schema from being dropped. */
async function endStatements(location: string): Promise<void> {
  await rowsOf(
    location,
    (schema) =>
      `select pg_terminate_backend(pid, 5000) from pg_stat_activity where application_name = '${schema}'`,
  )
}

/** Connections of this service bear the name of its schema, so that they can be counted. */
function withName(location: string): string {
  const url = new URL(location)
  url.searchParams.set('application_name', url.searchParams.get('schema')!)
  return url.href
}

function launch(location: string, { env = {}, heapMb = 1_024 }: WatchedOptions): ChildProcess {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('SMALT_'))
  const flags = ['--expose-gc', ...START_FLAGS, `--max-old-space-size=${heapMb}`, '--import', HEARTBEAT]
  return spawn(process.execPath, [...flags, PROGRAM, '--store', location, '--port', '0'], {
    env: { ...Object.fromEntries(inherited), ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    // A session of its own, as a service has: Linux shares the processors between sessions, and each backend of PostgreSQL
    // has one, too.
    detached: true,
  })
}

/** The log must go on being read, or the pipe fills up and stops the process. */
function listening(child: ChildProcess, faults: string[]): Promise<number> {
  return new Promise((resolve) => {
    createInterface({ input: child.stdout! }).on('line', (text) => {
      const line = JSON.parse(text) as {
        readonly level: string
        readonly msg?: string
        readonly api?: string
      }
      if (line.level === 'error' || line.level === 'fatal') faults.push(text.slice(0, 1_000))
      if (line.msg === 'listening') resolve(Number(new URL(line.api!).port))
    })
  })
}

/** Where the process has ended, the figures are those before. */
function createQuestions(child: ChildProcess): (line: string) => Promise<Figures> {
  const wire = child.stdio[3] as Duplex
  const waiting: ((figures: Figures) => void)[] = []
  let known: Figures = {
    pauseMs: 0,
    ownPauseMs: 0,
    pauseEndedMs: 0,
    starvedMs: 0,
    rssMb: 0,
    peakRssMb: 0,
    heapMb: 0,
    cpuMs: 0,
  }
  let isOver = false
  wire.on('error', () => undefined)
  createInterface({ input: wire }).on('line', (line) => {
    known = JSON.parse(line) as Figures
    waiting.shift()?.(known)
  })
  child.on('close', () => {
    isOver = true
    for (const resolve of waiting.splice(0)) resolve(known)
  })
  return (line) =>
    new Promise((resolve) => {
      if (isOver) return resolve(known)
      waiting.push(resolve)
      wire.write(`${line}\n`)
    })
}

async function openUnread(port: number, line: string, { body, ...sent }: Sent): Promise<Socket> {
  const bytes = Buffer.from(body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body))
  const length = sent.isUnfinished ? {} : { 'Content-Length': String(bytes.length) }
  const headers = { Host: `127.0.0.1:${port}`, ...headersOf(sent), ...length }
  const socket = connect(port, '127.0.0.1')
  socket.on('error', () => undefined)
  await once(socket, 'connect')
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`${line} HTTP/1.1\r\n${lines.join('')}\r\n`)
  socket.write(bytes)
  return socket
}

const PORTION_CHARACTERS = 4_000_000

function* portions(documents: readonly JsonObject[]): Iterable<readonly JsonObject[]> {
  let portion: JsonObject[] = []
  let size = 0
  for (const document of documents) {
    portion.push(document)
    size += JSON.stringify(document).length
    if (size < PORTION_CHARACTERS && portion.length < 5_000) continue
    yield portion
    portion = []
    size = 0
  }
  if (portion.length > 0) yield portion
}

function failAfter(ms: number, message: string): Promise<never> {
  return new Promise((_, reject) => {
    setTimeout(() => reject(new Error(message)), ms).unref()
  })
}
