/** Tickets: credentials in the address for one minute, one path and GET only. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createAuthentication } from '../../../src/auth/create.ts'
import { addToken, revokeToken } from '../../../src/auth/token-file.ts'
import type { Json } from '../../../src/base/json/json.ts'
import { ticketService } from '../../../src/service/tickets.ts'
import { type Answer, type Ask, startTestServer } from '../../support/server.ts'
import { ANYONE, failLoudly, metadataDocument } from '../../support/service.ts'
import { onEveryStore } from '../../support/store-kind.ts'
import { follow } from '../http/events-follower.ts'
import { SOON_MS, bearer, eventually, scratch, startAuthServer } from './harness.ts'
import { makeKey, settingsFor, sign, startIssuer } from './issuer.ts'

const PATH = '/documents/secret/1'

onEveryStore(() => {
  test('tickets: they have the rights of their caller, for one path', async () => {
    await using server = await startTestServer()
    const fields = { name: { type: 'string' }, pay: { type: 'integer', access: { find: ['hr'] } } }
    await server.define('secret', fields)
    await server.ask('POST', '/documents/secret', { body: { _id: '1', name: 'Ann', pay: 5 }, roles: ['hr'] })
    const ticketFor = async (path: string, roles: readonly string[]): Promise<string> => {
      const answer = await server.ask('POST', '/auth/ticket', { body: { path }, roles })
      assert.equal(answer.status, 200, answer.text)
      return answer.json.ticket
    }
    const [boss, other] = [await ticketFor(PATH, ['hr']), await ticketFor(`/rest${PATH}/`, ['x'])]
    assert.equal((await server.ask('GET', `${PATH}?ticket=${boss}`)).json.pay, 5)
    assert.equal((await server.ask('GET', `/rest${PATH}?fields=pay&ticket=${boss}`)).text, '{"pay":5}')
    assert.equal((await server.ask('HEAD', `${PATH}?ticket=${boss}`)).status, 200)
    assert.equal((await server.ask('GET', `${PATH}?ticket=${other}`)).json.pay, undefined)
    assert.equal((await server.ask('GET', PATH)).json.pay, undefined)
    for (const path of ['/documents/secret/2', '/documents/secret', '/data/find/secret', '/events'])
      assert.equal((await server.ask('GET', `${path}?ticket=${boss}`)).status, 401, path)
    const changed = `${boss.slice(0, -2)}${boss.endsWith('AA') ? 'BB' : 'AA'}`
    for (const wrong of [changed, 't1.', 't1.AAAA', '', 'x', '%', boss.slice(0, 60)])
      assert.equal((await server.ask('GET', `${PATH}?ticket=${wrong}`)).status, 401, wrong)
    for (const method of ['DELETE', 'PUT', 'PATCH'])
      assert.equal((await server.ask(method, `${PATH}?ticket=${boss}`, { body: { name: 'x' } })).status, 400)
    const twice = await server.ask('GET', `${PATH}?ticket=${boss}&ticket=${boss}`)
    assert.match(twice.json.msg, /given twice/)
    const both = await server.ask('GET', `${PATH}?ticket=${boss}`, { roles: ['x'] })
    assert.match(both.json.msg, /not both/)
  })
})

test('tickets: a request for one names a path and nothing else', async () => {
  await using server = await startTestServer()
  for (const body of [
    {},
    { path: 5 },
    { path: 'events' },
    { path: '/a?b=1' },
    { path: '/documents/thing/%ff' },
    { path: '/documents/thing/ä' },
    { path: '/a', role: 'x' },
    [],
  ]) {
    const answer = await server.ask('POST', '/auth/ticket', { body })
    assert.deepEqual([answer.status, answer.json.errorCode], [400, 'crud:InvalidRequest'], answer.text)
  }
})

test('tickets: a path without a GET has none', async () => {
  await using server = await startTestServer()
  for (const path of ['/event', '/events//stream', '/data/insert/thing', '/auth/ticket', '/lock']) {
    const { status, json } = await server.ask('POST', '/auth/ticket', { body: { path } })
    assert.deepEqual([status, json.errorCode], [400, 'crud:InvalidRequest'], path)
    assert.match(
      json.msg,
      /no GET at this "path".* such as "\/events\/stream", "\/documents\/\{entity\}/,
      path,
    )
  }
})

test('tickets: a path may be percent-encoded in another way, but an encoded slash is no slash', async () => {
  await using server = await startTestServer()
  await server.define('coded', { name: { type: 'string' } })
  for (const _id of ['abc', 'a@b', 'ä b', 'a/b', 'a%2Fb', 'stream'])
    await server.ask('POST', '/documents/coded', { body: { _id } })
  const at = async (issued: string, used: string): Promise<number> => {
    const { status, json, text } = await server.ask('POST', '/auth/ticket', { body: { path: issued } })
    assert.equal(status, 200, text)
    return (await server.ask('GET', `${used}?ticket=${json.ticket}`)).status
  }
  const [base, encoded] = ['/documents/coded', '/d%6fcuments/c%6Fded']
  for (const [issued, used] of [
    [`${base}/abc`, `${encoded}/a%62c/`],
    [`/rest${encoded}/%61bc`, `${base}/abc`],
    [`${base}/a@b`, `${base}/a%40b`],
    [`${base}/%C3%A4%20b`, `${base}/%c3%a4%20%62`],
    [`${base}/a%2Fb`, `/rest${base}/a%2fb`],
  ] as const) {
    assert.equal(await at(issued, used), 200, `${issued} ${used}`)
    assert.equal(await at(used, issued), 200, `${used} ${issued}`)
  }
  for (const [issued, used] of [
    [`${base}/a%2Fb`, `${base}/a%252Fb`],
    [`${base}/a%252Fb`, `${base}/a%2Fb`],
    [`${base}/abc`, `${base}/a%2Fb`],
    [`${base}/abc`, `${base}/ABC`],
    ['/events/stream', '/events'],
  ] as const)
    assert.equal(await at(issued, used), 401, `${issued} ${used}`)
})

test('tickets: one that is not valid is refused on public routes, too', async () => {
  await using server = await startTestServer()
  for (const path of ['/', '/health', '/ready', '/version', '/openapi.json']) {
    assert.equal((await server.ask('GET', path)).status, 200, path)
    const { status, json } = await server.ask('GET', `${path}?ticket=t1.AAAA`)
    assert.deepEqual([status, json.errorCode], [401, 'crud:Unauthenticated'], path)
  }
})

test('tickets: they count for a minute, in every process with the same secret', () => {
  let time = Date.UTC(2026, 0, 1)
  const now = (): Date => new Date(time)
  const [one, two, stranger] = ['a', 'a', 'b'].map((secret) => ticketService({ secret: () => secret, now }))
  const issue = (): string => one!.issue({ path: '/events' }, { Authorization: 'x' }, (path) => path)
  const ticket = issue()
  assert.deepEqual(two!.open(ticket, '/events'), { Authorization: 'x' })
  assert.equal(stranger!.open(ticket, '/events'), undefined)
  assert.notEqual(issue(), ticket)
  time += 60_000
  assert.ok(two!.open(ticket, '/events'))
  time += 1
  assert.equal(two!.open(ticket, '/events'), undefined)
})

test('tickets: they need credentials, and end with them', async () => {
  using folder = scratch()
  const file = folder.path('tokens.json')
  const { id, token } = await addToken(file, { principal: 'ann', roles: ['hr'] })
  await using server = await startAuthServer({ tokens: { file } })
  const body = { path: '/events' }
  assert.equal((await server.ask('POST', '/auth/ticket', { body })).status, 401)
  const { json } = await server.ask('POST', '/auth/ticket', { body, headers: bearer(token) })
  assert.equal((await server.ask('GET', `/events?ticket=${json.ticket}`)).status, 200)
  await revokeToken(file, id)
  await eventually(
    async () => (await server.ask('GET', `/events?ticket=${json.ticket}`)).status === 401,
    'the ticket of a revoked token is refused',
  )
})

test('tickets: with a JSON Web Token they have its roles, its name and its claims, and end with it', async () => {
  const key = await makeKey('first')
  await using issuer = await startIssuer(key)
  const jwt = settingsFor(issuer, { leewaySeconds: 0 })
  const permissions = { 'metadata.insert': ['hr'] }
  const settings = { jwt, permissions, isOpen: false, hasCertificates: false, origins: [] }
  await using server = await startTestServer({ auth: await createAuthentication(settings, failLoudly) })
  const headersOf = async (claims: Readonly<Record<string, unknown>>) =>
    bearer(await sign(issuer, key, { roles: [], ...claims }))
  const hr = await headersOf({ roles: ['hr'] })
  const fields = {
    owner: { type: 'string' },
    region: { type: 'string' },
    pay: { type: 'integer', access: { find: ['hr'] } },
  }
  const own = { field: 'owner', op: '=', rvalue: '$caller.principal' }
  const near = { field: 'region', op: '=', rvalue: '$caller.claims.region' }
  const find = ['hr', ...[own, near].map((where) => ({ role: 'anyone', where }))]
  const body = metadataDocument('secret', fields, { schema: { access: { ...ANYONE, find } } })
  const ask = async (method: string, path: string, body: Json): Promise<Answer> => {
    const answer = await server.ask(method, path, { body, headers: hr })
    assert.ok(answer.status < 300, answer.text)
    return answer
  }
  await ask('PUT', '/metadata/secret/1.0.0', body)
  await ask('PUT', '/data/insert/secret', {
    data: [
      { _id: '1', owner: 'ann', region: 'north', pay: 5 },
      { _id: '2', owner: 'bob', region: 'south', pay: 6 },
      { _id: '3', owner: 'cy', region: 'south', pay: 7 },
    ],
  })
  const path = '/documents/secret'
  const ticketOf = async (headers: NonNullable<Ask['headers']>): Promise<string> => {
    const { status, json, text } = await server.ask('POST', '/auth/ticket', { body: { path }, headers })
    assert.equal(status, 200, text)
    return json.ticket
  }
  const seen = async (claims: Readonly<Record<string, unknown>>): Promise<Json> => {
    const ticket = await ticketOf(await headersOf(claims))
    return (await server.ask('GET', `${path}?fields=_id,pay&ticket=${ticket}`)).json.items
  }
  assert.deepEqual(await seen({ roles: ['hr'], sub: 'x' }), [
    { _id: '1', pay: 5 },
    { _id: '2', pay: 6 },
    { _id: '3', pay: 7 },
  ])
  assert.deepEqual(await seen({ sub: 'ann' }), [{ _id: '1' }])
  assert.deepEqual(await seen({ sub: 'ann', region: 'south' }), [{ _id: '1' }, { _id: '2' }, { _id: '3' }])
  assert.deepEqual(await seen({ sub: 'x' }), [])

  const exp = Math.floor(Date.now() / 1_000) + 4
  const brief = await ticketOf(await headersOf({ exp, sub: 'ann' }))
  await eventually(
    async () => (await server.ask('GET', `${path}?ticket=${brief}`)).status === 401,
    'the ticket of an expired token is refused',
  )
  assert.ok(Date.now() >= exp * 1_000)
})

test('tickets: a stream that was opened by one receives events', async () => {
  await using server = await startTestServer()
  const hooks = [{ name: 'h', actions: ['insert'], configuration: { watchProjection: { field: 'name' } } }]
  await server.define('seen', { name: { type: 'string' } }, { info: { hooks } })
  const path = '/events/stream'
  const { json } = await server.ask('POST', '/auth/ticket', { body: { path }, roles: ['x'] })
  using follower = await follow(server.port, `${path}?entity=seen&ticket=${json.ticket}`)
  await server.ask('POST', '/documents/seen', { body: { name: 'Ann' } })
  await follower.until(({ events }) => events().length > 0, SOON_MS)
})
