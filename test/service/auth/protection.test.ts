/** The open mode, rate limits, CORS, and security headers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { test } from 'node:test'
import { addToken } from '../../../src/auth/token-file.ts'
import { refuseOpenNetwork, openMode } from '../../../src/auth/open.ts'
import { type RateLimit, limitRate } from '../../../src/http/rate-limit.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { bearer, scratch, startAuthServer } from './harness.ts'

for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com', '127.0.0.1.example.com', '127.0.0.999']) {
  test(`open: listening on ${host} is refused`, () => {
    assert.throws(() => refuseOpenNetwork(openMode(), host), /refusing to listen on/)
  })
}

for (const host of ['127.0.0.1', '127.1.2.3', 'localhost', '::1', '[::1]']) {
  test(`open: listening on ${host} is allowed`, () => refuseOpenNetwork(openMode(), host))
}

test('open: together with other modes it is still limited to this machine', async () => {
  using folder = scratch()
  const tokens = { file: folder.path('tokens.json') }
  await assert.rejects(startAuthServer({ isOpen: true, tokens }, { host: '0.0.0.0' }), /refusing to listen/)
  await using closed = await startAuthServer({ tokens }, { host: '0.0.0.0' })
  assert.equal(await closed.who({ Host: 'smalt.example.com' }), 401)
})

/** A bucket, and a clock that the test sets. */
function limited(limit: RateLimit) {
  let now = 0
  const take = limitRate(limit, () => now)
  return { take, pass: (seconds: number) => (now += seconds) }
}

test('rate limit: a full bucket holds a burst, and refills steadily', () => {
  const { take, pass } = limited({ perSecond: 2, burst: 4 })
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => take('a', 1)),
    [0, 0, 0, 0, 1],
  )
  pass(0.5)
  assert.deepEqual([take('a', 1), take('a', 1)], [0, 1])
  pass(100)
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => take('a', 1)),
    [0, 0, 0, 0, 1],
  )
})

test('rate limit: callers do not share their buckets', () => {
  const { take } = limited({ perSecond: 1, burst: 1 })
  assert.deepEqual([take('a', 1), take('b', 1), take('a', 1)], [0, 0, 1])
})

test('rate limit: a request larger than the bucket is admitted when it is full, and paid for later', () => {
  const { take, pass } = limited({ perSecond: 10, burst: 10 })
  assert.equal(take('a', 30), 0)
  assert.equal(take('a', 1), 3)
  pass(2.1)
  assert.equal(take('a', 1), 0)
})

test('rate limit: the number of buckets is limited, and idle callers are removed first', () => {
  const { take } = limited({ perSecond: 1, burst: 1 })
  for (let i = 0; i < 10_000; i++) take(`c${i}`, 1)
  assert.equal(take('c0', 1), 1)
  take('another', 1)
  assert.equal(take('c0', 1), 1)
  assert.equal(take('c1', 1), 0)
})

test('rate limit: too many requests are 429 with the time to wait', async () => {
  await using server = await startAuthServer({ isOpen: true }, { rateLimit: { perSecond: 1, burst: 2 } })
  // unchecked names and addresses in headers do not give a client another bucket
  const said = [{}, { 'Smalt-Principal': 'b' }, { 'X-Forwarded-For': '10.0.0.1', 'Smalt-Principal': 'c' }]
  const answers = []
  for (const headers of said) answers.push(await server.ask('POST', '/data/find/x', { headers }))
  const last = answers.at(-1)!
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 429],
  )
  assert.equal(last.headers['retry-after'], '1')
  assert.equal(last.json.errors[0].errorCode, 'crud:TooManyRequests')
  assert.equal((await server.ask('GET', '/health')).status, 200)
})

test('rate limit: each entry of a bulk counts', async () => {
  await using server = await startAuthServer({ isOpen: true }, { rateLimit: { perSecond: 1, burst: 5 } })
  const bulk = (size: number) =>
    server.ask('POST', '/data/bulk', { body: { requests: Array.from({ length: size }, () => ({})) } })
  assert.equal((await bulk(4)).status, 200)
  assert.equal((await bulk(4)).status, 429)
})

test('rate limit: a bulk with more entries than the bucket holds is admitted when it is full', async () => {
  await using server = await startAuthServer({ isOpen: true }, { rateLimit: { perSecond: 1, burst: 5 } })
  const body = { requests: Array.from({ length: 50 }, () => ({})) }
  assert.equal((await server.ask('POST', '/data/bulk', { body })).status, 200)
  const next = await server.ask('POST', '/data/find/x')
  assert.deepEqual([next.status, Number(next.headers['retry-after']) > 40], [429, true])
})

test('rate limit: a proven name has a bucket of its own, whatever guessers do', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const [ann, bob] = [await addToken(file, named('ann')), await addToken(file, named('bob'))]
  await using server = await startAuthServer({ tokens: { file } }, { rateLimit: { perSecond: 1, burst: 1 } })
  assert.equal(await server.who(bearer('smalt_x')), 401)
  assert.equal(await server.who(bearer('smalt_x')), 429)
  assert.deepEqual(await server.who(bearer(ann.token)), named('ann'))
  assert.equal(await server.who(bearer(ann.token)), 429)
  assert.deepEqual(await server.who(bearer(bob.token)), named('bob'))
})

function named(principal: string) {
  return { principal, roles: [] }
}

const APP = 'https://app.example'

function preflight(origin: string) {
  return { Origin: origin, 'Access-Control-Request-Method': 'POST' }
}

test('cors: a listed origin is admitted, and the response says so', async () => {
  await using server = await startAuthServer({ isOpen: true }, { origins: [APP] })
  const asked = await server.ask('OPTIONS', '/data/find/x', { headers: preflight(APP) })
  assert.equal(asked.status, 204)
  assert.equal(asked.headers['access-control-allow-origin'], APP)
  assert.equal(asked.headers['access-control-allow-methods'], 'GET, HEAD, POST')
  assert.match(String(asked.headers['access-control-allow-headers']), /Authorization/)
  assert.equal(asked.headers['access-control-allow-credentials'], undefined)
  assert.equal(asked.headers.vary, 'Origin')
  const done = await server.ask('POST', '/data/find/x', { headers: { Origin: APP } })
  assert.deepEqual([done.status, done.headers['access-control-allow-origin']], [200, APP])
})

test('cors: a listed origin may send every header that a route reads', async () => {
  await using server = await startAuthServer({ isOpen: true }, { origins: [APP] })
  const asked = await server.ask('OPTIONS', '/events/stream', { headers: preflight(APP) })
  const allowed = String(asked.headers['access-control-allow-headers']).split(', ')
  // browsers send this one by themselves
  const read = ROUTES.flatMap(({ headers = [] }) => headers).filter(({ name }) => name !== 'Accept-Encoding')
  assert.deepEqual(
    read.map(({ name }) => name).filter((name) => !allowed.includes(name)),
    [],
  )
})

test('cors: a listed origin can read error responses', async () => {
  using folder = scratch()
  const tokens = { file: folder.path('tokens.json') }
  await using server = await startAuthServer({ tokens }, { origins: [APP] })
  const answer = await server.ask('POST', '/data/find/x', { headers: { Origin: APP } })
  assert.deepEqual([answer.status, answer.headers['access-control-allow-origin']], [401, APP])
  assert.equal((await server.ask('OPTIONS', '/data/find/x', { headers: preflight(APP) })).status, 204)
})

const FOREIGN = [
  'https://evil.example',
  `${APP}.evil.example`,
  `${APP}:8443`,
  'http://app.example',
  'null',
  '*',
]
for (const origin of FOREIGN) {
  test(`cors: ${origin} is not listed, and is refused`, async () => {
    using folder = scratch()
    const tokens = { file: folder.path('tokens.json') }
    await using server = await startAuthServer({ tokens }, { origins: [APP] })
    const asked = await server.ask('OPTIONS', '/data/find/x', { headers: preflight(origin) })
    assert.deepEqual([asked.status, asked.headers['access-control-allow-origin']], [403, undefined])
    const done = await server.ask('POST', '/data/find/x', { headers: { Origin: origin } })
    assert.deepEqual([done.status, done.headers['access-control-allow-origin']], [403, undefined])
  })
}

test('cors: without configured origins there are no CORS headers', async () => {
  await using server = await startAuthServer({ isOpen: true })
  const headers = preflight('http://localhost:3000')
  const asked = await server.ask('OPTIONS', '/data/find/x', { headers })
  assert.deepEqual([asked.status, asked.headers['access-control-allow-origin']], [405, undefined])
})

test('headers: every response has headers that restrict browsers', async () => {
  await using server = await startAuthServer({ isOpen: true })
  for (const path of ['/health', '/docs', '/nothing', '/data/find/x?Q=', '/metadata', '/metrics']) {
    const { headers } = await server.ask('GET', path)
    assert.equal(headers['x-content-type-options'], 'nosniff', path)
    assert.equal(headers['referrer-policy'], 'no-referrer', path)
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path)
    assert.equal(headers['cache-control'], 'no-store', path)
    const policy = String(headers['content-security-policy'])
    assert.match(policy, /default-src 'none'/, path)
    assert.match(policy, /frame-ancestors 'none'/, path)
    assert.doesNotMatch(policy, /,/, path)
  }
})

test('body: a request without credentials is refused before its body arrives', async () => {
  using folder = scratch()
  await using server = await startAuthServer({ tokens: { file: folder.path('tokens.json') } })
  const head = 'PUT /data/insert/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 16000000\r\n\r\n'
  const socket = connect(server.port, '127.0.0.1', () => socket.write(head))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  assert.match(answer.toString(), /^HTTP\/1\.1 401 [^]*Connection: close/)
  socket.destroy()
})
