/** The real service behind the real server, on a free port and a fresh place, spoken to over real sockets. */
import assert from 'node:assert/strict'
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { flushCompileCache } from 'node:module'
import { connect } from 'node:net'
import type { Json } from '../../src/base/json/json.ts'
import { once } from '../../src/base/memo.ts'
import { DEFAULT_LIMITS, type Limits } from '../../src/base/limits.ts'
import { openMode } from '../../src/auth/open.ts'
import { type Compatibility, formFor } from '../../src/http/compatibility.ts'
import { logTo } from '../../src/http/observe/log.ts'
import { createMetrics } from '../../src/http/observe/metrics.ts'
import { startServer } from '../../src/http/server.ts'
import type { Authentication } from '../../src/auth/authentication.ts'
import type { OidcSettings } from '../../src/auth/settings.ts'
import { assertDocumented } from './openapi-answers.ts'
import { type Definition, type TestServiceOptions, metadataDocument, openServiceAt } from './service.ts'
import { type Place, reusedPlace } from './store-kind.ts'

export interface TestServer extends AsyncDisposable {
  readonly port: number
  /** Where its documents are. */
  readonly location: string
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Answer>
  /** Sends bytes as they are and returns everything that comes back until the connection closes. */
  readonly raw: (...parts: readonly (string | Buffer)[]) => Promise<string>
  /** Creates version 1.0.0 of an entity, open to anyone unless `more` says otherwise. */
  readonly define: (entity: string, fields: Json, more?: Definition) => Promise<void>
  /** What went wrong on our side since the start: lines of the log, and faults inside bulks. */
  readonly faults: () => readonly string[]
  /** What was ignored in requests. */
  readonly warnings: () => readonly string[]
}

export interface Ask {
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: Json | Buffer
  readonly roles?: readonly string[]
  readonly headers?: Readonly<Record<string, string | string[]>>
  /** Fails when no answer has come after so long. */
  readonly stallMs?: number
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly json: any
}

interface ServerSettings extends Pick<TestServiceOptions, 'events' | 'now'> {
  readonly limits?: Partial<Limits>
  /** Where its documents are; somewhere fresh, and gone with the server, when absent. */
  readonly location?: string
  /** Open to everybody when absent. */
  readonly auth?: Authentication
  /** How users of the page sign in; by pasting a token only when absent. */
  readonly oidc?: OidcSettings
  /** Bodies larger than this are left to threads; the usual sizes when absent. */
  readonly inlineBodyBytes?: number
  /** Our own form when absent. */
  readonly compatibility?: Compatibility
}

export async function startTestServer(options: ServerSettings = {}): Promise<TestServer> {
  const place = options.location === undefined ? await reusedPlace() : keptPlace(options.location)
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const faults: string[] = []
  const note = (line: string): void => void faults.push(line)
  const onInternalError = (error: unknown): void =>
    note(error instanceof Error ? error.stack! : String(error))
  const { events, now, compatibility } = options
  const warnings: string[] = []
  const chosen = { ...(events && { events }), ...(now && { now }) }
  const metrics = createMetrics()
  const { sinks: sinkMeter } = metrics
  // a clock of the test's own would not be known to other threads
  const offloads = now === undefined
  const form = formFor(compatibility, (message) => void warnings.push(message))
  const open = { limits, onInternalError, sinkMeter, offloads, form, ...chosen }
  const service = await openServiceAt(place.location, open)
  const server = await startServer({
    service,
    limits,
    auth: options.auth ?? openMode(),
    log: logTo({ write: note }, 'error'),
    metrics,
    host: '127.0.0.1',
    port: 0,
    // a machine busy with other tests is no reason to turn these away
    compatibility,
    oidc: options.oidc,
    overload: { isOverloaded: () => false, close: () => undefined },
    ...(offloads && { threads: threadsFor(place, options) }),
  })
  const { port } = server
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const ask: TestServer['ask'] = async (method, path, ask = {}) => {
    const answer = await askServer({ port, agent }, method, path, ask)
    // Lightblue's answers differ from ours
    if (compatibility === undefined) assertDocumented(method, path, answer)
    return answer
  }
  return {
    port,
    location: place.location,
    ask,
    raw: (...parts) => raw(port, parts),
    async define(entity, fields, more = {}) {
      const body = metadataDocument(entity, fields, more)
      const answer = await ask('PUT', `/metadata/${entity}/1.0.0`, { body })
      assert.equal(answer.status, 200, answer.text)
    },
    faults: () => faults,
    warnings: () => warnings,
    async [Symbol.asyncDispose]() {
      agent.destroy()
      await server.close()
      await service[Symbol.asyncDispose]()
      await place[Symbol.asyncDispose]()
    },
  }
}

/** Otherwise modules are there for other threads and processes only when this process ends, and they compile them again. */
const shareCompiled = once(flushCompileCache)

function threadsFor({ location }: Place, { inlineBodyBytes }: ServerSettings) {
  shareCompiled()
  const datasources = [{ name: 'default', location }]
  return inlineBodyBytes === undefined ? { datasources } : { datasources, inlineBodyBytes }
}

/** Whoever made it does away with it. */
function keptPlace(location: string): Place {
  return { location, [Symbol.asyncDispose]: async () => undefined }
}

interface Peer {
  readonly port: number
  readonly agent?: Agent
}

export function askServer(
  { port, agent }: Peer,
  method: string,
  path: string,
  { body, roles, headers = {}, stallMs = 60_000 }: Ask,
): Promise<Answer> {
  const bytes = bytesOf(body)
  const named = { ...(roles && { 'Smalt-Roles': roles.join(', ') }), ...lengthOf(bytes), ...headers }
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port, method, path, headers: named, agent: agent ?? false },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => resolve(answerOf(response.statusCode!, response.headers, chunks)))
      },
    )
    outgoing.setTimeout(stallMs, () => outgoing.destroy(new Error(`no answer: ${method} ${path}`)))
    outgoing.on('error', reject)
    outgoing.end(bytes)
  })
}

function answerOf(status: number, headers: IncomingHttpHeaders, chunks: readonly Buffer[]): Answer {
  const text = Buffer.concat(chunks).toString()
  return {
    status,
    headers,
    text,
    get json() {
      return JSON.parse(text)
    },
  }
}

function bytesOf(body: Json | Buffer | undefined): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}

/** Node leaves the length out where a body is unusual, such as with GET. */
function lengthOf(bytes: Buffer | undefined): Record<string, string> {
  return bytes === undefined ? {} : { 'Content-Length': String(bytes.length) }
}

function raw(port: number, parts: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
    })
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer')))
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
