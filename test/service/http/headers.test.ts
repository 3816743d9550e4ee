import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start()
})
after(() => http.server.close())

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/

const ANSWERS: readonly [method: string, path: string][] = [
  ['POST', '/data/find/country'],
  ['POST', '/data/find/broken'],
  ['GET', '/metadata'],
  ['GET', '/metadata/broken'],
  ['GET', '/nothing'],
  ['GET', '/health'],
]
for (const [method, path] of ANSWERS) {
  test(`${method} ${path}: carries the headers of every answer`, async () => {
    const { headers, text } = await http.ask(method, path)
    assert.match(headers['x-request-id'] as string, UUID)
    assert.equal(headers['requestid'], headers['x-request-id'])
    assert.equal(headers['content-type'], 'application/json; charset=utf-8')
    assert.equal(headers['content-length'], String(Buffer.byteLength(text)))
    assert.equal(headers['x-content-type-options'], 'nosniff')
    assert.equal(headers['cache-control'], 'no-store')
    assert.equal(headers['access-control-allow-origin'], undefined)
  })
}

test('request id: two requests get two', async () => {
  const [a, b] = [await http.ask('GET', '/health'), await http.ask('GET', '/health')]
  assert.notEqual(a.headers['x-request-id'], b.headers['x-request-id'])
})

const IDS: readonly [id: string, isKept: boolean][] = [
  ['abc-123_x.y', true],
  ['a'.repeat(128), true],
  ['a'.repeat(129), false],
  ['a b', false],
  ['a"b', false],
  ['', false],
]
for (const [id, isKept] of IDS) {
  test(`request id ${JSON.stringify(id).slice(0, 20)}: is ${isKept ? 'kept' : 'replaced'}`, async () => {
    const { headers } = await http.ask('GET', '/health', { headers: { 'X-Request-Id': id } })
    assert.equal(headers['x-request-id'] === id, isKept)
    assert.equal(headers['requestid'], headers['x-request-id'])
  })
}

test('text that is not ASCII: has the length of its bytes', async () => {
  const { text, headers } = await http.ask('POST', '/data/find/country', { body: '{"a":"Zürich 😀"}' })
  assert.ok(text.includes('Zürich 😀'))
  assert.equal(headers['content-length'], String(Buffer.byteLength(text)))
})

test('headers: a misspelt one of ours is refused', async () => {
  const role = await http.ask('GET', '/metadata', { headers: { 'smalt-role': 'hr' } })
  assert.equal(role.status, 400)
  assert.match(role.text, /there is no header smalt-role; did you mean Smalt-Roles\?/)
  const other = await http.ask('GET', '/metadata', { headers: { 'Smalt-Tenant': 'x' } })
  assert.match(
    other.text,
    /there is no header Smalt-Tenant; known are Smalt-Roles, Smalt-Principal, Smalt-Claims/,
  )
  assert.equal((await http.ask('GET', '/metadata', { headers: { 'Smalt-Roles': 'hr' } })).status, 200)
  assert.equal((await http.ask('GET', '/metadata', { headers: { Smalting: 'x' } })).status, 200)
})

const HOSTS: readonly [rule: string, lines: string, status: number][] = [
  ['none is 400', '', 400],
  ['an empty one is 400', 'Host:\r\n', 400],
  ['two are 400', 'Host: localhost\r\nHost: localhost\r\n', 400],
  ['one with a space is 400', 'Host: local host\r\n', 400],
  ['one with a path is 400', 'Host: localhost/x\r\n', 400],
  ['one with a bad port is 400', 'Host: localhost:99999\r\n', 400],
  ['localhost is served', 'Host: LocalHost:1\r\n', 200],
  ['127.0.0.1 is served', 'Host: 127.0.0.1\r\n', 200],
  ['127.9.9.9 is served', 'Host: 127.9.9.9:8080\r\n', 200],
  ['[::1] is served', 'Host: [::1]:8080\r\n', 200],
  ['another name is 403', 'Host: example.com\r\n', 403],
  ['a name that begins like an address is 403', 'Host: 127.0.0.1.example.com\r\n', 403],
  ['a name that ends like localhost is 403', 'Host: notlocalhost\r\n', 403],
  ['another address is 403', 'Host: 192.168.1.1\r\n', 403],
]
for (const [rule, lines, status] of HOSTS) {
  test(`host: ${rule}`, async () => {
    const text = await http.raw(`GET /health HTTP/1.1\r\n${lines}Connection: close\r\n\r\n`)
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} `))
    assert.match(text, /X-Request-Id: /)
    if (status === 403) assert.match(text, /crud:ForeignOrigin/)
  })
}

const ORIGINS: readonly [origin: string, status: number][] = [
  ['http://localhost:3000', 200],
  ['https://127.0.0.1', 200],
  ['http://[::1]:8080', 200],
  ['https://example.com', 403],
  ['http://localhost.example.com', 403],
  ['null', 403],
  ['file://', 403],
  ['nonsense', 403],
]
for (const [origin, status] of ORIGINS) {
  test(`origin ${origin}: is ${status}`, async () => {
    const answer = await http.ask('POST', '/data/find/country', { headers: { Origin: origin } })
    assert.equal(answer.status, status)
    if (status === 403) assert.equal(answer.json().errors[0].errorCode, 'crud:ForeignOrigin')
  })
}

const PAGE = { Origin: 'http://localhost:3000' }
const TYPED: readonly [
  what: string,
  method: string,
  path: string,
  headers: Record<string, string>,
  status: number,
][] = [
  ['without a type is 415', 'POST', '/data/save/x', PAGE, 415],
  ['of a simple type is 415', 'POST', '/data/save/x', { ...PAGE, 'Content-Type': 'text/plain' }, 415],
  ['of JSON is served', 'POST', '/data/save/x', { ...PAGE, 'Content-Type': 'application/json' }, 200],
  ['to find something, without a type, is 415', 'POST', '/data/find/x', PAGE, 415],
  ['by PUT without a type is 415', 'PUT', '/data/insert/x', PAGE, 415],
  [
    'of CSV is served where files are taken',
    'POST',
    '/data/import/x',
    { ...PAGE, 'Content-Type': 'text/csv' },
    200,
  ],
  ['of a simple type is 415 there', 'POST', '/data/import/x', { ...PAGE, 'Content-Type': 'text/plain' }, 415],
  ['without a type and an origin is served', 'POST', '/data/save/x', {}, 200],
]
for (const [what, method, path, headers, status] of TYPED) {
  test(`web page: a body ${what}`, async () => {
    const answer = await http.ask(method, path, { body: '{}', headers })
    assert.equal(answer.status, status)
    if (status === 415)
      assert.match(answer.text, /crud:UnsupportedMediaType[^]*(?:application\/json|text\/csv)/)
  })
}

test('web page: a POST that changes something needs the type though it has no body', async () => {
  const redrive = '/events/sinks/x/dead/redrive'
  assert.equal((await http.ask('POST', redrive, { headers: PAGE })).status, 415)
  assert.equal((await http.ask('POST', redrive)).status, 200)
  const typed = { ...PAGE, 'Content-Type': 'application/json' }
  assert.equal((await http.ask('POST', redrive, { headers: typed })).status, 200)
})

test('sec-fetch-site: what a foreign page embeds is 403, a link to the docs is not', async () => {
  const headers = { 'Sec-Fetch-Site': 'cross-site' }
  assert.equal((await http.ask('GET', '/data/generate/country/_id', { headers })).status, 403)
  assert.equal((await http.ask('GET', '/docs', { headers })).status, 200)
})

test('caller: roles and principal come from the headers', async () => {
  const headers = { 'Smalt-Roles': ' hr,, admin ,hr', 'Smalt-Principal': 'ann' }
  const [told] = (await http.ask('POST', '/data/find/country', { headers })).json().processed
  assert.deepEqual(told.roles, ['hr', 'admin'])
  assert.equal(told.principal, 'ann')
})

test('caller: several role headers add up, and names may be UTF-8', async () => {
  const roles = [Buffer.from('größe').toString('latin1'), 'b']
  const [told] = (await http.ask('POST', '/data/find/country', { headers: { 'Smalt-Roles': roles } })).json()
    .processed
  assert.deepEqual(told.roles, ['größe', 'b'])
})

test('caller: without headers there are no roles', async () => {
  const [told] = (await http.ask('POST', '/data/find/country')).json().processed
  assert.deepEqual([told.roles, told.principal], [[], ''])
})
