/** Receivers that fail in every way: nothing is lost, and nobody else waits for them. */
import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { test } from 'node:test'
import { INLINE_STEPS, TooMuchForThisThread, Work } from '../../../src/base/work/work.ts'
import { deadLetters as readDeadLetters } from '../../../src/service/sinks/dead-letters.ts'
import type { FoundSink } from '../../../src/service/sinks/sink-datasources.ts'
import { startTestServer } from '../../support/server.ts'
import { change, defineSandwich, insert } from './events-kitchen.ts'
import {
  NEARBY,
  type Taker,
  addSink,
  deadLetters,
  eventually,
  sinkOf,
  sinkTo,
  taker,
} from './sinks-kitchen.ts'
import { onEveryStore } from '../../support/store-kind.ts'

/** What each does the first time it is asked; later it takes what comes. */
const WAYS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  fails: (response) => void response.writeHead(500).end(),
  refuses: (response) => void response.writeHead(404).end('no'),
  redirects: (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
  'talks-garbage': (response) => void response.socket!.end('this is no HTTP\r\n\r\n'),
  'hangs-up': (response) => void response.socket!.destroy(),
  hangs: () => undefined,
}

const LARGE = 'x'.repeat(200_000)

test('sinks: the main thread does not read dead letters of large events', async () => {
  for (const bytes of [1_000, 200_000]) {
    const sinks = {
      measureDead: async () => bytes,
      listDead: async () => [],
      readDead: async () => undefined,
    }
    const sink = { store: { sinks }, record: { name: 'kitchen' } } as unknown as FoundSink
    const letters = readDeadLetters({ schemaOf: () => assert.fail() })
    const work = new Work({ timeLimitMs: 30_000, steps: INLINE_STEPS })
    const isLeft = bytes > 128 * 1024
    const parameters = new URLSearchParams()
    if (isLeft) await assert.rejects(letters.list(sink, parameters, work), TooMuchForThisThread)
    else assert.deepEqual(await letters.list(sink, parameters, work), { dead: [], next: 0 })
    const refused = isLeft ? TooMuchForThisThread : /no dead letter of this id/
    await assert.rejects(letters.inspect(sink, 'x', work), refused)
    // as a worker thread does it
    assert.deepEqual(await letters.list(sink, parameters, new Work({ timeLimitMs: 30_000 })), {
      dead: [],
      next: 0,
    })
  }
})

onEveryStore(() => {
  test('sinks: receivers that fail, hang, redirect or talk garbage lose nothing and delay nobody else', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using good = await taker()
    await using stack = new AsyncDisposableStack()
    await defineSandwich(server)
    const bad = new Map<string, Taker>()
    for (const [name, way] of Object.entries(WAYS)) {
      const receiver = await taker((response, asked) => {
        if (asked === 1) way(response)
        return asked === 1
      })
      bad.set(name, stack.use(receiver))
      await addSink(server, sinkTo(receiver.url, { name }))
    }
    await addSink(server, sinkTo(good.url, { name: 'good' }))
    await insert(server, 'sandwich', { _id: 'club', toppings: ['egg'] })
    await eventually(() => good.taken.length === 1, 'the good one takes the first')
    for (let i = 0; i < 20; i++) {
      await change(server, 'sandwich', 'club', { $append: { toppings: `t${i}` } })
      await insert(server, 'sandwich', { _id: `other${i}`, toppings: ['x'] })
    }
    const began = performance.now()
    const all = (): number => new Set(good.taken.map(({ id }) => id)).size
    await eventually(() => all() === 41, 'the good one has all')
    const goodMs = performance.now() - began
    for (const [name, receiver] of bad) {
      await eventually(() => receiver.taken.length === 41, `${name} has all after all`)
      const ofClub = receiver.taken.filter(({ subject }) => subject === 'club').map(({ data }) => data.seq)
      assert.deepEqual(
        ofClub,
        ofClub.toSorted((a, b) => a - b),
        `${name}: in the order of the document`,
      )
    }
    // the one that hangs needs ten seconds to be given up
    assert.ok(goodMs < performance.now() - began, `the good one waited for ${goodMs} ms`)
    assert.ok(goodMs < 8_000, `the good one waited for ${goodMs} ms`)
    assert.deepEqual(server.faults(), [])
  })

  test('sinks: 410 disables one, and replacing it enables it where it was', async () => {
    await using server = await startTestServer({ events: NEARBY })
    let isGone = true
    await using receiver = await taker((response) => {
      if (isGone) response.writeHead(410).end()
      return isGone
    })
    await defineSandwich(server)
    await addSink(server, sinkTo(receiver.url))
    await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
    await eventually(async () => (await sinkOf(server)).status === 'disabled', 'it is disabled')
    await insert(server, 'sandwich', { _id: 'b', toppings: ['x'] })
    isGone = false
    const enabled = await server.ask('PUT', '/events/sinks/kitchen', {
      body: { url: receiver.url, roles: ['cook'] },
    })
    assert.equal(enabled.json.status, 'active', enabled.text)
    await eventually(() => receiver.taken.length === 2, 'both are told')
  })

  test('sinks: a name that leads to this machine is not followed', async () => {
    await using server = await startTestServer()
    await using receiver = await taker()
    await defineSandwich(server)
    await addSink(server, sinkTo(`http://localhost:${receiver.port}/`))
    await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
    await eventually(async () => (await sinkOf(server)).status === 'failing', 'it fails')
    assert.equal(receiver.connections(), 0)
  })

  test('sinks: dead letters of large events are read in a worker thread, and look the same', async () => {
    await using small = await deadLetters(['a'])
    await using large = await deadLetters(['a', 'b'], LARGE)
    const [expected] = await small.dead()
    const found = await large.dead()
    const constant = { id: '', seq: 0, date: '' }
    for (const each of found) {
      assert.deepEqual({ ...each, ...constant }, { ...expected, ...constant })
      const read = await large.server.ask('GET', `${large.path}/${each.id}`)
      assert.equal(read.status, 200, read.text)
      assert.deepEqual(read.json.event.after, { toppings: [LARGE] })
      assert.deepEqual({ ...read.json, event: '' }, { ...each, event: '' })
    }
    assert.equal(
      (await large.server.ask('GET', `${large.path}/unknown`)).json.errorCode,
      'crud:UnknownDeadLetter',
    )
    assert.deepEqual(large.server.faults(), [])
  })

  test('sinks: after twelve attempts an event is a dead letter, to be looked at, tried again or given up', async () => {
    await using kitchen = await deadLetters(['a', 'b', 'c'])
    const { server, receiver, path, dead } = kitchen
    const [first, second, third] = await dead()
    assert.deepEqual([first.attempts, first.error, first.operation], [12, 'status 500', 'insert'])
    assert.deepEqual([first.held, second.held, third.held], [1, 1, 1])
    const inspected = await server.ask('GET', `${path}/${first.id}`)
    assert.equal(inspected.json.event.documentId, 'a')
    assert.ok(!inspected.text.includes('77777'))
    const page = (await server.ask('GET', `${path}?limit=1`)).json
    assert.deepEqual([page.dead.length, page.next], [1, first.seq])
    assert.deepEqual((await server.ask('GET', `${path}?since=${page.next}`)).json.dead, [second, third])
    kitchen.recover()
    assert.deepEqual((await server.ask('DELETE', `${path}/${first.id}`)).json, { discarded: true })
    await eventually(() => receiver.taken.length === 1, 'what waited behind it goes on')
    assert.deepEqual((await server.ask('POST', `${path}/${second.id}`)).json, { redriven: 1 })
    await eventually(() => receiver.taken.length === 3, 'what was dead is told, and then what waited')
    assert.deepEqual((await server.ask('POST', `${path}/redrive`)).json, { redriven: 1 })
    await eventually(() => receiver.taken.length === 5, 'all that was dead is told')
    assert.deepEqual(
      receiver.taken.map(({ type, subject }) => [type, subject]),
      [
        ['smalt.update', 'a'],
        ['smalt.insert', 'b'],
        ['smalt.update', 'b'],
        ['smalt.insert', 'c'],
        ['smalt.update', 'c'],
      ],
    )
    await eventually(async () => (await dead()).length === 0, 'nothing is dead any more')
  })

  test('sinks: metrics tell how each is doing', async () => {
    await using server = await startTestServer({ events: NEARBY })
    await using good = await taker()
    await using bad = await taker((response) => {
      response.writeHead(500).end()
      return true
    })
    await defineSandwich(server)
    await addSink(server, sinkTo(good.url, { name: 'good' }))
    await addSink(server, sinkTo(bad.url, { name: 'bad' }))
    await insert(server, 'sandwich', { _id: 'a', toppings: ['x'] })
    const metric = async (name: string): Promise<number> => {
      const { text } = await server.ask('GET', '/metrics')
      const line = text.split('\n').find((each) => each.startsWith(`${name} `))
      return Number(line?.slice(name.length))
    }
    await eventually(
      async () => (await metric('smalt_sink_deliveries_total{sink="good"}')) === 1,
      'delivered',
    )
    await eventually(async () => (await metric('smalt_sink_failures_total{sink="bad"}')) >= 2, 'failed')
    await eventually(async () => (await metric('smalt_outbox_depth{sink="bad"}')) === 1, 'one is left')
    await eventually(async () => (await metric('smalt_outbox_depth{sink="good"}')) === 0, 'none is left')
    await eventually(
      async () => (await metric('smalt_outbox_oldest_seconds{sink="bad"}')) > 0.5,
      'it gets old',
    )
    assert.equal(await metric('smalt_outbox_oldest_seconds{sink="good"}'), 0)
    assert.equal(await metric('smalt_sink_dead_letters{sink="bad"}'), 0)
  })
})
