/** Row 30: whatever the answer, no browser can be made to run it, frame it, guess its type or hand it to another page. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ROUTES } from '../../../src/http/routes/routes.ts'
import type { Answer } from '../../support/server.ts'
import { CLERK, openOffice, put } from './office.ts'

const office = openOffice()

test('jsonp: no parameter makes an answer a script', async () => {
  for (const name of ['callback', 'jsonp', 'cb', '_callback', 'format']) {
    for (const path of [
      '/data/find/person',
      '/data/search/person',
      '/events',
      '/metadata',
      '/metadata/person',
      '/health',
      '/version',
    ]) {
      const { text, headers } = await office().ask('GET', `${path}?${name}=alert`, { roles: CLERK })
      assert.match(headers['content-type']!, /^application\/json/)
      assert.match(text, /^[{[]/)
    }
  }
})

test('html: what documents and names hold is data in every answer', async () => {
  const script = '<script>alert(1)</script>'
  await put(office(), 'person', { _id: 'script', name: script })
  const found = await office().ask('GET', '/data/find/person?Q=_id:script', {
    roles: CLERK,
    headers: { Accept: 'text/html' },
  })
  assert.match(found.headers['content-type']!, /^application\/json/)
  assert.equal(found.json.processed[0].name, script)
  for (const path of [`/${script}`, `/data/find/${script}`, `/metadata/${script}`, `/docs?x=${script}`]) {
    const { headers, text } = await office().ask('GET', encodeURI(path), { headers: { Accept: 'text/html' } })
    if (headers['content-type']!.startsWith('text/html')) assert.ok(!text.includes(script), path)
    else assert.match(headers['content-type']!, /^application\/json/, path)
  }
})

/** Some address of each route, with and without what it needs. */
async function* everyAnswer(): AsyncGenerator<readonly [name: string, answer: Answer]> {
  for (const { method: usual, path, body } of ROUTES) {
    // an answer without an end is asked for its head alone
    const method = path === '/events/stream' ? 'HEAD' : usual
    for (const word of ['person', 'nothing']) {
      const address = path.replaceAll(/\{\w+\}/g, word)
      const sent = body ? { body: {} } : {}
      for (const roles of [[], CLERK]) {
        yield [`${method} ${address}`, await office().ask(method, address, { roles, ...sent })]
      }
    }
  }
}

test('headers: every answer of every route forbids browsers whatever can be forbidden', async () => {
  let asked = 0
  for await (const [name, { headers }] of everyAnswer()) {
    asked++
    assert.equal(headers['x-content-type-options'], 'nosniff', name)
    // Only the files of the page, which are the same for everybody, may be stored by anybody.
    const isFile = / \/(?:ui|docs\/guide)\b/.test(name)
    assert.ok(headers['cache-control'] === 'no-store' || (isFile && headers['cache-control']), name)
    assert.equal(headers['referrer-policy'], 'no-referrer', name)
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', name)
    assert.match(
      String(headers['content-security-policy']),
      /default-src 'none'.*frame-ancestors 'none'/,
      name,
    )
    assert.doesNotMatch(String(headers['content-security-policy']), /unsafe-eval|\*/, name)
    assert.match(
      headers['content-type'] ?? '',
      /^(?:application\/(?:json|x-ndjson)|text\/(?:plain|html|event-stream))\b/,
      name,
    )
    assert.equal(headers['set-cookie'], undefined, name)
    assert.equal(headers['x-powered-by'] ?? headers['server'], undefined, name)
  }
  assert.ok(asked >= ROUTES.length)
})

test('cors: no route answers pages of other origins', async () => {
  for (const { method, path, body } of ROUTES) {
    const address = path.replaceAll(/\{\w+\}/g, 'person')
    for (const origin of ['https://evil.example', 'null', 'http://localhost.evil.example']) {
      const headers = { Origin: origin }
      const sent = body ? { body: {} } : {}
      const { status, headers: told } = await office().ask(method, address, {
        headers,
        roles: CLERK,
        ...sent,
      })
      assert.equal(status, 403, `${method} ${path}`)
      assert.deepEqual(
        Object.keys(told).filter((name) => name.startsWith('access-control-')),
        [],
      )
      const preflight = { ...headers, 'Access-Control-Request-Method': method }
      const asked = await office().ask('OPTIONS', address, { headers: preflight })
      assert.ok(asked.status === 403 || asked.status === 405)
      assert.deepEqual(
        Object.keys(asked.headers).filter((name) => name.startsWith('access-control-')),
        [],
      )
    }
  }
})
