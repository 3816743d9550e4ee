import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { CODES, dataStatusOf } from '../../../src/base/errors.ts'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { terminal } from '../../../src/http/observe/terminal.ts'
import { logTo } from '../../../src/http/observe/log.ts'
import { type Harness, start } from './harness.ts'
import { createMetrics } from '../../../src/http/observe/metrics.ts'

let http: Harness
before(async () => {
  http = await start()
})
after(() => http.server.close())

for (const path of ['/health', '/rest/health', '/data/health', '/metadata/health', '/rest/data/health']) {
  test(`GET ${path}: says that the process is up`, async () => {
    const answer = await http.ask('GET', path)
    assert.equal(answer.status, 200)
    assert.deepEqual(answer.json(), { status: 'up' })
  })
}

test('version: is that of the package', async () => {
  const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  assert.deepEqual((await http.ask('GET', '/version')).json(), {
    name: 'smalt',
    version,
    node: process.version,
  })
})

test('links: every one leads somewhere', async () => {
  const { links } = (await http.ask('GET', '/')).json()
  for (const path of Object.values<string>(links)) assert.equal((await http.ask('GET', path)).status, 200)
})

test('ready: asks the service at most once a second, and gives its reason', async (t) => {
  await using other = await start()
  const answers = await Promise.all([1, 2, 3].map(() => other.ask('GET', '/ready')))
  for (const answer of answers) assert.deepEqual([answer.status, answer.json()], [200, { status: 'ready' }])
  assert.equal(other.service.readyCalls, 1)
  other.service.problem = new Error('the disk is full')
  assert.equal((await other.ask('GET', '/ready')).status, 200)
  const now = performance.now.bind(performance)
  t.mock.method(performance, 'now', () => now() + 1_001)
  const answer = await other.ask('GET', '/ready')
  assert.equal(answer.status, 503)
  assert.equal(answer.headers['retry-after'], '1')
  assert.deepEqual(answer.json(), { status: 'unavailable', reason: 'the disk is full' })
})

test('metrics: count requests by route and status, and time them', async () => {
  await using other = await start()
  await other.ask('POST', '/data/find/country')
  await other.ask('POST', '/rest/data/find/country')
  await other.ask('GET', '/nothing')
  const { text, headers } = await other.ask('GET', '/metrics')
  assert.equal(headers['content-type'], 'text/plain; version=0.0.4; charset=utf-8')
  assert.match(
    text,
    /^smalt_http_requests_total\{method="POST",route="\/data\/find\/\{entity\}",status="200"\} 2$/m,
  )
  assert.match(text, /^smalt_http_requests_total\{method="",route="\(none\)",status="404"\} 1$/m)
  assert.match(
    text,
    /^smalt_http_request_duration_seconds_count\{method="POST",route="\/data\/find\/\{entity\}"\} 2$/m,
  )
  assert.match(text, /^smalt_http_request_duration_seconds_bucket\{.*le="\+Inf"\} 2$/m)
  assert.match(text, /^nodejs_eventloop_lag_seconds /m)
  assert.match(text, /^process_cpu_seconds_total /m)
})

test('metrics: time what the store does', async () => {
  const metrics = createMetrics()
  metrics.observeStore('find', 0.002)
  metrics.observeStore('find', 0.2)
  const text = await metrics.text()
  assert.match(text, /^smalt_store_duration_seconds_count\{operation="find"\} 2$/m)
})

test('openapi: the document is valid OpenAPI 3.1', async () => {
  const document = (await http.ask('GET', '/openapi.json')).json()
  const { valid, errors } = await new Validator().validate(document)
  assert.deepEqual([valid, errors ?? []], [true, []])
  assert.equal(document.openapi, '3.1.0')
})

test('openapi: every route is told whole', async () => {
  const { paths, components } = (await http.ask('GET', '/openapi.json')).json()
  const ids = new Set()
  for (const route of ROUTES) {
    const operation = paths[route.path][route.method.toLowerCase()]
    ids.add(operation.operationId)
    const names = operation.parameters
      .filter((each: { in: string; name: string }) => each.in === 'path')
      .map((each: { in: string; name: string }) => `{${each.name}}`)
    assert.deepEqual(names, route.path.match(/\{\w+\}/g) ?? [])
    assert.equal('requestBody' in operation, route.body !== undefined)
    for (const status of [String(route.status ?? 200), '400', '403', '500', '503'])
      assert.ok(operation.responses[status], route.path)
    for (const code of route.errors ?? [])
      assert.ok(
        operation.responses[route.tag === 'data' ? dataStatusOf(code) : CODES[code]].description.includes(
          code,
        ),
      )
  }
  assert.equal(ids.size, ROUTES.length)
  assert.ok(components.schemas.Query && components.schemas.Projection && components.schemas.Error)
})

test('openapi: who asks may be told in part or not at all', async () => {
  const { paths, components, security } = (await http.ask('GET', '/openapi.json')).json()
  assert.deepEqual(security, [{ bearer: [] }, {}])
  assert.deepEqual(paths['/health'].get.security, [])
  assert.equal(paths['/metadata'].get.security, undefined)
  const parameters = Object.values<{ name: string; required: boolean }>(components.parameters)
  assert.deepEqual(
    parameters.map(({ name, required }) => [name, required]),
    [
      ['Smalt-Roles', false],
      ['Smalt-Principal', false],
      ['Smalt-Claims', false],
      ['ticket', false],
      ['Idempotency-Key', false],
    ],
  )
  const told = (path: string) => JSON.stringify(paths[path].get.parameters).includes('parameters/Roles')
  assert.deepEqual([told('/metadata'), told('/health')], [true, false])
})

test('openapi: a find may answer in lines, and a search needs no body', async () => {
  const { paths } = (await http.ask('GET', '/openapi.json')).json()
  const find = paths['/data/find/{entity}'].post
  assert.deepEqual(Object.keys(find.responses[200].content), ['application/json', 'application/x-ndjson'])
  assert.ok(find.responses[413] && find.responses[504])
  assert.equal(find.requestBody.required, true)
  assert.equal(paths['/data/search/{entity}/{name}'].post.requestBody.required, false)
})

test('docs: says who asks, lists its contents, and shows code as code', async () => {
  const { text } = await http.ask('GET', '/docs')
  assert.match(text, /<code>Smalt-Roles: [^]*<code>Smalt-Principal: /)
  const ids = new Set(Array.from(text.matchAll(/ id="([^"]+)"/g), ([, id]) => id))
  const targets = Array.from(text.matchAll(/href="#([^"]+)"/g), ([, id]) => id)
  assert.ok(targets.length > 40 && targets.every((id) => ids.has(id)))
  assert.match(text, /With <code>\?stream=true<\/code>/)
  assert.doesNotMatch(text.replaceAll(/<pre>[^]*?<\/pre>/g, ''), /`/)
})

test('docs: one page without anything from elsewhere', async () => {
  const { text, headers } = await http.ask('GET', '/docs')
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.match(
    headers['content-security-policy'] as string,
    /^default-src 'none'; style-src 'sha256-[^']+'; base-uri/,
  )
  assert.doesNotMatch(text, /<script|<link|<img|src=/)
  // an example may show an address, and lead nowhere
  assert.doesNotMatch(text.replaceAll(/<pre>[^<]*<\/pre>/g, ''), /https?:/)
  for (const { path, summary } of ROUTES) {
    assert.ok(text.includes(path))
    assert.ok(text.includes(summary))
  }
})

test('terminal: a request is one short line, and control characters do not pass', () => {
  const lines: string[] = []
  const log = logTo(
    terminal((line) => void lines.push(line)),
    'info',
  )
  const numbers = { roles: 2, status: 200, ms: 1.5, bytes: 10 }
  log.request({
    requestId: 'id',
    method: 'GET',
    route: '/r',
    entity: 'a\u001b[2J',
    version: undefined,
    ...numbers,
  })
  log.logger.error({ err: new Error('oops') }, 'bad')
  assert.match(lines[0]!, /^\d\d:\d\d:\d\d\.\d{3} info  GET \/r a\?\[2J 200 1\.5ms 10B roles=2 id\n$/)
  assert.match(lines[1]!, /error bad\nError: oops\n +at /)
})
