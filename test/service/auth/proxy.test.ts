/** Identity headers of a reverse proxy: trust by secret or address, and parsing of certificate subjects. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseDistinguishedName } from '../../../src/auth/distinguished-name.ts'
import { namesIn } from '../../../src/auth/header.ts'
import type { ProxySettings } from '../../../src/auth/settings.ts'
import type { Ask } from '../../support/server.ts'
import { startAuthServer } from './harness.ts'

const SECRET = 'correct horse battery'
const ANN = { principal: 'ann', roles: ['hr', 'editor'] }
const IDENTITY = { 'X-User': 'ann', 'X-Groups': 'hr, editor' }

const BY_SECRET: ProxySettings = {
  secret: SECRET,
  addresses: [],
  headers: {
    secret: 'x-secret',
    principal: 'x-user',
    roles: 'x-groups',
    claims: 'x-claims',
    certificate: 'x-subject',
  },
}

test('proxy: the table of the configuration adds roles to the subject of a certificate', async () => {
  const certificateRoles = [{ subject: parseDistinguishedName('CN=ann,O=Example')!, roles: ['reader'] }]
  await using server = await startAuthServer({ proxy: BY_SECRET, certificateRoles })
  const ask = (subject: string) => server.who({ 'X-Subject': subject, 'X-Secret': SECRET })
  assert.deepEqual(await ask('CN=ann,OU=hr,O=Example'), { principal: 'ann', roles: ['hr', 'reader'] })
  assert.deepEqual(await ask('CN=ann,OU=hr,O=Other'), { principal: 'ann', roles: ['hr'] })
})

type Case = readonly [rule: string, headers: Ask['headers'], who: object | number]

const CASES: readonly Case[] = [
  ['headers with the secret are trusted', { ...IDENTITY, 'X-Secret': SECRET }, ANN],
  ['headers without the secret are 401', IDENTITY, 401],
  ['roles alone without the secret are 401', { 'X-Groups': 'admin' }, 401],
  ['a wrong secret is 401', { ...IDENTITY, 'X-Secret': `${SECRET}!` }, 401],
  ['a truncated secret is 401', { ...IDENTITY, 'X-Secret': SECRET.slice(0, -1) }, 401],
  ['an empty secret is 401', { ...IDENTITY, 'X-Secret': '' }, 401],
  ['a wrong secret without other headers is 401', { 'X-Secret': 'x' }, 401],
  ['the secret alone is 401', { 'X-Secret': SECRET }, 401],
  ['roles without a name are 401', { 'X-Groups': 'hr', 'X-Secret': SECRET }, 401],
  ['an empty name is 401', { 'X-User': ' ', 'X-Secret': SECRET }, 401],
  [
    'the header with roles is optional',
    { 'X-User': 'ann', 'X-Secret': SECRET },
    { principal: 'ann', roles: [] },
  ],
  ['two names are 401', { 'X-User': ['ann', 'eve'], 'X-Secret': SECRET }, 401],
  ['two lists of roles are 401', { ...IDENTITY, 'X-Groups': ['hr', 'admin'], 'X-Secret': SECRET }, 401],
  ['two secrets are 401', { ...IDENTITY, 'X-Secret': [SECRET, SECRET] }, 401],
  ['claims that are not an object are 401', { ...IDENTITY, 'X-Claims': '[]', 'X-Secret': SECRET }, 401],
  ['claims that are not JSON are 401', { ...IDENTITY, 'X-Claims': '{', 'X-Secret': SECRET }, 401],
  [
    'the subject of a certificate gives name and roles',
    { 'X-Subject': 'CN=ann,OU=hr,OU=editor,O=Example', 'X-Secret': SECRET },
    ANN,
  ],
  ['a subject without common name is 401', { 'X-Subject': 'OU=hr', 'X-Secret': SECRET }, 401],
  ['a malformed subject is 401', { 'X-Subject': 'ann', 'X-Secret': SECRET }, 401],
  ['a subject without the secret is 401', { 'X-Subject': 'CN=ann' }, 401],
  [
    'another address in X-Forwarded-For helps nobody',
    { ...IDENTITY, 'X-Forwarded-For': '10.0.0.1', 'X-Real-IP': '10.0.0.1', Forwarded: 'for=10.0.0.1' },
    401,
  ],
]
for (const [rule, headers, who] of CASES) {
  test(`proxy: ${rule}`, async () => {
    await using server = await startAuthServer({ proxy: { ...BY_SECRET, addresses: ['10.0.0.0/8'] } })
    assert.deepEqual(await server.who(headers), who)
  })
}

test('proxy: its headers may begin as ours do, and others that do are refused', async () => {
  const headers = { secret: 'smalt-proxy-secret', principal: 'smalt-user' }
  await using server = await startAuthServer({ proxy: { secret: SECRET, addresses: [], headers } })
  const identity = { 'Smalt-User': 'ann', 'Smalt-Proxy-Secret': SECRET }
  assert.deepEqual(await server.who(identity), { principal: 'ann', roles: [] })
  const answer = await server.ask('POST', '/data/find/country', {
    headers: { ...identity, 'Smalt-Role': 'x' },
  })
  assert.equal(answer.status, 400)
  assert.match(answer.text, /there is no header Smalt-Role; the credentials say who the caller is/)
})

const LISTED: readonly [addresses: readonly string[], who: object | number][] = [
  [['127.0.0.1'], ANN],
  [['127.0.0.0/8'], ANN],
  [['::ffff:127.0.0.1', '127.0.0.1'], ANN],
  [['127.0.0.2'], 401],
  [['10.0.0.0/8', '::1', 'fd00::/8'], 401],
]
for (const [addresses, who] of LISTED) {
  test(`proxy: at ${addresses.join(' and ')} the address of the socket decides`, async () => {
    const { secret: _secret, ...proxy } = BY_SECRET
    await using server = await startAuthServer({ proxy: { ...proxy, addresses } })
    assert.deepEqual(await server.who(IDENTITY), who)
    assert.equal(await server.who({ ...IDENTITY, 'X-Secret': 'guess' }), 401)
  })
}

const ADDRESSED: readonly [host: string, hosts: readonly string[], who: object | number][] = [
  ['localhost:8080', [], ANN],
  ['[::1]', [], ANN],
  ['evil.example', [], 403],
  ['127.0.0.1.evil.example:8080', [], 403],
  ['api.example.com', ['API.example.com'], ANN],
  ['Api.Example.com:443', ['api.example.com'], ANN],
  ['other.example.com', ['api.example.com'], 403],
]
for (const [host, hosts, who] of ADDRESSED) {
  test(`proxy: by its address on this machine, to ${host} with ${hosts.join() || 'no hosts'} listed`, async () => {
    const { secret: _secret, ...proxy } = BY_SECRET
    await using server = await startAuthServer({ proxy: { ...proxy, addresses: ['127.0.0.1'], hosts } })
    assert.deepEqual(await server.who({ ...IDENTITY, Host: host }), who)
  })
}

test('proxy: with the secret any Host is allowed', async () => {
  await using server = await startAuthServer({ proxy: { ...BY_SECRET, addresses: ['127.0.0.1'] } })
  assert.deepEqual(await server.who({ ...IDENTITY, Host: 'api.example.com', 'X-Secret': SECRET }), ANN)
})

test('proxy: only spaces and tabs around a name are removed', async () => {
  await using server = await startAuthServer({ proxy: BY_SECRET })
  const utf8 = (text: string) => Buffer.from(text).toString('latin1')
  const said = { 'X-User': utf8('ann\u00a0'), 'X-Groups': utf8(' admin\u00a0,\thr\t, \u3000x') }
  assert.deepEqual(await server.who({ ...said, 'X-Secret': SECRET }), {
    principal: 'ann\u00a0',
    roles: ['admin\u00a0', 'hr', '\u3000x'],
  })
})

test('proxy: headers that are not configured are ignored', async () => {
  const headers = { secret: 'x-secret', principal: 'x-user' }
  await using server = await startAuthServer({ proxy: { secret: SECRET, addresses: [], headers } })
  const said = { ...IDENTITY, 'X-Subject': 'CN=eve,OU=admin', 'Smalt-Roles': 'admin', 'X-Secret': SECRET }
  assert.deepEqual(await server.who(said), { principal: 'ann', roles: [] })
})

test('proxy: a foreign web page cannot use the identity that the proxy adds', async () => {
  await using server = await startAuthServer({ proxy: BY_SECRET }, { origins: ['https://app.example'] })
  const vouched = { ...IDENTITY, 'X-Secret': SECRET }
  assert.equal(await server.who({ ...vouched, Origin: 'https://evil.example' }), 403)
  assert.equal(await server.who({ ...vouched, Origin: 'null' }), 403)
  assert.equal(await server.who({ ...vouched, 'Sec-Fetch-Site': 'cross-site' }), 403)
  assert.deepEqual(await server.who({ ...vouched, Origin: 'https://app.example' }), ANN)
  assert.deepEqual(await server.who({ ...vouched, Origin: `http://127.0.0.1:${server.port}` }), ANN)
})

const NAMES: readonly [text: string, expected: Record<string, string[]> | undefined][] = [
  ['CN=ann', { CN: ['ann'] }],
  ['cn=ann, OU=a , OU=b', { CN: ['ann'], OU: ['a', 'b'] }],
  ['CN=ann\\, the first,O=x', { CN: ['ann, the first'], O: ['x'] }],
  ['CN=ann\\,OU=admin,O=x', { CN: ['ann,OU=admin'], O: ['x'] }],
  ['CN=J\\C3\\BCrg', { CN: ['Jürg'] }],
  ['CN=a+OU=b', { CN: ['a'], OU: ['b'] }],
  ['CN=a\\\\,OU=b', { CN: ['a\\'], OU: ['b'] }],
  ['2.5.4.3=ann', { '2.5.4.3': ['ann'] }],
  ['O="x, OU=admin, y",CN=ann', undefined],
  ['CN=ann,OU=\\\\61dmin', { CN: ['ann'], OU: ['\\61dmin'] }],
  ['CN=ann,OU=\\61dmin', undefined],
  ['CN=ann,OU=\\admin', undefined],
  ['CN=ann,OU=\\zdmin', undefined],
  ['CN=ann\\00,OU=b', undefined],
  ['CN=\\C3,OU=b', undefined],
  ['CN=#04024869', undefined],
  ['CN=ann\\2C\\ b\\ ,OU= \\ c ', { CN: ['ann, b '], OU: [' c'] }],
  ['CN=ann\u00a0,OU=hr\u00a0', { CN: ['ann\u00a0'], OU: ['hr\u00a0'] }],
  ['CN=a\\"b', { CN: ['a"b'] }],
  ['CN=a\\\\"b"', undefined],
  ['CN=a;OU=admin', undefined],
  ['CN=a=b', { CN: ['a=b'] }],
  ['CN=,OU=', { CN: [''], OU: [''] }],
  ['', undefined],
  ['ann', undefined],
  ['CN=ann,', undefined],
]
for (const [text, expected] of NAMES) {
  test(`distinguished name: ${JSON.stringify(text)} is ${expected ? 'parsed' : 'refused'}`, () => {
    const parsed = parseDistinguishedName(text)
    assert.deepEqual(parsed && Object.fromEntries(parsed), expected)
  })
}

// quadratic time would take minutes
const LONG: readonly string[] = [
  `CN=${' '.repeat(500_000)}x`,
  `CN=${'\\'.repeat(500_000)}"`,
  `CN=${'\\C3\\BC'.repeat(100_000)}`,
  'OU=a,'.repeat(100_000),
  ' '.repeat(500_000),
]
for (const [i, text] of LONG.entries()) {
  test(`distinguished name: long text ${i + 1} is parsed in linear time`, () => {
    const before = process.cpuUsage()
    parseDistinguishedName(text)
    namesIn(text)
    const { user } = process.cpuUsage(before)
    assert.ok(user < 3_000_000, `${user / 1_000} ms`)
  })
}
