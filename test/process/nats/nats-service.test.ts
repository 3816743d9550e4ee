/** Sinks of the kind nats, from outside: made, shown, refused, replaced; told of events as their roles see them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import { connect } from '@nats-io/transport-node'
import { change, defineSandwich, defineSecret, insert, remove } from '../../service/http/events-kitchen.ts'
import { NEARBY, addSink, eventually, sinkOf } from '../../service/http/sinks-kitchen.ts'
import { NEEDS_NATS, NEEDS_OWN_NATS, startNats, testNatsUrl } from '../../support/nats.ts'
import { type TestServer, startTestServer } from '../../support/server.ts'
import { consume, makeStream as makeExampleStream } from './consumer-example.ts'
import { makeStream, ownSubject } from './nats-streams.ts'
import { SECRET } from '../../service/sinks/servers.ts'
import { onEveryStore } from '../../support/store-kind.ts'

const ELSEWHERE = 'nats://nats.example.com:4222'
const PASSWORD = 'pa55word-of-smalt'
const KNOWN = { user: 'smalt', password: PASSWORD }

function natsSink(url: string, subject: string, more: JsonObject = {}): JsonObject {
  return { name: 'kitchen', kind: 'nats', url, subject, roles: ['cook'], ...more }
}

onEveryStore(() => {
  test('NATS sinks: one is made, shown, replaced and removed, and its credentials are never told', async () => {
    await using server = await startTestServer()
    const made = await addSink(server, natsSink(ELSEWHERE, 'smalt', { credentials: KNOWN }))
    const shown = {
      name: 'kitchen',
      kind: 'nats',
      url: ELSEWHERE,
      roles: ['cook'],
      filter: {},
      subject: 'smalt',
      credentials: { user: 'smalt', password: '***' },
      datasource: 'default',
      configured: false,
      status: 'active',
      position: 0,
      failures: 0,
    }
    assert.deepEqual(made.json, shown)
    const listed = await server.ask('GET', '/events/sinks')
    assert.deepEqual(listed.json.sinks, [shown])
    const replaced = await replace(server, natsSink(ELSEWHERE, 'other', { roles: ['chef'] }))
    assert.deepEqual(replaced.json, { ...shown, subject: 'other', roles: ['chef'] })
    for (const { text } of [made, listed, replaced]) assert.ok(!text.includes(PASSWORD), text)
    const open = await replace(server, natsSink(ELSEWHERE, 'other', { credentials: {} }))
    assert.equal(open.json.credentials, undefined)
    assert.deepEqual((await server.ask('DELETE', '/events/sinks/kitchen')).json, { removed: true })
    assert.deepEqual(server.faults(), [])
  })

  test('NATS sinks: credentials given for one server are not shown to another', async () => {
    await using server = await startTestServer()
    await addSink(server, natsSink(ELSEWHERE, 'smalt', { credentials: KNOWN }))
    for (const url of ['nats://evil.example.com:4222', 'tls://nats.example.com:4222']) {
      const moved = await replace(server, natsSink(url, 'smalt'))
      assert.deepEqual([moved.status, moved.json.errorCode], [400, 'crud:InvalidRequest'])
      assert.match(
        moved.json.msg,
        /"credentials" must be given again when "url" changes \(at \/credentials\)/,
      )
    }
    const again = await replace(server, natsSink('tls://nats.example.com', 'smalt', { credentials: KNOWN }))
    assert.equal(again.status, 200, again.text)
  })

  const REFUSED: readonly [what: string, change: JsonObject, message: RegExp][] = [
    ['no subject', { subject: null }, /"subject" must be a string \(at \/subject\)/],
    ['an empty subject', { subject: '' }, /"subject" says what subjects begin with.* \(at \/subject\)/],
    ['a wildcard', { subject: 'smalt.*' }, /without wildcards/],
    ['a subject with an empty part', { subject: 'smalt..events' }, /with dots between/],
    ['a subject with a line end', { subject: 'smalt\r\nPUB x' }, /without wildcards/],
    ['the interface of JetStream', { subject: '$JS.API.STREAM.DELETE' }, /beginning with "\$" or "_"/],
    ['the inbox of somebody', { subject: '_INBOX.x' }, /beginning with "\$" or "_"/],
    ['an address of the web', { url: 'https://nats.example.com/' }, /nats or tls URL.* \(at \/url\)/],
    ['an address without a host', { url: 'nats:' }, /nats or tls URL/],
    ['several servers', { url: 'nats://a,nats://b' }, /nats or tls URL/],
    ['a path', { url: `${ELSEWHERE}/x` }, /nats or tls URL/],
    ['a password in the address', { url: `nats://u:${PASSWORD}@h:4222` }, /no user name and no password/],
    ['a token in the address', { url: `nats://${PASSWORD}@h:4222` }, /no user name and no password/],
    ['a loopback address', { url: 'nats://127.0.0.1:4222' }, /private, loopback.*allowPrivateAddresses/],
    ['loopback in hexadecimal', { url: 'nats://0x7f000001' }, /private, loopback or link-local/],
    ['a private address', { url: 'tls://10.0.0.1' }, /private, loopback or link-local/],
    ['a link-local address', { url: 'nats://[fe80::1]:4222' }, /private, loopback or link-local/],
    ['a secret', { secret: SECRET }, /only sinks of the kind "webhook" have a secret \(at \/secret\)/],
    ['a text as credentials', { credentials: PASSWORD }, /"credentials" may hold.* \(at \/credentials\)/],
    ['unknown credentials', { credentials: { pass: PASSWORD } }, /"credentials" may hold/],
    ['half of them', { credentials: { user: 'smalt' } }, /must hold user and password/],
    ['two ways', { credentials: { ...KNOWN, token: PASSWORD } }, /must hold user and password, or token/],
    [
      'an empty token',
      { credentials: { token: '' } },
      /"token" must not be empty \(at \/credentials\/token\)/,
    ],
    ['a seed that is none', { credentials: { nkey: PASSWORD } }, /"nkey" must be the seed of a user/],
    ['a name of a file', { credentials: { creds: '/etc/passwd' } }, /"creds" must be the content of a file/],
  ]

  test('NATS sinks: what cannot be one is refused, with the place', async (t) => {
    await using server = await startTestServer()
    for (const [what, change, message] of REFUSED) {
      await t.test(what, async () => {
        const body = natsSink(ELSEWHERE, 'smalt', change)
        const { status, text, json } = await server.ask('POST', '/events/sinks', { body })
        assert.deepEqual([status, json.errorCode], [400, 'crud:InvalidRequest'])
        assert.match(json.msg, message)
        assert.ok(!text.includes(PASSWORD) && !text.includes(SECRET.slice(6)), text)
      })
    }
    assert.deepEqual((await server.ask('GET', '/events/sinks')).json, { sinks: [] })
  })

  test(
    'NATS sinks: one publishes what happens from then on, as its roles may see it',
    NEEDS_NATS,
    async () => {
      const [url, subject] = [await testNatsUrl(), ownSubject()]
      await using stream = await makeStream(url, subject)
      await using server = await startTestServer({ events: NEARBY })
      await defineSandwich(server, { watchProjection: { field: '*', recursive: true } })
      await addSink(server, natsSink(url, `${subject}.cook`))
      await addSink(server, natsSink(url, `${subject}.boss`, { name: 'office', roles: ['boss'] }))
      await insert(server, 'sandwich', { _id: 'club', name: 'Club', price: 77_777, toppings: ['bacon'] })
      await change(server, 'sandwich', 'club', { $set: { price: 88_888 } })
      await remove(server, 'sandwich', 'club')
      await eventually(async () => (await stream.count()) === 5, 'each has its own')
      const published = await stream.read()
      const under = (who: string): readonly string[] =>
        published.flatMap((each) => (each.subject.startsWith(`${subject}.${who}.`) ? [each.subject] : []))
      const subjects = (who: string, ...operations: readonly string[]): readonly string[] =>
        operations.map((operation) => `${subject}.${who}.sandwich.${operation}`)
      assert.deepEqual(under('cook'), subjects('cook', 'insert', 'delete'))
      assert.deepEqual(under('boss'), subjects('boss', 'insert', 'update', 'delete'))
      const told = JSON.stringify(published.filter((each) => each.subject.startsWith(`${subject}.cook.`)))
      for (const hidden of ['77777', '88888', 'price']) assert.ok(!told.includes(hidden), told)
      const { events } = (await server.ask('GET', '/events', { roles: ['cook'] })).json
      const first = published.find((each) => each.subject.startsWith(`${subject}.cook.`))
      assert.deepEqual(first!.event.data, events[0])
      assert.equal(first!.id, `kitchen/${events[0].id}`)
      assert.deepEqual(server.faults(), [])
    },
  )

  test('NATS sinks: a definition that is replaced counts without a restart', NEEDS_NATS, async () => {
    const [url, subject] = [await testNatsUrl(), ownSubject()]
    await using stream = await makeStream(url, subject)
    await using server = await startTestServer({ events: NEARBY })
    await defineSandwich(server)
    await addSink(server, natsSink(url, `${subject}.old`))
    await insert(server, 'sandwich', { _id: 'first', toppings: ['x'] })
    await eventually(async () => (await stream.count()) === 1, 'the first')
    const replaced = await replace(server, natsSink(url, `${subject}.new`))
    assert.equal(replaced.status, 200, replaced.text)
    let count = 0
    await eventually(async () => {
      await insert(server, 'sandwich', { _id: `b${count++}`, toppings: ['x'] })
      return (await stream.read()).some((each) => each.subject === `${subject}.new.sandwich.insert`)
    }, 'it goes under the new subject')
    await eventually(async () => (await stream.count()) === 1 + count, 'nothing is lost on the way')
  })

  test(
    'NATS sinks: what no stream takes is a dead letter after twelve attempts, and goes on once there is one',
    NEEDS_NATS,
    async () => {
      const [url, subject] = [await testNatsUrl(), ownSubject()]
      await using server = await startTestServer({ events: NEARBY, now: fastClock(20_000) })
      await defineSandwich(server)
      await addSink(server, natsSink(url, subject))
      await insert(server, 'sandwich', { _id: 'club', toppings: ['x'] })
      await change(server, 'sandwich', 'club', { $append: { toppings: 'y' } })
      const path = '/events/sinks/kitchen/dead'
      await eventually(async () => (await server.ask('GET', path)).json.dead.length === 1, 'it is dead')
      const [letter] = (await server.ask('GET', path)).json.dead
      assert.deepEqual(
        [letter.attempts, letter.error, letter.operation, letter.held],
        [12, 'no stream takes this subject', 'insert', 1],
      )
      assert.equal((await sinkOf(server)).status, 'failing')
      await using stream = await makeStream(url, subject)
      assert.deepEqual((await server.ask('POST', `${path}/redrive`)).json, { redriven: 1 })
      await eventually(async () => (await stream.count()) === 2, 'both are published')
      assert.deepEqual(
        (await stream.read()).map(({ event }) => event.type),
        ['smalt.insert', 'smalt.update'],
      )
      await eventually(async () => (await sinkOf(server)).status === 'active', 'it is well again')
    },
  )

  test(
    'NATS sinks: a wrong password is a failure that does not repeat it, and the right one mends it',
    NEEDS_OWN_NATS,
    async () => {
      await using nats = await startNats(`authorization { user: smalt, password: ${PASSWORD} }`)
      const subject = ownSubject()
      await using stream = await makeStream(nats.url, subject, { known: { user: 'smalt', pass: PASSWORD } })
      await using server = await startTestServer({ events: NEARBY, now: fastClock(20_000) })
      await defineSandwich(server)
      const wrong = { user: 'smalt', password: 'wr0ng-password' }
      await addSink(server, natsSink(nats.url, subject, { credentials: wrong }))
      await insert(server, 'sandwich', { _id: 'club', toppings: ['x'] })
      const path = '/events/sinks/kitchen/dead'
      await eventually(async () => (await server.ask('GET', path)).json.dead.length === 1, 'it is dead')
      const dead = await server.ask('GET', path)
      assert.equal(dead.json.dead[0].error, 'the server does not accept the credentials')
      const shown = await server.ask('GET', '/events/sinks/kitchen')
      for (const text of [dead.text, shown.text, ...server.faults()]) assert.ok(!text.includes('wr0ng'), text)
      await replace(server, natsSink(nats.url, subject, { credentials: KNOWN }))
      await server.ask('POST', `${path}/redrive`)
      await eventually(async () => (await stream.count()) === 1, 'it is published')
      assert.deepEqual(server.faults(), [])
    },
  )

  test(
    'NATS sinks: a name that leads to this machine is not followed unless that is allowed',
    NEEDS_NATS,
    async () => {
      const { port } = new URL(await testNatsUrl())
      await using server = await startTestServer({ now: fastClock(20_000) })
      await defineSandwich(server)
      await addSink(server, natsSink(`nats://localhost:${port}`, ownSubject()))
      await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
      const path = '/events/sinks/kitchen/dead'
      await eventually(async () => (await server.ask('GET', path)).json.dead.length === 1, 'it is dead')
      const [{ error }] = (await server.ask('GET', path)).json.dead
      assert.equal(error, 'the address is private, loopback or link-local')
    },
  )

  test(
    'NATS sinks: the consumer of the documentation takes each event, and again one that it could not handle',
    NEEDS_OWN_NATS,
    async () => {
      await using nats = await startNats()
      await using server = await startTestServer({ events: NEARBY })
      await using connection = await connect({ servers: nats.url })
      await makeExampleStream(connection)
      await defineSandwich(server)
      await defineSecret(server)
      await addSink(server, natsSink(nats.url, 'smalt.events', { roles: ['boss'] }))
      await insert(server, 'secret', { _id: 's', open: 'o' })
      await insert(server, 'sandwich', { _id: 'club', toppings: ['bacon'] })
      await change(server, 'sandwich', 'club', { $append: { toppings: 'egg' } })
      const asked: string[] = []
      await consume(connection, async ({ type }) => {
        asked.push(type)
        if (asked.length === 1) throw new Error('not now')
      })
      await eventually(() => asked.length === 3, 'all are handled')
      assert.deepEqual(asked, ['smalt.insert', 'smalt.insert', 'smalt.update'])
    },
  )

  function replace(server: TestServer, body: JsonObject): ReturnType<TestServer['ask']> {
    return server.ask('PUT', '/events/sinks/kitchen', { body })
  }

  /** A clock that runs so much faster, from now on. */
  function fastClock(times: number): () => Date {
    const began = Date.now()
    return () => new Date(began + (Date.now() - began) * times)
  }
})
