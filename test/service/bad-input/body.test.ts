/** Bodies that are no JSON, too much JSON, or JSON that no document may hold. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type BadRequest, type Refusal, badInput } from './fixture.ts'

const { server, refused } = badInput()

const ROUTES: readonly [method: string, path: string][] = [
  ['POST', '/data/find/country'],
  ['POST', '/rest/data/explain/country/1.0.0'],
  ['PUT', '/data/insert/country'],
  ['POST', '/data/save/country'],
  ['POST', '/data/update/country/1.0.0'],
  ['POST', '/data/delete/country'],
  ['POST', '/data/bulk'],
  ['PUT', '/metadata/country'],
  ['PUT', '/metadata/newcomer/1.0.0'],
  ['PUT', '/metadata/country/schema=2.0.0'],
]

const invalid = (place?: RegExp): Refusal => ({
  status: 400,
  code: 'crud:InvalidRequest',
  ...(place && { place }),
})
const exceeded = (place: RegExp): Refusal => ({ status: 400, code: 'crud:LimitExceeded', place })

const BODIES: readonly [rule: string, body: string | Buffer, refusal: Refusal][] = [
  ['cut off', '{"query":', invalid(/not valid JSON/)],
  ['not JSON', '{query:1}', invalid(/position 1/)],
  ['two values', '{}{}', invalid(/position 2/)],
  ['a single quote', "{'a':1}", invalid(/position/)],
  ['a trailing comma', '{"a":1,}', invalid(/position/)],
  ['a comment', '{/*x*/}', invalid(/position/)],
  ['NaN', '{"a":NaN}', invalid(/not valid JSON/)],
  ['a number with a leading zero', '{"a":01}', invalid(/position/)],
  ['a control character in a string', '{"a":"\u0001"}', invalid(/position/)],
  ['a bare NUL', '{"a":1}\u0000', invalid(/position/)],
  ['only white space', '  \n ', invalid(/not valid JSON/)],
  ['null', 'null', invalid()],
  ['an array', '[]', invalid()],
  ['a string', '"x"', invalid()],
  ['a number', '1', invalid()],
  ['a duplicate key', '{"data":{},"data":{}}', invalid(/twice.*\/data/)],
  ['a duplicate key by escapes', String.raw`{"data":{},"d\u0061ta":{}}`, invalid(/twice.*\/data/)],
  ['a duplicate key deep down', '{"data":[{"a":{"b":1,"b":2}}]}', invalid(/twice.*\/data\/0\/a\/b/)],
  ['__proto__', '{"__proto__":{"polluted":1}}', invalid(/__proto__/)],
  [
    '__proto__ by escapes',
    String.raw`{"data":{"__pr\u006fto__":{"polluted":1}}}`,
    invalid(/__proto__.*\/data/),
  ],
  ['__proto__ deep down', '{"data":[{"a":[{"__proto__":1}]}]}', invalid(/__proto__.*\/data\/0\/a\/0/)],
  ['an escaped NUL', String.raw`{"data":{"name":"a\u0000b"}}`, invalid(/NUL.*\/data\/name/)],
  ['an escaped NUL in a key', String.raw`{"data":{"a\u0000b":1}}`, invalid(/NUL.*\/data/)],
  ['a lone surrogate', String.raw`{"data":{"name":"\ud800"}}`, invalid(/surrogate.*\/data\/name/)],
  ['a lone surrogate in a key', String.raw`{"data":{"\udc00":1}}`, invalid(/surrogate.*\/data/)],
  ['bytes that are no UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), invalid(/UTF-8/)],
  ['a surrogate in UTF-8', Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), invalid(/UTF-8/)],
  ['overlong UTF-8', Buffer.from([0x22, 0xc0, 0x80, 0x22]), invalid(/UTF-8/)],
  ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), invalid()],
  ['a byte order mark', '\ufeff{}', invalid(/byte order mark/)],
  ['10,000 open brackets', '['.repeat(10_000), exceeded(/64/)],
  ['10,000 nested arrays', '['.repeat(10_000) + ']'.repeat(10_000), exceeded(/64/)],
  ['10,000 nested objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`, exceeded(/64/)],
  ['10,000 nested queries', `{"query":${'{"$not":'.repeat(10_000)}{}${'}'.repeat(10_000)}}`, exceeded(/64/)],
  ['1,000,000 open brackets', '['.repeat(1_000_000), exceeded(/64/)],
]
for (const [rule, body, refusal] of BODIES) {
  test(`body: ${rule} is refused on every route`, async () => {
    for (const [method, path] of ROUTES) {
      const isMetadata = path.startsWith('/metadata')
      // a document that is no object is not well-formed metadata
      const isShape = isMetadata && ['null', 'an array', 'a string', 'a number'].includes(rule)
      const expected = isShape ? { status: 422, code: 'metadata:IllFormedMetadata' } : refusal
      await refused({ method, path, body }, expected)
    }
  })
}

const tooLarge: Refusal = { status: 413, code: 'crud:BodyTooLarge', place: /16777216 bytes/ }

test('body: more than 16 MiB by its length is refused', async () => {
  await refused(
    { method: 'PUT', path: '/data/insert/country', body: Buffer.alloc(16 * 2 ** 20 + 1, ' ') },
    tooLarge,
  )
})

test('body: more than 16 MiB without a length is refused', async () => {
  const chunk = `100000\r\n${' '.repeat(2 ** 20)}\r\n`
  const head = 'PUT /data/insert/country HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const chunks = Array.from({ length: 17 }, () => chunk)
  const answer = await server().raw(head, ...chunks, '0\r\n\r\n')
  assert.match(answer, /^HTTP\/1\.1 413 [^]*crud:BodyTooLarge/)
  assert.equal((await server().ask('GET', '/health')).status, 200)
})

test('body: 16 MiB of one long string are read and refused for what they say', async () => {
  const body = `{"data":{"iso2Code":"${'x'.repeat(16 * 2 ** 20 - 24)}"}}`
  const answer = await server().ask('PUT', '/data/insert/country', { body })
  assert.equal(answer.status, 200)
  assert.equal(answer.json.dataErrors[0].errors[0].errorCode, 'crud:TooLong')
})

const LENGTHS: readonly [rule: string, headers: string][] = [
  ['a length that is no number', 'Content-Length: x'],
  ['a negative length', 'Content-Length: -1'],
  ['two lengths', 'Content-Length: 2\r\nContent-Length: 3'],
  ['a length and chunks', 'Content-Length: 2\r\nTransfer-Encoding: chunked'],
  ['an unknown transfer encoding', 'Transfer-Encoding: gzip'],
  ['a header without colon', 'nonsense'],
  ['a NUL in a header', 'X-A: a\u0000b'],
  ['a space before the colon', 'Content-Length : 2'],
]
for (const [rule, headers] of LENGTHS) {
  test(`request: ${rule} is refused`, async () => {
    const answer = await server().raw(
      `POST /data/find/country HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n{}`,
    )
    assert.match(answer, /^HTTP\/1\.1 4\d\d [^]*"errorCode":"crud:InvalidRequest"/)
    assert.equal((await server().ask('GET', '/health')).status, 200)
  })
}

test('request: headers that are too large are refused with 431', async () => {
  const answer = await server().raw(
    `GET /metadata HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'x'.repeat(40_000)}\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 431 [^]*crud:InvalidRequest/)
})

test('request: an address that is too long is refused with 431', async () => {
  const answer = await server().raw(
    `GET /data/find/${'x'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`,
  )
  assert.match(answer, /^HTTP\/1\.1 431 /)
})

const TYPES = [
  'text/plain',
  'text/html',
  'application/xml',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/jsonp',
  'application/json-patch+json',
  'json',
]
for (const type of TYPES) {
  test(`content type: ${type} is refused on every route`, async () => {
    for (const [method, path] of ROUTES) {
      const request: BadRequest = { method, path, body: '{}', headers: { 'Content-Type': type } }
      await refused(request, { status: 415, code: 'crud:UnsupportedMediaType', place: /application\/json/ })
    }
  })
}

for (const encoding of ['gzip', 'br', 'deflate', 'identity, gzip']) {
  test(`content encoding: ${encoding} is refused`, async () => {
    const headers = { 'Content-Encoding': encoding }
    await refused(
      { method: 'PUT', path: '/data/insert/country', body: 'x', headers },
      { status: 415, code: 'crud:UnsupportedMediaType' },
    )
  })
}
