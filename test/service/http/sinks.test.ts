/** Sinks over HTTP: made, shown, replaced and removed; told of events as their roles see them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { EventSettings } from '../../../src/service/sinks/sink-settings.ts'
import { startTestServer } from '../../support/server.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'
import { change, defineSandwich, defineSecret, insert, remove } from './events-kitchen.ts'
import { NEARBY, SECRET, addSink, eventually, sinkOf, sinkTo, taker } from './sinks-kitchen.ts'

const URL_ELSEWHERE = 'https://kitchen.example.com/events'

onEveryStore(() => {
  test('sinks: one is made, shown, listed, replaced and removed, and its secret is never told', async () => {
    await using server = await startTestServer()
    await defineSandwich(server)
    const made = await addSink(server, sinkTo(URL_ELSEWHERE, { filter: { entity: 'sandwich' } }))
    const shown = {
      name: 'kitchen',
      kind: 'webhook',
      url: URL_ELSEWHERE,
      roles: ['cook'],
      filter: { entity: 'sandwich' },
      secret: 'whsec_***',
      datasource: 'default',
      configured: false,
      status: 'active',
      position: 0,
      failures: 0,
    }
    assert.deepEqual(made.json, shown)
    assert.deepEqual(await sinkOf(server), shown)
    await addSink(server, sinkTo(URL_ELSEWHERE, { name: 'bar' }))
    const listed = await server.ask('GET', '/events/sinks')
    assert.deepEqual(
      listed.json.sinks.map(({ name }: { readonly name: string }) => name),
      ['bar', 'kitchen'],
    )
    const replaced = await server.ask('PUT', '/events/sinks/kitchen', {
      body: { url: 'https://other.example.com/', roles: ['chef'] },
    })
    assert.deepEqual(replaced.json, {
      ...shown,
      url: 'https://other.example.com/',
      roles: ['chef'],
      filter: {},
    })
    for (const { text } of [made, listed, replaced]) assert.ok(!text.includes(SECRET.slice(6, 30)), text)
    assert.deepEqual((await server.ask('DELETE', '/events/sinks/kitchen')).json, { removed: true })
    assert.equal((await server.ask('GET', '/events/sinks/kitchen')).status, 404)
    assert.deepEqual(server.faults(), [])
  })

  const REFUSED: readonly [what: string, change: JsonObject, message: RegExp][] = [
    ['no name', { name: '' }, /"name" says/],
    ['a loopback address', { url: 'http://127.0.0.1:1/' }, /private, loopback or link-local/],
    ['a private address', { url: 'http://192.168.1.1/' }, /private, loopback or link-local/],
    ['a link-local address', { url: 'http://[fe80::1]/' }, /private, loopback or link-local/],
    ['a mapped loopback address', { url: 'http://[::ffff:127.0.0.1]/' }, /private, loopback or link-local/],
    ['an address of another kind', { url: 'file:///etc/passwd' }, /http or https/],
    ['a password in the address', { url: 'https://a:b@example.com/' }, /no user name and no password/],
    ['a short secret', { secret: 'whsec_c2hvcnQ=' }, /"secret" must be/],
    ['no roles', { roles: [] }, /at least one role/],
    ['an unknown key', { rols: [] }, /no sink knows the key "rols"/],
    ['an unknown operation', { filter: { operation: 'find' } }, /"filter" may hold/],
    ['an unknown kind', { kind: 'kafka' }, /"kind" must be "webhook" or "nats"/],
    ['an unknown datasource', { datasource: 'x' }, /"datasource" must be one of default/],
    ['a datasource that is no text', { datasource: 1 }, /"datasource" must be a string/],
  ]

  test('sinks: what cannot be one is refused', async (t) => {
    await using server = await startTestServer()
    for (const [what, change, message] of REFUSED) {
      await t.test(what, async () => {
        const body = sinkTo(URL_ELSEWHERE, change)
        const { status, text, json } = await server.ask('POST', '/events/sinks', { body })
        assert.deepEqual([status, json.errorCode], [400, 'crud:InvalidRequest'])
        assert.match(text.replaceAll('\\"', '"'), message)
        assert.ok(!text.includes('whsec_MD') && !text.includes('c2hvcnQ'))
      })
    }
    await addSink(server, sinkTo(URL_ELSEWHERE))
    const again = await server.ask('POST', '/events/sinks', { body: sinkTo(URL_ELSEWHERE) })
    assert.deepEqual([again.status, again.json.errorCode], [409, 'crud:DuplicateSink'])
    const renamed = await server.ask('PUT', '/events/sinks/kitchen', {
      body: sinkTo(URL_ELSEWHERE, { name: 'other' }),
    })
    assert.equal(renamed.status, 400)
    assert.deepEqual(server.faults(), [])
  })

  const UNKNOWN: readonly [method: string, path: string][] = [
    ['GET', ''],
    ['PUT', ''],
    ['DELETE', ''],
    ['GET', '/dead'],
    ['POST', '/dead/redrive'],
    ['GET', '/dead/x'],
    ['POST', '/dead/x'],
    ['DELETE', '/dead/x'],
  ]

  test('sinks: an unknown one is 404, and so is an unknown dead letter', async () => {
    await using server = await startTestServer()
    for (const [method, path] of UNKNOWN) {
      const body = method === 'PUT' ? { body: sinkTo(URL_ELSEWHERE) } : {}
      const answer = await server.ask(method, `/events/sinks/kitchen${path}`, body)
      assert.deepEqual([answer.status, answer.json.errorCode], [404, 'crud:UnknownSink'], `${method} ${path}`)
    }
    await addSink(server, sinkTo(URL_ELSEWHERE))
    for (const method of ['GET', 'POST', 'DELETE']) {
      const answer = await server.ask(method, '/events/sinks/kitchen/dead/x')
      assert.deepEqual([answer.status, answer.json.errorCode], [404, 'crud:UnknownDeadLetter'], method)
    }
    const path = '/events/sinks/kitchen/dead'
    assert.deepEqual((await server.ask('GET', path)).json, { dead: [], next: 0 })
    assert.deepEqual((await server.ask('POST', `${path}/redrive`)).json, { redriven: 0 })
    assert.equal((await server.ask('GET', `${path}?limit=0`)).status, 400)
  })

  test('sinks: one is told what happens from then on, signed, as a CloudEvent, in the order of changes', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using receiver = await taker()
    await defineSandwich(server)
    await insert(server, 'sandwich', { _id: 'old', toppings: ['egg'] })
    await eventually(
      async () => (await server.ask('GET', '/events')).json.next > 0,
      'the event has its number',
    )
    await addSink(server, sinkTo(receiver.url))
    await insert(server, 'sandwich', { _id: 'club', name: 'Club', price: 7, toppings: ['bacon'] })
    await change(server, 'sandwich', 'club', { $append: { toppings: 'egg' } })
    await remove(server, 'sandwich', 'club')
    await eventually(() => receiver.taken.length === 3, 'all are delivered')
    assert.deepEqual(
      receiver.taken.map(({ type, subject }) => [type, subject]),
      [
        ['smalt.insert', 'club'],
        ['smalt.update', 'club'],
        ['smalt.delete', 'club'],
      ],
    )
    const [first] = receiver.taken
    const { events } = (await server.ask('GET', '/events?since=1', { roles: ['cook'] })).json
    assert.deepEqual(first.data, events[0])
    assert.deepEqual([first.specversion, first.id, first.source], ['1.0', events[0].id, '/entities/sandwich'])
    assert.deepEqual(server.faults(), [])
  })

  test('sinks: one is told what its roles may see, and nothing of the rest', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using cook = await taker()
    await using boss = await taker()
    await defineSecret(server)
    await defineSandwich(server, { watchProjection: { field: '*', recursive: true } })
    await addSink(server, sinkTo(cook.url))
    await addSink(server, sinkTo(boss.url, { name: 'office', roles: ['boss'] }))
    await insert(server, 'secret', { _id: 's', owner: 'ann', open: 'o', hidden: 'TOPSECRET' })
    await insert(server, 'sandwich', { _id: 'club', name: 'Club', price: 77_777, toppings: ['bacon'] })
    await change(server, 'sandwich', 'club', { $set: { price: 88_888 } })
    await change(server, 'sandwich', 'club', { $set: { name: 'Last' } })
    await eventually(() => boss.taken.length === 4 && cook.taken.length === 2, 'each has its own')
    const told = JSON.stringify(cook.taken)
    for (const hidden of ['TOPSECRET', '77777', '88888', 'price']) assert.ok(!told.includes(hidden), told)
    assert.ok(JSON.stringify(boss.taken).includes('TOPSECRET'))
    assert.deepEqual(
      cook.taken.map(({ data }) => data.after.name),
      ['Club', 'Last'],
    )
  })

  test('sinks: lists that change count for what is sent from then on', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using receiver = await taker()
    await defineSandwich(server, { watchProjection: { field: '*', recursive: true } })
    await addSink(server, sinkTo(receiver.url))
    await insert(server, 'sandwich', { _id: 'a', name: 'A', price: 1 })
    await eventually(() => receiver.taken.length === 1, 'the first')
    const replaced = await server.ask('PUT', '/events/sinks/kitchen', {
      body: { url: receiver.url, roles: ['boss'] },
    })
    assert.equal(replaced.status, 200, replaced.text)
    let count = 0
    await eventually(async () => {
      await insert(server, 'sandwich', { _id: `b${count++}`, name: 'B', price: 2 })
      return receiver.taken.some(({ data }) => data.after.price === 2)
    }, 'the price is told')
    assert.equal(receiver.taken[0].data.after.price, undefined)
  })

  test('sinks: a filter leaves out the rest', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using receiver = await taker()
    await defineSandwich(server)
    await addSink(server, sinkTo(receiver.url, { filter: { entity: 'sandwich', operation: 'delete' } }))
    await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
    await remove(server, 'sandwich', 'a')
    await eventually(() => receiver.taken.length > 0, 'the delete')
    assert.deepEqual(
      receiver.taken.map(({ type }) => type),
      ['smalt.delete'],
    )
  })

  test('sinks: what was not delivered when the service ended is told when it is back', async () => {
    await using place = await freshPlace()
    let isOut = true
    await using receiver = await taker((response) => {
      if (isOut) response.writeHead(500).end()
      return isOut
    })
    {
      await using server = await startTestServer({ events: NEARBY, ...place })
      await defineSandwich(server)
      await addSink(server, sinkTo(receiver.url))
      await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
      await insert(server, 'sandwich', { _id: 'b', toppings: ['x'] })
      await eventually(() => receiver.asked() > 0, 'the first attempt')
    }
    isOut = false
    await using server = await startTestServer({ events: NEARBY, ...place })
    await eventually(() => receiver.taken.length === 2, 'both are told')
    assert.deepEqual(server.faults(), [])
  })

  test('sinks: those of the configuration are made at the start, shown as such, and not changed by others', async () => {
    await using place = await freshPlace()
    await using receiver = await taker()
    const sinksFor = (role: string): EventSettings => settingsWith(receiver.url, role)
    {
      await using server = await startTestServer({ events: sinksFor('cook'), ...place })
      await defineSandwich(server)
      await eventually(async () => (await sinkOf(server)).configured === true, 'it is there')
      for (const method of ['PUT', 'DELETE']) {
        const body = method === 'PUT' ? { body: sinkTo(receiver.url) } : {}
        const answer = await server.ask(method, '/events/sinks/kitchen', body)
        assert.deepEqual([answer.status, answer.json.errorCode], [409, 'crud:ConfiguredSink'])
      }
      await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
      await eventually(() => receiver.taken.length === 1, 'it is told')
    }
    {
      await using server = await startTestServer({ events: sinksFor('chef'), ...place })
      await eventually(async () => (await sinkOf(server)).roles[0] === 'chef', 'it is replaced')
      assert.equal((await sinkOf(server)).position, 1)
      assert.deepEqual(server.faults(), [])
    }
    await using server = await startTestServer({ events: NEARBY, ...place })
    assert.equal((await sinkOf(server)).configured, false)
    assert.deepEqual((await server.ask('DELETE', '/events/sinks/kitchen')).json, { removed: true })
  })

  test('sinks: one of the configuration that answered 410 is enabled by a restart, where it was', async () => {
    await using place = await freshPlace()
    let isGone = true
    await using receiver = await taker((response) => {
      if (isGone) response.writeHead(410).end()
      return isGone
    })
    const events = settingsWith(receiver.url, 'cook')
    {
      await using server = await startTestServer({ events, ...place })
      await defineSandwich(server)
      await eventually(async () => (await sinkOf(server)).configured === true, 'it is there')
      await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
      await eventually(async () => (await sinkOf(server)).status === 'disabled', 'it is disabled')
    }
    isGone = false
    await using server = await startTestServer({ events, ...place })
    await eventually(() => receiver.taken.length === 1, 'it is told')
    assert.equal((await sinkOf(server)).status, 'active')
  })

  function settingsWith(url: string, role: string): EventSettings {
    const filter = { entity: 'sandwich' }
    const definition = {
      kind: 'webhook',
      name: 'kitchen',
      url,
      secret: SECRET,
      roles: [role],
      filter,
    } as const
    return { ...NEARBY, sinks: [{ definition }] }
  }
})
