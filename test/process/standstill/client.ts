/** A caller that is never kept waiting for longer than it allows, and keeps little of large answers. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import type { Json } from '../../../src/base/json/json.ts'

export interface Sent {
  /** Text and bytes go as they are, anything else as JSON. */
  readonly body?: Json | Buffer
  /** Who asks: every caller has a share of its own. */
  readonly caller?: string
  readonly roles?: readonly string[]
  readonly headers?: Readonly<Record<string, string>>
  readonly withinMs?: number
  /** The headers say themselves how much would come. */
  readonly isUnfinished?: boolean
}

export interface Outcome {
  /** 0 where no answer came in time, or the connection broke. */
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** The body, or the beginning of a large one. */
  readonly text: string
  /** The first error code in it. */
  readonly code: string | undefined
  readonly bytes: number
  readonly ms: number
}

export interface Client {
  readonly ask: (method: string, path: string, sent?: Sent) => Promise<Outcome>
  readonly close: () => void
}

/** Characters kept of an answer. */
const KEPT = 4 * 2 ** 20
const WITHIN_MS = 8_000

export function createClient(port: number): Client {
  const agent = new Agent({ keepAlive: true, maxSockets: 4_096 })
  return {
    ask: (method, path, sent = {}) => ask({ port, agent, method, path }, sent),
    close: () => agent.destroy(),
  }
}

export function headersOf({ caller, roles, headers }: Sent): Record<string, string> {
  return {
    ...(caller !== undefined && { 'Smalt-Principal': caller }),
    ...(roles && { 'Smalt-Roles': roles.join(', ') }),
    ...headers,
  }
}

interface Target {
  readonly port: number
  readonly agent: Agent
  readonly method: string
  readonly path: string
}

function ask({ port, agent, method, path }: Target, sent: Sent): Promise<Outcome> {
  const { body, withinMs = WITHIN_MS } = sent
  const bytes = bytesOf(body)
  const headers = { ...headersOf(sent), ...(bytes && { 'Content-Length': String(bytes.length) }) }
  const start = performance.now()
  return new Promise((resolve) => {
    const received = { status: 0, headers: {} as IncomingHttpHeaders, text: '', bytes: 0 }
    const finish = (status: number): void => {
      clearTimeout(timer)
      const code = /"errorCode":"([^"]+)"/.exec(received.text)?.[1]
      resolve({ ...received, status, code, ms: performance.now() - start })
    }
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent }, (response) => {
      received.headers = response.headers
      response.on('data', (chunk: Buffer) => {
        received.bytes += chunk.length
        if (received.text.length < KEPT) received.text += chunk.toString('latin1')
      })
      response.on('error', () => undefined)
      response.on('close', () => finish(response.complete ? response.statusCode! : 0))
    })
    const timer = setTimeout(() => outgoing.destroy(), withinMs)
    // an answer may come although the rest of a refused body could not be sent
    outgoing.on('error', () => setTimeout(() => finish(0), 50))
    outgoing.end(bytes)
  })
}

function bytesOf(body: Json | Buffer | undefined): Buffer | undefined {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))
}
