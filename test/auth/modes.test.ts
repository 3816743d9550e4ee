import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type ProxySettings, type JwtSettings } from '../../src/auth/settings.ts'
import { addToken } from '../../src/auth/token-file.ts'
import type { Ask } from '../support/server.ts'
import { type AuthServer, bearer, scratch, startAuthServer } from './harness.ts'
import { AUDIENCE, type Issuer, makeKey, sign, startIssuer } from './issuer.ts'

const SECRET = 'correct horse battery'
const PROXY: ProxySettings = {
  secret: SECRET,
  addresses: [],
  headers: { secret: 'x-secret', principal: 'x-user' },
}
const folder = scratch()
let issuer: Issuer
let server: AuthServer
let token = ''
let jwt = ''
before(async () => {
  const key = await makeKey('k')
  issuer = await startIssuer(key)
  const file = folder.path('tokens.json')
  token = (await addToken(file, { principal: 'by token', roles: [] })).token
  jwt = await sign(issuer, key, { sub: 'by jwt' })
  const settings: JwtSettings = {
    issuer: issuer.url,
    audience: [AUDIENCE],
    jwksUrl: issuer.jwksUrl,
    algorithms: ['ES256'],
    leewaySeconds: 0,
    rolesClaim: ['roles'],
    principalClaim: 'sub',
    cooldownSeconds: 60,
  }
  server = await startAuthServer({ tokens: { file }, jwt: settings, proxy: PROXY })
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

type Headers = NonNullable<Ask['headers']>

const VOUCHED: Headers = { 'X-User': 'by proxy', 'X-Secret': SECRET }

const CASES: readonly [rule: string, headers: () => Headers, who: string | number][] = [
  ['a token is known by its form', () => bearer(token), 'by token'],
  ['a JWT is known by its form', () => bearer(jwt), 'by jwt'],
  ['the proxy says who asks', () => VOUCHED, 'by proxy'],
  ['the proxy comes before the token', () => ({ ...VOUCHED, ...bearer(token) }), 'by proxy'],
  [
    'a proxy that names nobody leaves it to the token',
    () => ({ 'X-Secret': SECRET, ...bearer(token) }),
    'by token',
  ],
  [
    'a wrong secret is not made up for by a token',
    () => ({ ...VOUCHED, 'X-Secret': 'x', ...bearer(token) }),
    401,
  ],
  ['a name without the secret is not made up for by a JWT', () => ({ 'X-User': 'eve', ...bearer(jwt) }), 401],
  ['a wrong token is not tried as JWT', () => bearer(`smalt_${jwt}`), 401],
  ['a wrong JWT is not tried as token', () => bearer(`x${token}`), 401],
  ['nothing is nobody', () => ({}), 401],
]
for (const [rule, headers, who] of CASES) {
  test(`modes: ${rule}`, async () => {
    const found = await server.who(headers())
    assert.equal(typeof found === 'number' ? found : found.principal, who)
  })
}

test('modes: what no mode takes is 401 and says so', async () => {
  await using only = await startAuthServer({ proxy: PROXY })
  // without tokens or JWT the header Authorization says nothing
  assert.equal(await only.who(bearer(token)), 401)
  assert.deepEqual(await only.who({ ...VOUCHED, ...bearer('x') }), { principal: 'by proxy', roles: [] })
})
