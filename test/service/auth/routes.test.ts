/** The access that every route requires. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PERMISSIONS, type Permission } from '../../../src/access/caller.ts'
import { addToken } from '../../../src/auth/token-file.ts'
import type { Route } from '../../../src/http/routes/route.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { type AuthServer, bearer, scratch, startAuthServer } from './harness.ts'

/** The routes that need no credentials, listed here so that a new one is a deliberate decision. */
const PUBLIC = [
  'GET /',
  'GET /health',
  'GET /data/health',
  'GET /metadata/health',
  'GET /ready',
  'GET /version',
  'GET /openapi.json',
  'GET /docs',
  'GET /ui',
  'GET /ui/settings',
  'GET /ui/assets/{file}',
  'GET /docs/guide',
  'GET /docs/guide/{page}',
  'GET /docs/guide/{section}/{page}',
]

function nameOf({ method, path }: Route): string {
  return `${method} ${path}`
}

/** A concrete path for the route. */
function addressOf({ path }: Route): string {
  return path.replaceAll(/\{\w+\}/g, 'x')
}

async function statusOf(server: AuthServer, route: Route, headers = {}): Promise<number> {
  const body = route.body ? { body: {} } : {}
  return (await server.ask(route.method, addressOf(route), { headers, ...body })).status
}

async function tokensFor(folder: { readonly path: (name: string) => string }) {
  const file = folder.path('tokens.json')
  const made = new Map<Permission | '', string>()
  for (const permission of ['', ...PERMISSIONS] as const) {
    const permissions = permission === '' ? [] : [permission]
    made.set(permission, (await addToken(file, { principal: 'p', roles: [], permissions })).token)
  }
  return { file, made }
}

test('routes: every one declares who may ask', () => {
  const rules = ['public', 'authenticated', ...PERMISSIONS]
  assert.deepEqual(ROUTES.filter(({ access }) => !rules.includes(access)).map(nameOf), [])
  assert.deepEqual(ROUTES.filter(({ access }) => access === 'public').map(nameOf), PUBLIC)
})

test('routes: all of /metadata needs a permission, all of /data and /documents a caller', () => {
  const inside = ROUTES.filter(({ tag }) => tag === 'data' || tag === 'documents' || tag === 'metadata')
  const loose = inside.filter(({ tag, access }) => (tag !== 'metadata') !== (access === 'authenticated'))
  assert.deepEqual(loose.map(nameOf), [])
})

test('routes: reading events needs a caller, managing sinks a permission', () => {
  const inside = ROUTES.filter(({ tag }) => tag === 'events')
  const loose = inside.filter(({ path, access }) => {
    const isReading = path === '/events' || path === '/events/stream'
    return access !== (isReading ? 'authenticated' : 'events.manage')
  })
  assert.deepEqual(loose.map(nameOf), [])
})

test('routes: each is 401 without credentials, but for the public ones', async () => {
  using folder = scratch()
  await using server = await startAuthServer({ tokens: { file: folder.path('tokens.json') } })
  for (const route of ROUTES) {
    for (const headers of [{}, { 'Smalt-Roles': 'admin' }]) {
      const isServed = (await statusOf(server, route, headers)) !== 401
      assert.equal(isServed, PUBLIC.includes(nameOf(route)), nameOf(route))
    }
  }
})

test('routes: below /rest and with HEAD the same rules hold', async () => {
  using folder = scratch()
  await using server = await startAuthServer({ tokens: { file: folder.path('tokens.json') } })
  for (const route of ROUTES) {
    const method = route.method === 'GET' ? 'HEAD' : route.method
    const { status } = await server.ask(method, `/rest${addressOf(route)}/`)
    assert.equal(status !== 401, PUBLIC.includes(nameOf(route)), nameOf(route))
  }
})

test('routes: each that needs a permission is 403 with all others, and served with it', async () => {
  using folder = scratch()
  const { file, made } = await tokensFor(folder)
  await using server = await startAuthServer({ tokens: { file } })
  for (const route of ROUTES.filter(({ tag }) => tag === 'metadata')) {
    for (const [permission, token] of made) {
      const isDenied = (await statusOf(server, route, bearer(token))) === 403
      assert.equal(isDenied, route.access !== permission, `${nameOf(route)} with ${permission}`)
    }
  }
})

test('routes: /metrics is public if it is configured so', async () => {
  using folder = scratch()
  const tokens = { file: folder.path('tokens.json') }
  await using open = await startAuthServer({ tokens }, { isMetricsPublic: true })
  assert.equal((await open.ask('GET', '/metrics')).status, 200)
  assert.equal((await open.ask('GET', '/metadata')).status, 401)
})
