/** A server with some modes of authentication on a real socket; its service returns the caller of each request. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthentication } from '../../../src/auth/create.ts'
import type { AuthSettings } from '../../../src/auth/settings.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import { startServer } from '../../../src/http/server.ts'
import type { DataService } from '../../../src/service/service.ts'
import { fakeService } from '../http/fake-service.ts'
import { type Answer, type Ask, askServer } from '../../support/server.ts'

export interface AuthServer extends AsyncDisposable {
  readonly port: number
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Answer>
  /** Sends a find: the caller that the service received, or the status of a failure. */
  readonly who: (headers: Ask['headers']) => Promise<Who | number>
  /** Files and keys that could not be read or fetched since the start. */
  readonly problems: readonly unknown[]
}

export interface Who {
  readonly principal: string
  readonly roles: readonly string[]
}

export type ServerSettings = Omit<Partial<Parameters<typeof startServer>[0]>, 'service' | 'auth'> & {
  readonly stream?: DataService['stream']
  readonly bulkInParts?: DataService['bulkInParts']
}

export async function startAuthServer(
  settings: Partial<AuthSettings>,
  { stream, bulkInParts, ...options }: ServerSettings = {},
): Promise<AuthServer> {
  const problems: unknown[] = []
  const none = { isOpen: false, hasCertificates: false, permissions: {}, origins: options.origins ?? [] }
  const auth = await createAuthentication({ ...none, ...settings }, (problem) => void problems.push(problem))
  const fake = fakeService()
  const service = {
    ...fake,
    data: { ...fake.data, ...(stream && { stream }), ...(bulkInParts && { bulkInParts }) },
  }
  const server = await startServer({
    service,
    auth,
    limits: DEFAULT_LIMITS,
    log: logTo({ write: () => undefined }, 'silent'),
    metrics: createMetrics(),
    host: '127.0.0.1',
    port: 0,
    overload: { isOverloaded: () => false, close: () => undefined },
    ...options,
  })
  const { port } = server
  const ask = (method: string, path: string, ask: Ask = {}) => askServer({ port }, method, path, ask)
  return {
    port,
    ask,
    async who(headers = {}) {
      const answer = await ask('POST', '/data/find/x', { headers })
      if (answer.status !== 200) return answer.status
      const { principal, roles } = answer.json.processed[0]
      return { principal, roles }
    },
    problems,
    [Symbol.asyncDispose]: () => server.close(),
  }
}

export function bearer(token: string): NonNullable<Ask['headers']> {
  return { Authorization: `Bearer ${token}` }
}

export interface Scratch extends Disposable {
  readonly path: (name: string) => string
}

export function scratch(): Scratch {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-auth-'))
  return {
    path: (name) => join(directory, name),
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  }
}

/** For effects that are promised within a second; longer, because the machine may be busy. */
export const SOON_MS = 15_000

/** Repeats the check until it is true; fails after the time limit. */
export async function eventually(
  check: () => boolean | Promise<boolean>,
  what: string,
  withinMs: number = 60_000,
): Promise<void> {
  for (const deadline = Date.now() + withinMs; !(await check());) {
    if (Date.now() > deadline) throw new Error(`never happened: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
