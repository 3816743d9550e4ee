/** A service with documents to look at, and a browser that looks at it. What the browser complains about fails the test. */
import assert from 'node:assert/strict'
import { after, before } from 'node:test'
import type { BrowserContextOptions, Page } from 'playwright-core'
import type { Json } from '../../../src/base/json/json.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { newContext } from '../../support/shared-chromium.ts'

export interface Visit extends AsyncDisposable {
  readonly page: Page
  /** Violations of the policy, uncaught errors and errors on the console so far. */
  readonly complaints: readonly string[]
  readonly open: (path: string) => Promise<void>
}

export interface Site {
  readonly server: () => TestServer
  readonly visit: (options?: BrowserContextOptions) => Promise<Visit>
}

/** Registers hooks: one service for all tests of the suite. */
export function site(
  prepare: (server: TestServer) => Promise<void>,
  settings: Parameters<typeof startTestServer>[0] = {},
): Site {
  let server: TestServer | undefined
  before(async () => {
    server = await startTestServer(settings)
    await prepare(server)
  })
  after(() => server?.[Symbol.asyncDispose]())
  return {
    server: () => server!,
    visit: (options) => visitSite(server!.port, options),
  }
}

export async function visitSite(port: number, options: BrowserContextOptions = {}): Promise<Visit> {
  const context = await newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(20_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    // the browser logs every refusal of the service as an error; those are part of what is tested
    const isRefusal = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isRefusal) complaints.push(`console: ${message.text()}`)
  })
  return {
    page,
    complaints,
    async open(path) {
      await page.goto(`http://127.0.0.1:${port}/ui${path}`)
    },
    async [Symbol.asyncDispose]() {
      await context.close()
      assert.deepEqual(complaints, [])
    },
  }
}

export async function insert(server: TestServer, entity: string, data: readonly Json[]): Promise<void> {
  const answer = await server.ask('PUT', `/data/insert/${entity}`, { body: { data }, roles: ['hr', 'admin'] })
  assert.equal(answer.json.modifiedCount, data.length, answer.text)
}
