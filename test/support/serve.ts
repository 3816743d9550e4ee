/** A whole service behind a real server, for tests of what only HTTP shows. */
import { request } from 'node:http'
import { type Json, parseTrusted } from '../../src/base/json.ts'
import { DEFAULT_LIMITS } from '../../src/base/limits.ts'
import { openMode } from '../../src/http/credentials.ts'
import { logTo } from '../../src/http/log.ts'
import { createMetrics } from '../../src/http/metrics.ts'
import { startServer } from '../../src/http/server.ts'
import type { Service } from '../../src/service/service.ts'

export interface Served extends AsyncDisposable {
  /** Status and body; the body sent, if any, is JSON. */
  ask(
    method: string,
    path: string,
    options?: { body?: Json; roles?: string },
  ): Promise<readonly [number, Json]>
}

export async function serve(service: Service): Promise<Served> {
  const server = await startServer({
    service,
    limits: DEFAULT_LIMITS,
    auth: openMode(),
    log: logTo({ write: () => undefined }, 'error'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
  })
  return {
    ask: (method, path, { body, roles = '' } = {}) =>
      new Promise((resolve, reject) => {
        const headers = { 'Smalt-Roles': roles }
        const to = { host: '127.0.0.1', port: server.port, method, path, headers, agent: false }
        const outgoing = request(to, (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () =>
            resolve([response.statusCode ?? 0, parseTrusted(Buffer.concat(chunks).toString())]),
          )
        })
        outgoing.on('error', reject)
        outgoing.end(body === undefined ? undefined : JSON.stringify(body))
      }),
    [Symbol.asyncDispose]: () => server.close(),
  }
}
