/** The page as files: what browsers may keep, what they may run, and that it can be turned off. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import { UI_ROUTES } from '../../../src/http/routes/ui-routes.ts'
import { type Harness, start } from './harness.ts'

let http: Harness
before(async () => {
  http = await start()
  const { status, text } = await http.ask('GET', '/ui')
  assert.equal(status, 200, `npm ci builds the page: ${text}`)
})
after(() => http.server.close())

const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

test('ui: the page may run its own files only, and stands in no frame', async () => {
  const { headers } = await http.ask('GET', '/ui')
  assert.equal(headers['content-type'], 'text/html; charset=utf-8')
  assert.equal(headers['cache-control'], 'no-cache')
  const policy = String(headers['content-security-policy'])
  for (const part of [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
  ])
    assert.ok(policy.split('; ').includes(part), part)
  assert.doesNotMatch(policy, /unsafe|\*|http:/)
})

test('ui: the issuer at which users sign in is the only other address of the page', async () => {
  assert.deepEqual((await http.ask('GET', '/ui/settings')).json(), {})
  const oidc = { issuer: 'https://id.example.com/realms/main', clientId: 'page', scope: 'openid' }
  await using other = await start({ oidc })
  assert.deepEqual((await other.ask('GET', '/ui/settings')).json(), { oidc })
  const { status, headers } = await other.ask('GET', '/ui?code=1&state=2&session_state=3')
  assert.equal(status, 200)
  const policy = String(headers['content-security-policy']).split('; ')
  assert.ok(policy.includes("connect-src 'self' https://id.example.com"), String(policy))
})

test('ui: the page has no script and no style of its own in the text', async () => {
  const { text } = await http.ask('GET', '/ui')
  assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|style=|\son\w+=/)
})

test('ui: its files never change, and are sent compressed to those who take it', async () => {
  const { text } = await http.ask('GET', '/ui')
  const paths = [...text.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  assert.ok(paths.some((path) => path.endsWith('.js')) && paths.some((path) => path.endsWith('.css')))
  for (const path of paths) {
    const plain = await http.ask('GET', path)
    assert.deepEqual(
      [plain.status, plain.headers['cache-control'], plain.headers['content-encoding']],
      [200, 'public, max-age=31536000, immutable', undefined],
      path,
    )
    const packed = await http.ask('GET', path, { headers: { 'Accept-Encoding': 'gzip, br' } })
    assert.deepEqual(
      [packed.headers['content-encoding'], packed.headers['vary']],
      ['gzip', 'Accept-Encoding'],
    )
    assert.equal(packed.headers['etag'], plain.headers['etag'])
    const refused = await http.ask('GET', path, { headers: { 'Accept-Encoding': 'gzip;q=0, identity' } })
    assert.equal(refused.headers['content-encoding'], undefined)
  }
})

test('ui: a file that the browser has is not sent again', async () => {
  const { headers } = await http.ask('GET', '/ui')
  const etag = String(headers['etag'])
  for (const condition of [etag, `"x", ${etag}`, `W/${etag}`]) {
    const again = await http.ask('GET', '/ui', { headers: { 'If-None-Match': condition } })
    assert.deepEqual([again.status, again.text, again.headers['etag']], [304, '', etag], condition)
  }
  const other = await http.ask('GET', '/ui', { headers: { 'If-None-Match': '"x"' } })
  assert.equal(other.status, 200)
})

test('ui: the first view needs less than 300 kB compressed', async () => {
  const raw = await http.raw('GET /ui HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const paths = [...raw.matchAll(/(?:src|href)="(\/ui\/assets\/[^"]+)"/g)].map(([, path]) => path!)
  let bytes = raw.length
  for (const path of paths) {
    const headers = { 'Accept-Encoding': 'gzip' }
    bytes += Number((await http.ask('GET', path, { headers })).headers['content-length'])
  }
  assert.ok(bytes < 300_000, `${bytes} bytes`)
})

for (const path of [
  '/ui/assets/nothing.js',
  '/ui/assets/..%2findex.html',
  '/ui/assets/%2e%2e%2f%2e%2e%2fpackage.json',
]) {
  test(`ui: ${path} is not there`, async () => {
    const { status, headers } = await http.ask('GET', path)
    assert.deepEqual([status, headers['cache-control']], [404, 'no-store'])
  })
}

test('guide: every page of the documentation is there, and its links lead somewhere', async () => {
  const index = await http.ask('GET', '/docs/guide')
  assert.equal(index.status, 200)
  const paths = [...index.text.matchAll(/href="(\/docs\/guide[^"#]*)"/g)].map(([, path]) => path!)
  assert.ok(paths.length > 30)
  for (const path of new Set(paths)) {
    const { status, text } = await http.ask('GET', path)
    assert.equal(status, 200, path)
    assert.doesNotMatch(text, /href="[^"]*\.md[#"]|<script/, path)
    const fragments = [...text.matchAll(/href="#([^"]+)"/g)].map(([, id]) => id!)
    for (const id of fragments) assert.ok(text.includes(`id="${id}"`), `${path}#${id}`)
  }
  const missing = await http.ask('GET', '/docs/guide/nothing')
  assert.equal(missing.status, 404)
  assert.match(missing.text, /there is no such page; \/docs\/guide lists them/)
})

test('links: browsers go on to the page, programs get JSON', async () => {
  const browser = await http.ask('GET', '/', { headers: { Accept: BROWSER } })
  assert.deepEqual([browser.status, browser.headers['location']], [302, '/ui'])
  const shouting = await http.ask('GET', '/', { headers: { Accept: 'TEXT/HTML' } })
  assert.equal(shouting.status, 302)
  const { responses } = (await http.ask('GET', '/openapi.json')).json().paths['/'].get
  assert.ok(responses['302'])
  for (const accept of ['*/*', 'application/json', 'text/html;q=0, */*']) {
    const program = await http.ask('GET', '/', { headers: { Accept: accept } })
    assert.deepEqual([program.status, program.json().links.ui], [200, '/ui'], accept)
  }
})

test('ui: turned off, nothing of it is left', async () => {
  await using other = await start({ isUiEnabled: false })
  for (const path of ['/ui', '/ui/settings', '/ui/assets/x.js'])
    assert.equal((await other.ask('GET', path)).status, 404)
  const links = await other.ask('GET', '/', { headers: { Accept: BROWSER } })
  assert.deepEqual([links.status, links.json().links.ui], [200, undefined])
  const { paths } = (await other.ask('GET', '/openapi.json')).json()
  for (const { path } of UI_ROUTES) assert.equal(paths[path], undefined)
  assert.ok(ROUTES.some(({ path }) => path === '/ui'))
})

test('ui: what is sent compressed is the same file', async () => {
  const plain = await http.raw('GET /ui HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const { port } = http
  const answer = await fetch(`http://127.0.0.1:${port}/ui`, { headers: { 'Accept-Encoding': 'identity' } })
  assert.ok(plain.endsWith(await answer.text()))
  const packed = await new Promise<Buffer>((resolve, reject) => {
    const { request } = process.getBuiltinModule('node:http')
    const outgoing = request(
      { host: '127.0.0.1', port, path: '/ui', headers: { 'Accept-Encoding': 'gzip' } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => resolve(Buffer.concat(chunks)))
      },
    )
    outgoing.on('error', reject).end()
  })
  assert.ok(plain.endsWith(gunzipSync(packed).toString()))
})
