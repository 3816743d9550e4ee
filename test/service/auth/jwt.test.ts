/** JSON Web Tokens: claims, forged tokens, and the keys of the issuer. */
import assert from 'node:assert/strict'
import { createHmac, sign as signBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { KeyObject } from 'node:crypto'
import type { JwtSettings } from '../../../src/auth/settings.ts'
import type { DataService } from '../../../src/service/service.ts'
import { type AuthServer, SOON_MS, bearer, eventually, scratch, startAuthServer } from './harness.ts'
import {
  AUDIENCE,
  type Issuer,
  type SigningKey,
  encoded,
  makeKey,
  settingsFor,
  sign,
  startIssuer,
} from './issuer.ts'

const ANN = { principal: 'ann', roles: ['hr'] }
let first: SigningKey
let rsa: SigningKey
let issuer: Issuer
let server: AuthServer
before(async () => {
  first = await makeKey('first')
  rsa = await makeKey('rsa', 'RS256')
  issuer = await startIssuer(first, rsa)
  server = await start(issuer)
})
after(async () => {
  await server[Symbol.asyncDispose]()
  await issuer[Symbol.asyncDispose]()
})

function start(from: Issuer, more: Partial<JwtSettings> = {}): Promise<AuthServer> {
  return startAuthServer({ jwt: settingsFor(from, more), permissions: { 'metadata.find': ['hr'] } })
}

function seconds(fromNow: number): number {
  return Math.floor(Date.now() / 1_000) + fromNow
}

const SOUND: readonly [rule: string, claims: Record<string, unknown>, who: object][] = [
  ['a valid token', {}, ANN],
  ['one audience among others', { aud: ['x', AUDIENCE] }, ANN],
  ['roles as one text with spaces', { roles: 'hr  editor' }, { ...ANN, roles: ['hr', 'editor'] }],
  ['no roles', { roles: undefined }, { ...ANN, roles: [] }],
  ['an expiry within the leeway', { exp: seconds(-1) }, ANN],
  ['a beginning within the leeway', { nbf: seconds(2) }, ANN],
]
for (const [rule, claims, who] of SOUND) {
  test(`jwt: ${rule} makes the caller`, async () => {
    assert.deepEqual(await server.who(bearer(await sign(issuer, first, claims))), who)
  })
}

test('jwt: keys of several algorithms serve side by side', async () => {
  assert.deepEqual(await server.who(bearer(await sign(issuer, rsa))), ANN)
})

test('jwt: roles have the permissions that the configuration gives them', async () => {
  const [may, mayNot] = [await sign(issuer, first), await sign(issuer, first, { roles: ['x'] })]
  assert.equal((await server.ask('GET', '/metadata', { headers: bearer(may) })).status, 200)
  assert.equal((await server.ask('GET', '/metadata', { headers: bearer(mayNot) })).status, 403)
})

const CLAIMS: readonly [rule: string, claims: Record<string, unknown>][] = [
  ['another issuer', { iss: 'https://evil.example' }],
  ['an issuer with a space', { iss: 'SELF ' }],
  ['no issuer', { iss: undefined }],
  ['an issuer of another type', { iss: ['SELF'] }],
  ['another audience', { aud: 'other' }],
  ['no audience', { aud: undefined }],
  ['an audience of another type', { aud: { [AUDIENCE]: true } }],
  ['an audience with a correct prefix only', { aud: `${AUDIENCE}2` }],
  ['an audience with a space', { aud: ` ${AUDIENCE}` }],
  ['an expiry in the past', { exp: seconds(-60) }],
  ['no expiry', { exp: undefined }],
  ['an expiry that is text', { exp: '9999999999' }],
  ['an expiry that is null', { exp: null }],
  ['a beginning in the future', { nbf: seconds(60) }],
  ['no principal', { sub: undefined }],
  ['an empty principal', { sub: ' ' }],
  ['a principal of another type', { sub: { name: 'ann' } }],
  ['roles that are an object', { roles: { admin: true } }],
  ['roles that are a number', { roles: 1 }],
  ['roles that are true', { roles: true }],
  ['roles that are null', { roles: null }],
  ['roles of mixed types', { roles: ['hr', 1] }],
  ['roles inside roles', { roles: [['hr']] }],
]
for (const [rule, claims] of CLAIMS) {
  test(`jwt: ${rule} is 401`, async () => {
    const filled = JSON.parse(JSON.stringify(claims).replaceAll('SELF', issuer.url))
    for (const [name, value] of Object.entries(claims)) if (value === undefined) filled[name] = undefined
    const token = await sign(issuer, first, filled)
    assert.equal(await server.who(bearer(token)), 401)
  })
}

/** Header and payload of a token with valid claims. */
function parts(header: object, payload: object | string = {}): string {
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'eve', roles: ['admin'], exp: seconds(600) }
  return `${encoded(header)}.${encoded(typeof payload === 'string' ? payload : { ...claims, ...payload })}`
}

function hmac(text: string, secret: string): string {
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

const FORGED: readonly [rule: string, token: () => string | Promise<string>][] = [
  ['alg none', () => `${parts({ alg: 'none' })}.`],
  ['alg none with some signature', () => `${parts({ alg: 'none', kid: 'rsa' })}.AAAA`],
  ['alg NoNe', () => `${parts({ alg: 'NoNe' })}.AAAA`],
  ['no alg', () => `${parts({ kid: 'rsa' })}.AAAA`],
  ['the public key as the secret of HS256', () => hmac(parts({ alg: 'HS256', kid: 'rsa' }), rsa.publicPem)],
  [
    'the public key as the secret of HS256, without the line at its end',
    () => hmac(parts({ alg: 'HS256', kid: 'rsa' }), rsa.publicPem.trim()),
  ],
  [
    'the public key as JSON as the secret',
    () => hmac(parts({ alg: 'HS256' }), JSON.stringify(rsa.publicJwk)),
  ],
  ['an empty secret', () => hmac(parts({ alg: 'HS256', kid: 'rsa' }), ' ')],
  ['RS256 by another key', async () => sign(issuer, { ...(await makeKey('rsa', 'RS256')) })],
  ['a key of its own in the header', async () => ownKey()],
  [
    'a signature of nothing but zeros',
    () => `${parts({ alg: 'ES256', kid: 'first' })}.${encoded('\0'.repeat(64))}`,
  ],
  ['another payload with a valid signature', async () => swapped()],
  [
    'a header that must be understood',
    () => `${parts({ alg: 'ES256', kid: 'first', crit: ['x'], x: 1 })}.AAAA`,
  ],
  ['a kid that is a path', () => `${parts({ alg: 'ES256', kid: '../../dev/null' })}.AAAA`],
  ['a kid that is an object', () => `${parts({ alg: 'ES256', kid: {} })}.AAAA`],
  ['two parts', () => parts({ alg: 'ES256' })],
  ['five parts', () => `${parts({ alg: 'dir', enc: 'A256GCM' })}.a.b.c`],
  ['padding', async () => `${await sign(issuer, first)}=`],
  ['a header that is not JSON', () => `${encoded('x')}.${encoded({})}.AAAA`],
  ['a payload that is an array', () => signedText('[]')],
  ['a duplicate claim', () => signedText(twice())],
  ['a duplicate header member', () => signedText(sound(), '{"alg":"ES256","kid":"x","kid":"first"}')],
]
for (const [rule, token] of FORGED) {
  test(`jwt: ${rule} is 401`, async () => {
    assert.equal(await server.who(bearer(await token())), 401)
  })
}

function sound(): string {
  return JSON.stringify({ iss: issuer.url, aud: AUDIENCE, sub: 'ann', exp: seconds(600) })
}

function twice(): string {
  return `${sound().slice(0, -1)},"roles":["hr"],"roles":["admin"]}`
}

/** Any text, signed with the right key. */
function signedText(payload: string, header = '{"alg":"ES256","kid":"first"}'): string {
  const text = `${encoded(header)}.${encoded(payload)}`
  const key = { key: KeyObject.from(first.privateKey), dsaEncoding: 'ieee-p1363' } as const
  return `${text}.${signBytes('sha256', Buffer.from(text), key).toString('base64url')}`
}

async function ownKey(): Promise<string> {
  const own = await makeKey('own')
  const text = parts({ alg: 'ES256', jwk: own.publicJwk })
  const key = { key: KeyObject.from(own.privateKey), dsaEncoding: 'ieee-p1363' } as const
  return `${text}.${signBytes('sha256', Buffer.from(text), key).toString('base64url')}`
}

async function swapped(): Promise<string> {
  const [header, , signature] = (await sign(issuer, first)).split('.')
  return `${header}.${parts({}).split('.')[1]}.${signature}`
}

test('jwt: a text signed with the right key is accepted, so the forgeries above fail for the reason they name', async () => {
  const claims = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', exp: seconds(600), roles: ['hr'] }
  assert.deepEqual(await server.who(bearer(signedText(JSON.stringify(claims)))), ANN)
})

test('jwt: a token of more than 8 KiB is 401, whatever it holds', async () => {
  const token = await sign(issuer, first, { more: 'x'.repeat(8_000) })
  const answer = await server.ask('POST', '/data/find/x', { headers: bearer(token) })
  assert.equal(answer.status, 401)
  assert.match(answer.text, /longer than 8192 bytes/)
})

for (const space of [' ', '\t', '%20', '\u00a0']) {
  test(`jwt: ${JSON.stringify(space)} in the token is 401`, async () => {
    const token = await sign(issuer, first)
    assert.equal(await server.who(bearer(`${token.slice(0, 9)}${space}${token.slice(9)}`)), 401)
  })
}

test('jwt: an algorithm that is not listed is 401, though its key is known', async () => {
  await using strict = await start(issuer, { algorithms: ['RS256'] })
  assert.equal(await strict.who(bearer(await sign(issuer, first))), 401)
  assert.deepEqual(await strict.who(bearer(await sign(issuer, rsa))), ANN)
})

test('jwt: the roles are read from the configured path', async () => {
  await using nested = await start(issuer, { rolesClaim: ['realm_access', 'roles'], principalClaim: 'name' })
  const claims = { realm_access: { roles: ['a'] }, name: 'Ann', roles: ['b'] }
  assert.deepEqual(await nested.who(bearer(await sign(issuer, first, claims))), {
    principal: 'Ann',
    roles: ['a'],
  })
  const odd = { realm_access: 'a', name: 'Ann' }
  assert.equal(await nested.who(bearer(await sign(issuer, first, odd))), 401)
})

test('jwt: a cached token is refused after it expires', async () => {
  await using strict = await start(issuer, { leewaySeconds: 0 })
  const token = await sign(issuer, first, { exp: seconds(4) })
  assert.deepEqual(await strict.who(bearer(token)), ANN)
  await eventually(async () => (await strict.who(bearer(token))) === 401, 'it expires')
})

test('jwt: a stream ends when its token expires', async () => {
  const stream: DataService['stream'] = async (_caller, { getSignal }) =>
    (async function* () {
      yield '{"entity":"x","status":"COMPLETE"}'
      const gone = getSignal!()
      await new Promise((resolve) => gone.addEventListener('abort', resolve))
    })()
  await using strict = await startAuthServer({ jwt: settingsFor(issuer, { leewaySeconds: 0 }) }, { stream })
  const headers = bearer(await sign(issuer, first, { exp: seconds(5) }))
  const answer = await strict.ask('POST', '/data/find/x?stream=true', { headers, body: {} })
  assert.equal(answer.status, 200)
  assert.match(answer.text, /"last":true,"status":"ERROR".*crud:NoAccess/)
})

test('jwt: many callers at once fetch the keys once', async () => {
  await using own = await startIssuer(first)
  await using fresh = await start(own)
  const tokens = await Promise.all(Array.from({ length: 20 }, (_, i) => sign(own, first, { sub: `c${i}` })))
  const callers = await Promise.all(tokens.map((token) => fresh.who(bearer(token))))
  assert.ok(callers.every((caller) => typeof caller === 'object'))
  assert.equal(own.fetches, 1)
})

test('jwt: a new key of the issuer is fetched when a token names it', async () => {
  await using own = await startIssuer(first)
  await using fresh = await start(own, { cooldownSeconds: 0.05 })
  assert.deepEqual(await fresh.who(bearer(await sign(own, first))), ANN)
  const second = await makeKey('second')
  own.keys = [second]
  const token = await sign(own, second)
  await eventually(async () => (await fresh.who(bearer(token))) !== 401, 'the new key counts')
  // a removed key is no longer accepted for tokens that are not cached
  assert.equal(await fresh.who(bearer(await sign(own, first, { sub: 'late' }))), 401)
})

test('jwt: tokens with unknown keys cause no further fetches during the cooldown', async () => {
  await using own = await startIssuer(first)
  await using fresh = await start(own)
  assert.deepEqual(await fresh.who(bearer(await sign(own, first))), ANN)
  for (let i = 0; i < 20; i++) {
    const token = await sign(own, { ...first, kid: `unknown-${i}` })
    assert.equal(await fresh.who(bearer(token)), 401)
  }
  assert.equal(own.fetches, 1)
})

const BAD_RESPONSES: readonly [rule: string, answer: NonNullable<Issuer['answer']>][] = [
  ['500', { status: 500, text: '' }],
  ['text that is not JSON', { status: 200, text: '<html>' }],
  ['no keys', { status: 200, text: '{}' }],
  ['a redirect', { status: 302, headers: { Location: '/keys' }, text: '' }],
  [
    'a response that is too large',
    { status: 200, text: JSON.stringify({ keys: [], more: 'x'.repeat(2_000_000) }) },
  ],
]
for (const [rule, answer] of BAD_RESPONSES) {
  test(`jwt: 503 while the issuer sends ${rule}`, async () => {
    await using own = await startIssuer(first)
    own.answer = answer
    await using fresh = await start(own, { cooldownSeconds: 0.05 })
    const token = await sign(own, first)
    const refused = await fresh.ask('POST', '/data/find/x', { headers: bearer(token) })
    assert.equal(refused.status, 503)
    assert.equal(refused.headers['retry-after'], '1')
    assert.equal(fresh.problems.length, 1)
    own.answer = undefined
    await eventually(async () => (await fresh.who(bearer(token))) !== 503, 'the keys are there')
    assert.deepEqual(await fresh.who(bearer(token)), ANN)
  })
}

test('jwt: 503 while the issuer is down, which is not tried each time, and other callers are served', async () => {
  const own = await startIssuer(first)
  const token = await sign(own, first)
  await using fresh = await startAuthServer({ isOpen: true, jwt: settingsFor(own) })
  await own[Symbol.asyncDispose]()
  for (let i = 0; i < 5; i++) assert.equal(await fresh.who(bearer(token)), 503)
  assert.equal(fresh.problems.length, 1)
  assert.deepEqual(await fresh.who({ 'Smalt-Roles': 'a' }), { principal: '', roles: ['a'] })
})

test('jwt: cached keys are used while the issuer is down; tokens with other keys are 503', async () => {
  const own = await startIssuer(first)
  await using fresh = await start(own, { cooldownSeconds: 0.01 })
  assert.deepEqual(await fresh.who(bearer(await sign(own, first))), ANN)
  await own[Symbol.asyncDispose]()
  assert.deepEqual(await fresh.who(bearer(await sign(own, first, { sub: 'bob' }))), {
    principal: 'bob',
    roles: ['hr'],
  })
  const unknown = await sign(own, await makeKey('new'))
  await eventually(async () => (await fresh.who(bearer(unknown))) === 503, 'it fetches the key')
})

test('jwt: the discovery document names the URL of the keys', async () => {
  await using own = await startIssuer(first)
  const { jwksUrl: _url, ...settings } = settingsFor(own)
  await using fresh = await startAuthServer({ jwt: settings })
  assert.deepEqual(await fresh.who(bearer(await sign(own, first))), ANN)
})

const DISCOVERED: readonly [rule: string, document: Record<string, string>][] = [
  ['another issuer', { issuer: 'https://evil.example' }],
  ['keys over plain http on another host', { jwks_uri: 'http://example.com/keys' }],
  ['keys in a file', { jwks_uri: 'file:///etc/passwd' }],
]
for (const [rule, document] of DISCOVERED) {
  test(`jwt: a discovery document that names ${rule} is not followed`, async () => {
    await using own = await startIssuer(first)
    own.discovery = document
    const { jwksUrl: _url, ...settings } = settingsFor(own)
    await using fresh = await startAuthServer({ jwt: settings })
    assert.equal(await fresh.who(bearer(await sign(own, first))), 503)
    assert.equal(own.fetches, 0)
  })
}

test('jwt: keys may be read from a file', async () => {
  using folder = scratch()
  const jwksFile = folder.path('keys.json')
  writeFileSync(jwksFile, JSON.stringify({ keys: [first.publicJwk] }))
  const { jwksUrl: _url, ...settings } = settingsFor(issuer)
  await using fresh = await startAuthServer({ jwt: { ...settings, jwksFile } })
  assert.deepEqual(await fresh.who(bearer(await sign(issuer, first))), ANN)
})

test('jwt: a change of the key file takes effect soon, and a broken file leaves the keys as they are', async () => {
  using folder = scratch()
  const jwksFile = folder.path('keys.json')
  const { jwksUrl: _url, ...settings } = settingsFor(issuer)
  await using fresh = await startAuthServer({ jwt: { ...settings, jwksFile } })
  let asked = 0
  // another token each time, because a verified token is cached for a while
  const counts = async (key: SigningKey) =>
    typeof (await fresh.who(bearer(await sign(issuer, key, { sub: `c${asked++}` })))) === 'object'
  assert.equal(await fresh.who(bearer(await sign(issuer, first))), 503)
  writeFileSync(jwksFile, JSON.stringify({ keys: [first.publicJwk] }))
  await eventually(() => counts(first), 'the file is found', SOON_MS)
  const second = await makeKey('second')
  writeFileSync(jwksFile, JSON.stringify({ keys: [second.publicJwk] }))
  await eventually(() => counts(second), 'the new key counts', SOON_MS)
  assert.equal(await counts(first), false)
  writeFileSync(jwksFile, '{"keys":')
  await eventually(async () => (await counts(second)) && fresh.problems.length === 2, 'it is told', SOON_MS)
})
