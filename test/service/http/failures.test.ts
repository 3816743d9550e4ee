import assert from 'node:assert/strict'
import { connect } from 'node:net'
import { after, before, test } from 'node:test'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { openMode } from '../../../src/auth/open.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'
import { watchEventLoop } from '../../../src/http/observe/overload.ts'
import { startServer } from '../../../src/http/server.ts'
import { fakeService } from './fake-service.ts'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start()
})
after(() => http.server.close())

test('data: an error of the service is the response document with its status', async () => {
  const answer = await http.ask('POST', '/data/find/denied')
  assert.equal(answer.status, 403)
  assert.equal(answer.json().errors[0].context, 'find(denied)')
})

test('metadata: an error of the service is the bare error object with its status', async () => {
  const answer = await http.ask('GET', '/metadata/missing')
  assert.equal(answer.status, 404)
  const expected = {
    objectType: 'error',
    context: 'x',
    errorCode: 'metadata:MissingEntityInfo',
    msg: 'missing',
  }
  assert.deepEqual(answer.json(), expected)
})

test('unavailable: every 503 says when to try again', async () => {
  const answer = await http.ask('POST', '/data/find/away')
  assert.equal(answer.status, 503)
  assert.equal(answer.headers['retry-after'], '1')
})

test('address: a character that is not encoded is named as such', async () => {
  const text = await http.raw('GET /data/find/zürich HTTP/1.1\r\nHost: localhost\r\n\r\n')
  assert.match(text, /^HTTP\/1\.1 400 [^]*the address contains a character that must be percent-encoded/)
})

test('address: a misspelt operation is told where operations are', async () => {
  const misspelt = await http.ask('GET', '/data/fnd/employee')
  assert.equal(misspelt.status, 405)
  assert.match(misspelt.text, /supports only PUT; operations are at \/data\/find\/\{entity\}, .*; see \/docs/)
  const unknown = await http.ask('GET', '/data/fnd/employee/1.0.0')
  assert.equal(unknown.status, 404)
  assert.match(unknown.text, /nothing at this path; operations are at \/data\/find\/\{entity\}/)
  assert.doesNotMatch((await http.ask('GET', '/nothing')).text, /operations/)
})

for (const [method, path] of [
  ['POST', '/data/find/broken'],
  ['GET', '/metadata/broken'],
] as const) {
  test(`${method} ${path}: an unforeseen error tells only where to look`, async () => {
    const answer = await http.ask(method, path)
    assert.equal(answer.status, 500)
    const error = path.startsWith('/data') ? answer.json().errors[0] : answer.json()
    assert.equal(error.errorCode, 'crud:Internal')
    assert.ok(error.msg.includes(answer.headers['x-request-id']))
    assert.doesNotMatch(answer.text, /secret|TypeError|\.ts/)
    const line = http
      .lines()
      .find((each) => each.level === 'error' && each.requestId === answer.headers['x-request-id'])
    assert.match(JSON.stringify(line), /secret detail[^]*fake-service\.ts/)
  })
}

const NONSENSE: readonly [rule: string, text: string, status: number][] = [
  ['no HTTP at all is 400', 'hello\r\n\r\n', 400],
  ['a bad method is 400', 'FOO / HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['CONNECT is 400', 'CONNECT localhost:80 HTTP/1.1\r\nHost: localhost\r\n\r\n', 400],
  ['a bad header is 400', 'GET / HTTP/1.1\r\nHost: localhost\r\nbad header\r\n\r\n', 400],
  [
    'a bad chunk is 400',
    'POST /data/find/x HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
    400,
  ],
  ['headers too long are 431', `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(40_000)}\r\n\r\n`, 431],
  ['an address too long is 431', `GET /${'x'.repeat(40_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
]
for (const [rule, sent, status] of NONSENSE) {
  test(`not a request: ${rule}`, async () => {
    const text = await http.raw(sent)
    assert.match(text, new RegExp(`^HTTP/1\\.1 ${status} [^]*X-Request-Id: `))
    const error = JSON.parse(text.slice(text.indexOf('\r\n\r\n') + 4))
    assert.deepEqual(Object.keys(error), ['objectType', 'context', 'errorCode', 'msg'])
  })
}

test('not a request: CONNECT behind a sound request does not cut its answer', async () => {
  const host = 'Host: localhost\r\n\r\n'
  const text = await http.raw(`GET /version HTTP/1.1\r\n${host}CONNECT localhost:80 HTTP/1.1\r\n${host}`)
  assert.match(text, /^HTTP\/1\.1 200 [^]*"version"[^]*\}$/)
})

test('log: one line for each request, with the route and without values', async () => {
  const before = http.lines().length
  const headers = { 'Smalt-Roles': 'a,b', 'X-Request-Id': 'line-1' }
  const answer = await http.ask('GET', '/rest/data/find/country/1.0.0?Q=name:Hidden', { headers })
  const lines = http.lines().slice(before)
  assert.equal(lines.length, 1)
  const { time, ms, ...rest } = lines[0]!
  assert.match(time as string, /^\d{4}-\d\d-\d\dT/)
  assert.ok((ms as number) >= 0)
  assert.deepEqual(rest, {
    level: 'info',
    requestId: 'line-1',
    method: 'GET',
    route: '/data/find/{entity}/{version}',
    entity: 'country',
    version: '1.0.0',
    roles: 2,
    status: 200,
    bytes: answer.text.length,
  })
})

test('log: names from outside stay inside their strings', async () => {
  await http.ask('GET', '/data/find/%22%0A%7B', { headers: { 'X-Request-Id': 'line-2' } })
  assert.equal(http.lines().find((line) => line.requestId === 'line-2')?.entity, '"\n{')
})

test('overload: the interface answers 503, health goes on', async () => {
  await using busy = await start({ overload: { isOverloaded: () => true, close: () => undefined } })
  const answer = await busy.ask('POST', '/data/find/country')
  assert.equal(answer.status, 503)
  assert.equal(answer.headers['retry-after'], '1')
  assert.equal(answer.json().errors[0].errorCode, 'crud:Unavailable')
  assert.equal((await busy.ask('GET', '/metadata')).json().errorCode, 'crud:Unavailable')
  for (const path of ['/health', '/ready', '/metrics'])
    assert.equal((await busy.ask('GET', path)).status, 200)
})

test('overload: a loop that stays stuck is noticed, and one that has caught up again too', async () => {
  const overload = watchEventLoop(200)
  assert.equal(overload.isOverloaded(), false)
  block(1_500)
  await wait(0)
  block(1_500)
  await wait(0)
  assert.equal(overload.isOverloaded(), true)
  while (overload.isOverloaded()) await wait(50)
  overload.close()
})

/** By processor time: on a busy machine others run meanwhile, which is not this process's fault. */
function block(ms: number): void {
  const before = process.threadCpuUsage()
  const spentMs = (): number => {
    const { user, system } = process.threadCpuUsage(before)
    return (user + system) / 1_000
  }
  while (spentMs() < ms);
}

for (const host of ['0.0.0.0', '::', '192.168.1.1', 'example.com', '']) {
  test(`startServer: open mode refuses to listen on ${JSON.stringify(host)}`, async () => {
    const options = {
      service: fakeService(),
      limits: DEFAULT_LIMITS,
      auth: openMode(),
      metrics: createMetrics(),
    }
    const log = logTo({ write: () => undefined }, 'silent')
    await assert.rejects(
      startServer({ ...options, log, host, port: 0 }),
      /without authentication.*--host 127\.0\.0\.1/,
    )
  })
}

test('close: answers what is under way, with Connection: close, and takes nothing new', async () => {
  const draining = await start()
  let open = () => {}
  draining.service.gate = new Promise((resolve) => (open = resolve))
  const answer = draining.ask('POST', '/data/find/country', { headers: { Connection: 'keep-alive' } })
  while (draining.service.begun === 0) await wait(5)
  const closed = draining.server.close()
  await assert.rejects(draining.ask('GET', '/health'), /ECONNREFUSED/)
  open()
  assert.equal((await answer).status, 200)
  assert.equal((await answer).headers.connection, 'close')
  await closed
})

test('close: does not wait for idle connections', async () => {
  const idle = await start()
  const sockets = [connect(idle.port, '127.0.0.1'), connect(idle.port, '127.0.0.1')]
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('connect', resolve))))
  sockets[1]!.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await new Promise((resolve) => sockets[1]!.once('data', resolve))
  const ended = sockets.map((socket) => new Promise((resolve) => socket.once('close', resolve)))
  await idle.server.close()
  await Promise.all(ended)
})

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
