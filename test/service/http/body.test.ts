import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start({ limits: { bodyBytes: 100_000, nesting: 8 } })
})
after(() => http.server.close())

const FIND = '/data/find/country'

test('body: arrives as JSON with every digit', async () => {
  const answer = await http.ask('POST', FIND, { body: '{"a":[9007199254740993,1.10,"ü"]}' })
  assert.match(answer.text, /"body":\{"a":\[9007199254740993,1\.10,"ü"\]\}/)
})

test('body: an empty one is none', async () => {
  assert.equal('body' in (await http.ask('POST', FIND)).json().processed[0], false)
})

test('body: arrives whole when sent in pieces', async () => {
  const body = JSON.stringify({ text: 'é'.repeat(30_000) })
  const [head, bytes] = [headOf('POST', FIND, Buffer.byteLength(body)), Buffer.from(body)]
  const text = await http.raw(head, bytes.subarray(0, 1_001), bytes.subarray(1_001))
  assert.ok(text.includes(body))
})

const REFUSED: readonly [rule: string, body: string | Buffer, code: string, status: number][] = [
  ['malformed JSON is refused', '{"a":', 'crud:InvalidRequest', 400],
  ['text after the value is refused', '{} {}', 'crud:InvalidRequest', 400],
  ['duplicate keys are refused', '{"a":1,"a":2}', 'crud:InvalidRequest', 400],
  ['deep nesting is refused', '['.repeat(9) + ']'.repeat(9), 'crud:LimitExceeded', 400],
  ['bytes that are no UTF-8 are refused', Buffer.from([0x22, 0xff, 0x22]), 'crud:InvalidRequest', 400],
  ['overlong UTF-8 is refused', Buffer.from([0x22, 0xc0, 0x80, 0x22]), 'crud:InvalidRequest', 400],
  ['a byte order mark is refused', '\ufeff{}', 'crud:InvalidRequest', 400],
  ['too many bytes are refused', ' '.repeat(100_001), 'crud:BodyTooLarge', 413],
]
for (const [rule, body, code, status] of REFUSED) {
  test(`data body: ${rule}`, async () => {
    const answer = await http.ask('POST', FIND, { body })
    assert.equal(answer.status, status)
    const document = answer.json()
    assert.equal(document.status, 'ERROR')
    assert.equal(document.errors[0].errorCode, code)
    assert.equal(document.errors[0].context, 'find(country)')
  })
  test(`metadata body: ${rule}`, async () => {
    const answer = await http.ask('PUT', '/metadata/country/1.0.0', { body })
    assert.equal(answer.status, status)
    assert.equal(answer.json().errorCode, code)
  })
}

test('body: the limit itself is allowed', async () => {
  assert.equal((await http.ask('POST', FIND, { body: `"${'x'.repeat(99_998)}"` })).status, 200)
})

test('body: too large without a length is refused, and the connection closed after the answer', async () => {
  const chunk = `${(50_000).toString(16)}\r\n${'x'.repeat(50_000)}\r\n`
  const head = `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n`
  const text = await http.raw(head, chunk, chunk, chunk, '0\r\n\r\n')
  assert.match(text, /^HTTP\/1\.1 413 [^]*Connection: close[^]*crud:BodyTooLarge/)
})

test('body: too large by its length is refused at once, and the rest is swallowed', async () => {
  const size = 20_000_000
  const text = await http.raw(headOf('POST', FIND, size), Buffer.alloc(size, 'x'))
  assert.match(text, /^HTTP\/1\.1 413 [^]*crud:BodyTooLarge/)
})

test('body: a caller that asks first is refused before it sends', async () => {
  const head = `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 200000\r\n\r\n`
  const text = await http.raw(head, 'x'.repeat(200_000))
  assert.match(text, /^HTTP\/1\.1 413 /)
})

test('body: a caller that asks first is told to go on', async () => {
  const head = `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nConnection: close\r\nContent-Length: 2\r\n\r\n`
  const text = await http.raw(head, '{}')
  assert.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 /)
})

test('body: nonsense after a sound request ends the connection, but only after the answer', async () => {
  const text = await http.raw(
    `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}garbage\r\n\r\n`,
  )
  assert.match(text, /^HTTP\/1\.1 200 [^]*"find"[^]*\}$/)
})

test('body: both a length and chunks are refused', async () => {
  const head = `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n`
  assert.match(await http.raw(head, '0\r\n\r\n'), /^HTTP\/1\.1 400 /)
})

const TYPES: readonly [type: string, status: number][] = [
  ['application/json', 200],
  ['application/json; charset=utf-8', 200],
  ['Application/JSON;charset=UTF-8', 200],
  ['application/json; charset="utf-8"', 200],
  ['application/json; charset=us-ascii', 200],
  ['application/json; profile=x; charset=utf8', 200],
  ['application/json; charset=utf-16', 415],
  ['application/json;charset="UTF-16LE"', 415],
  ['application/json; charset=iso-8859-1', 415],
  ['application/json; charset=', 415],
  ['text/plain', 415],
  ['application/x-www-form-urlencoded', 415],
  ['application/jsonx', 415],
  ['application/json-patch+json', 415],
]
for (const [type, status] of TYPES) {
  test(`content type ${type}: is ${status}`, async () => {
    const answer = await http.ask('POST', FIND, { body: '{}', headers: { 'Content-Type': type } })
    assert.equal(answer.status, status)
    if (status === 415) assert.equal(answer.json().errors[0].errorCode, 'crud:UnsupportedMediaType')
  })
}

test('content encoding: a compressed body is 415', async () => {
  const answer = await http.ask('POST', FIND, { body: 'xx', headers: { 'Content-Encoding': 'gzip' } })
  assert.equal(answer.status, 415)
})

const CODINGS: readonly [name: string, coding: string, status: number][] = [
  ['Content-Encoding', 'identity', 200],
  ['Content-Encoding', 'Identity', 200],
  ['Content-Encoding', 'identity, gzip', 415],
  ['Transfer-Encoding', 'chunked', 200],
  ['Transfer-Encoding', 'Chunked', 200],
  ['Transfer-Encoding', 'gzip, chunked', 415],
]
for (const [name, coding, status] of CODINGS) {
  test(`${name} ${coding}: is ${status}`, async () => {
    const more = name === 'Transfer-Encoding' ? '' : 'Transfer-Encoding: chunked\r\n'
    const head = `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${more}`
    const text = await http.raw(`${head}${name}: ${coding}\r\n\r\n2\r\n{}\r\n0\r\n\r\n`)
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    if (status === 415) assert.match(text, /crud:UnsupportedMediaType/)
  })
}

const FILE_TYPES: readonly [type: string, status: number][] = [
  ['text/csv; charset=UTF-8; header=present', 200],
  ['application/x-ndjson; charset=utf-8', 200],
  ['text/csv; charset=iso-8859-1', 415],
  ['text/csv; header=present; charset="windows-1252"', 415],
  ['application/x-ndjson; charset=utf-16', 415],
]
for (const [type, status] of FILE_TYPES) {
  test(`content type ${type}: is ${status} where files are taken`, async () => {
    const answer = await http.ask('POST', '/data/import/x', { body: '{}', headers: { 'Content-Type': type } })
    assert.equal(answer.status, status)
    if (status === 415) assert.match(answer.json().errors[0].msg, /in UTF-8/)
  })
}

test('content type: two of them are refused, the same one too', async () => {
  for (const second of ['text/plain', 'application/json']) {
    const headers = { 'Content-Type': ['application/json', second] }
    const answer = await http.ask('POST', FIND, { body: '{}', headers })
    assert.equal(answer.status, 400)
    assert.match(answer.json().errors[0].msg, /Content-Type appears twice/)
  }
})

for (const [method, path] of [
  ['DELETE', '/metadata/country'],
  ['PUT', '/metadata/country/1.0.0/disabled'],
] as const) {
  test(`${method} ${path}: a body of any kind is ignored`, async () => {
    const body = 'not json '.repeat(50_000)
    const options = { body, headers: { 'Content-Type': 'text/plain', 'Content-Length': String(body.length) } }
    assert.equal((await http.ask(method, path, options)).status, 200)
  })
}

test('body: a caller that leaves halfway is logged and harms nobody', async () => {
  const socket = connect(http.port, '127.0.0.1')
  socket.write(
    `POST ${FIND} HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 100\r\n\r\n`,
  )
  // told to go on, the request is under way
  await once(socket, 'data')
  await new Promise((resolve) => socket.write('{"half', resolve))
  socket.destroy()
  while (!http.lines().some((line) => line.status === 499)) await nextTurn()
  assert.equal((await http.ask('POST', FIND)).status, 200)
})

function headOf(method: string, path: string, length: number): string {
  return `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`
}

const NO_BODY: readonly [method: string, path: string, message: RegExp][] = [
  [
    'GET',
    '/data/find/country',
    /a GET has no body; its condition is in the query string \(Q or filter\), or send the body with POST/,
  ],
  ['GET', '/data/search/country/byName', /a GET has no body; send the body with POST/],
  ['GET', '/metadata', /a GET has no body"/],
]
for (const [method, path, message] of NO_BODY) {
  test(`body: ${method} ${path} refuses one`, async () => {
    const headers = { 'Content-Length': '2' }
    const answer = await http.ask(method, path, { body: '{}', headers })
    assert.equal(answer.status, 400)
    assert.match(answer.text, message)
    assert.match(answer.text, /crud:InvalidRequest/)
    const head = await http.ask('HEAD', path, { body: '{}', headers })
    assert.equal(head.status, 400)
  })
}

test('body: GET ignores one of unknown length, which proxies announce where there is none', async () => {
  const head = `GET ${FIND} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n`
  assert.match(await http.raw(head, '0\r\n\r\n'), /^HTTP\/1\.1 200 /)
})

test('body: GET with the length 0 has none', async () => {
  assert.equal((await http.ask('GET', FIND, { headers: { 'Content-Length': '0' } })).status, 200)
})

test('body: PATCH names the kind of patch', async () => {
  const headers = { 'Content-Type': 'application/json-patch+json' }
  const answer = await http.ask('PATCH', '/documents/country/1', { body: '[]', headers })
  assert.equal(answer.status, 415)
  assert.match(answer.text, /JSON Patch is not supported; send a JSON Merge Patch/)
})
