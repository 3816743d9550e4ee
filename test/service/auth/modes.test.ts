/** Several modes of authentication together: which one applies, and that none replaces another one that failed. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { ProxySettings } from '../../../src/auth/settings.ts'
import { addToken } from '../../../src/auth/token-file.ts'
import type { Ask } from '../../support/server.ts'
import { type AuthServer, bearer, scratch, startAuthServer } from './harness.ts'
import { type Issuer, makeKey, settingsFor, sign, startIssuer } from './issuer.ts'

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
  const settings = settingsFor(issuer)
  server = await startAuthServer({ tokens: { file }, jwt: settings, proxy: PROXY })
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

type Headers = NonNullable<Ask['headers']>

const PROXY_HEADERS: Headers = { 'X-User': 'by proxy', 'X-Secret': SECRET }

const CASES: readonly [rule: string, headers: () => Headers, who: string | number][] = [
  ['a token is recognized by its form', () => bearer(token), 'by token'],
  ['a JWT is recognized by its form', () => bearer(jwt), 'by jwt'],
  ['the headers of the proxy name the caller', () => PROXY_HEADERS, 'by proxy'],
  ['the proxy comes before the token', () => ({ ...PROXY_HEADERS, ...bearer(token) }), 'by proxy'],
  [
    'a proxy that names nobody leaves it to the token',
    () => ({ 'X-Secret': SECRET, ...bearer(token) }),
    'by token',
  ],
  [
    'a wrong secret is not made up for by a token',
    () => ({ ...PROXY_HEADERS, 'X-Secret': 'x', ...bearer(token) }),
    401,
  ],
  [
    'a principal header without the secret is 401, even with a JWT',
    () => ({ 'X-User': 'eve', ...bearer(jwt) }),
    401,
  ],
  ['a wrong token is not tried as JWT', () => bearer(`smalt_${jwt}`), 401],
  ['a wrong JWT is not tried as token', () => bearer(`x${token}`), 401],
  ['no credentials are 401', () => ({}), 401],
]
for (const [rule, headers, who] of CASES) {
  test(`modes: ${rule}`, async () => {
    const found = await server.who(headers())
    assert.equal(typeof found === 'number' ? found : found.principal, who)
  })
}

test('modes: credentials that no mode accepts are 401 with a message', async () => {
  await using only = await startAuthServer({ proxy: PROXY })
  // without tokens or JWT the header Authorization is ignored
  assert.equal(await only.who(bearer(token)), 401)
  assert.deepEqual(await only.who({ ...PROXY_HEADERS, ...bearer('x') }), { principal: 'by proxy', roles: [] })
})

test('modes: a 401 says what to send, where a token is accepted', async () => {
  const message = async (each: AuthServer, headers: Headers) =>
    (await each.ask('POST', '/data/find/country', { headers })).json.errors[0].msg
  assert.equal(
    await message(server, {}),
    'this needs credentials: send the header Authorization: Bearer TOKEN',
  )
  await using byProxy = await startAuthServer({ proxy: PROXY })
  assert.equal(await message(byProxy, {}), 'this needs credentials')
  const file = folder.path('tokens.json')
  await using byToken = await startAuthServer({ tokens: { file } })
  assert.equal(
    await message(byToken, bearer(jwt)),
    'tokens of this kind are not accepted here; tokens of smalt token add are, which begin with smalt_',
  )
})
