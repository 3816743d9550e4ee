/** Addresses, query strings and headers that nobody sends by accident. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Refusal, badInput } from './fixture.ts'

const { server, refused } = badInput()

const invalid: Refusal = { status: 400, code: 'crud:InvalidRequest' }
const unknown: Refusal = { status: 404, code: 'crud:UnknownEntity' }
const noRoute: Refusal = { status: 404, code: 'crud:UnknownRoute' }
/** `/data/{entity}` is an old address of insert. */
const noMethod: Refusal = { status: 405, code: 'crud:MethodNotAllowed' }
const noInfo: Refusal = { status: 404, code: 'metadata:MissingEntityInfo' }
const noSchema: Refusal = { status: 404, code: 'metadata:MissingSchema' }

const PATHS: readonly [path: string, refusal: Refusal][] = [
  ['/data/find/%00', invalid],
  ['/data/find/country%00', invalid],
  ['/data/find/country/1.0.0%00', invalid],
  ['/metadata/%00/roles', invalid],
  ['/data/find/%', invalid],
  ['/data/find/%zz', invalid],
  ['/data/find/%ff', invalid],
  ['/data/find/%C0%80', invalid],
  ['/data/find/%ED%A0%80', invalid],
  ['/data/find/__proto__', unknown],
  ['/data/find/constructor', unknown],
  ['/data/find/prototype', unknown],
  ['/data/find/country/__proto__', unknown],
  ['/data/find/country/constructor', unknown],
  ['/data/find/%5F%5Fproto%5F%5F', unknown],
  ['/data/find/country%27', unknown],
  ['/data/find/%22%3B%20drop%20table%20x', unknown],
  ['/data/find/COUNTRY', unknown],
  ['/data/find/country%2F1.0.0', unknown],
  ['/data/find/..%2f..%2fetc', unknown],
  ['/data/generate/country/__proto__', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/generate/country/constructor', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/generate/country/1.0.0/toString', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/generate/country/a..b', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/metadata/__proto__/roles', noInfo],
  ['/metadata/constructor/dependencies', noInfo],
  ['/metadata/country/__proto__/roles', noSchema],
  ['/metadata/country/constructor', noSchema],
  ['/metadata/country/1.0.0/diff/__proto__', noSchema],
  ['/metadata/s=__proto__', { status: 422, code: 'metadata:ParseInvalidStatus' }],
  ['/data/find', noMethod],
  ['/data/find/', noMethod],
  ['/data//find/country', noRoute],
  ['//data/find/country', noRoute],
  ['/data/find/country/1.0.0/x', noRoute],
  ['/rest/rest/data/find/country', noRoute],
  ['/restdata/find/country', noRoute],
  ['/data/../metadata', noMethod],
  ['/__proto__', noRoute],
  ['/data/constructor/country', noMethod],
  [`/data/find/${'x'.repeat(1_025)}`, noRoute],
  ['/data/health?Q=1', invalid],
  ['/metadata/health?Q=1', invalid],
  ['/data/find/country?Q=%00:1', invalid],
  ['/data/find/country?Q=name:%00', invalid],
  ['/data/find/country?Q=__proto__:1', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/find/country?Q=constructor.prototype:1', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/find/country?S=__proto__:a', { status: 400, code: 'metadata:InvalidFieldReference' }],
  ['/data/find/country?__proto__=1', invalid],
  ['/data/find/country?constructor=1', invalid],
  ['/data/find/country?__proto__[polluted]=1', invalid],
  ['/data/find/country?from=99999999999999999999', invalid],
  ['/data/find/country?from=-0.5', invalid],
  ['/data/find/country?maxResults=1e3', invalid],
  ['/data/find/country?Q=population:1e400', { status: 400, code: 'metadata:IncompatibleValue' }],
  ['/data/find/country?Q=population:NaN', { status: 400, code: 'metadata:IncompatibleValue' }],
]
for (const [path, refusal] of PATHS) {
  test(`GET ${path.slice(0, 60)} is ${refusal.code}`, async () => {
    await refused({ method: 'GET', path }, refusal)
  })
}

for (const path of ['/data/find/country', '/data/bulk', '/metadata/country', '/metadata/roles', '/health']) {
  for (const method of ['PATCH', 'OPTIONS', 'TRACE', 'PROPFIND']) {
    test(`${method} ${path} is 405 and says what there is`, async () => {
      const answer = await server().ask(method, path)
      assert.equal(answer.status, 405)
      assert.ok(answer.headers.allow)
    })
  }
}

test('method override headers are not obeyed', async () => {
  for (const name of ['X-HTTP-Method-Override', 'X-Method-Override', 'X-HTTP-Method']) {
    await server().ask('GET', '/metadata/country', { headers: { [name]: 'DELETE' } })
    await refused(
      { method: 'GET', path: '/data/bulk', headers: { [name]: 'POST' } },
      { status: 405, code: 'crud:MethodNotAllowed' },
    )
  }
})

test('a page of another origin must name the type of JSON, also without a body', async () => {
  await refused(
    {
      method: 'POST',
      path: '/metadata/country/1.0.0/default',
      headers: { Origin: 'http://localhost:3000', 'Content-Type': 'text/plain' },
    },
    { status: 415, code: 'crud:UnsupportedMediaType' },
  )
})

test('roles of any spelling pollute nothing and give nothing', async () => {
  const names = ['__proto__', 'constructor', 'anyone', 'noone', '', ',', 'a,'.repeat(5_000), 'HR', 'hr;boss']
  for (const roles of names) {
    await refused(
      { method: 'GET', path: '/data/find/staff', headers: { 'Smalt-Roles': roles } },
      { status: 403, code: 'crud:NoAccess' },
    )
  }
})

for (const target of [
  '*',
  'country',
  'http://',
  'ftp://localhost/data',
  '/data/find/coun try',
  '/data/find/country#x',
  '\\data',
]) {
  test(`the request target ${target} is refused`, async () => {
    const answer = await server().raw(
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    )
    assert.match(answer, /^HTTP\/1\.1 4\d\d [^]*"errorCode"/)
    assert.equal((await server().ask('GET', '/health')).status, 200)
  })
}

test('bytes that are no HTTP are refused', async () => {
  for (const bytes of [
    '\r\n\r\n\u0000\u0001\r\n\r\n',
    'GET\r\n\r\n',
    '\u0016\u0003\u0001\u0002',
    'GET / HTTP/9.9\r\n\r\n',
  ]) {
    assert.match(await server().raw(Buffer.from(bytes, 'latin1')), /^HTTP\/1\.1 4\d\d /)
    assert.equal((await server().ask('GET', '/health')).status, 200)
  }
})
