/** Starts a server on a free port and speaks to it over real sockets. */
import { request } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { DEFAULT_LIMITS, type Limits } from '../../../src/base/limits.ts'
import type { OidcSettings } from '../../../src/auth/settings.ts'
import { openMode } from '../../../src/auth/open.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import type { Overload } from '../../../src/http/observe/overload.ts'
import { type RunningServer, startServer } from '../../../src/http/server.ts'
import { type FakeService, fakeService } from './fake-service.ts'

export interface Harness extends AsyncDisposable {
  readonly port: number
  readonly service: FakeService
  readonly server: RunningServer
  readonly lines: () => readonly Record<string, unknown>[]
  readonly ask: (method: string, path: string, options?: Ask) => Promise<Answer>
  /** Sends bytes as they are and returns everything that comes back until the connection closes. */
  readonly raw: (...parts: readonly (string | Buffer)[]) => Promise<string>
}

export interface Ask {
  readonly body?: string | Buffer
  readonly headers?: Readonly<Record<string, string | string[]>>
}

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly json: () => any
}

export async function start(
  options: { limits?: Partial<Limits>; overload?: Overload; isUiEnabled?: boolean; oidc?: OidcSettings } = {},
): Promise<Harness> {
  const service = fakeService()
  const written: string[] = []
  const server = await startServer({
    service,
    limits: { ...DEFAULT_LIMITS, ...options.limits },
    auth: openMode(),
    log: logTo({ write: (line) => void written.push(line) }, 'debug'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
    ...(options.overload ? { overload: options.overload } : {}),
    ...(options.oidc && { oidc: options.oidc }),
    ...(options.isUiEnabled === undefined ? {} : { isUiEnabled: options.isUiEnabled }),
  })
  const { port } = server
  return {
    port,
    service,
    server,
    lines: () => written.map((line) => JSON.parse(line) as Record<string, unknown>),
    ask: (method, path, ask = {}) => ask1(port, method, path, ask),
    raw: (...parts) => raw(port, parts),
    [Symbol.asyncDispose]: () => server.close(),
  }
}

function ask1(port: number, method: string, path: string, { body, headers = {} }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          json: () => JSON.parse(text),
        })
      })
    })
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

function raw(port: number, parts: readonly (string | Buffer)[]): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = ''
    const socket = connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part)
    })
    socket.on('data', (chunk) => (received += chunk.toString()))
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}
