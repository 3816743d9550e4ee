/** One event to a NATS server: what the stream gets, and what becomes of it where the server does not take it. */
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { NatsDefinition } from '../../../src/sinks/nats/nats-definition.ts'
import { type NatsOptions, openNats } from '../../../src/sinks/nats/nats.ts'
import type { Answer, Message } from '../../../src/sinks/transport.ts'
import { NEEDS_NATS, NEEDS_OWN_NATS, startNats, testNatsUrl } from '../../support/nats.ts'
import { until } from '../../service/sinks/delivering.ts'
import { makeStream, natsTo, ownSubject } from './nats-streams.ts'
import { listening } from '../../service/sinks/servers.ts'

const BOUNDED = { timeout: 200_000 }
const { signal } = new AbortController()

function message(id: string, more = ''): Message {
  const data = { documentId: id, more }
  const body = { specversion: '1.0', id, source: '/entities/order', type: 'smalt.insert', data }
  return { id, entity: 'order', operation: 'insert', body: JSON.stringify(body) }
}

async function sendTo(
  definition: NatsDefinition,
  options: Partial<NatsOptions> = {},
  sent = message('1'),
): Promise<Answer> {
  await using nats = openNats(definition, { allowPrivateAddresses: true, ...options })
  return await nats.send(sent, signal)
}

function failed(reason: string): Answer {
  return { kind: 'failed', reason }
}

test(
  'send to NATS: a CloudEvent, under the names of its entity and operation',
  { ...BOUNDED, ...NEEDS_NATS },
  async () => {
    const [url, subject] = [await testNatsUrl(), ownSubject()]
    await using stream = await makeStream(url, subject)
    const sent = message('1')
    assert.deepEqual(await sendTo(natsTo(url, subject, { name: 'kitchen' }), {}, sent), { kind: 'delivered' })
    assert.deepEqual(await stream.read(), [
      {
        subject: `${subject}.order.insert`,
        id: 'kitchen/1',
        type: 'application/cloudevents+json',
        event: JSON.parse(sent.body),
      },
    ])
  },
)

test(
  'send to NATS: an event that comes again is delivered, and kept once',
  { ...BOUNDED, ...NEEDS_NATS },
  async () => {
    const [url, subject] = [await testNatsUrl(), ownSubject()]
    await using stream = await makeStream(url, subject)
    await using nats = openNats(natsTo(url, subject), { allowPrivateAddresses: true })
    for (const id of ['1', '2', '1']) {
      assert.deepEqual(await nats.send(message(id), signal), { kind: 'delivered' })
    }
    assert.deepEqual(
      (await stream.read()).map(({ event }) => event.id),
      ['1', '2'],
    )
  },
)

test(
  'send to NATS: sinks that share a stream do not take the events of each other for their own',
  { ...BOUNDED, ...NEEDS_NATS },
  async () => {
    const [url, subject] = [await testNatsUrl(), ownSubject()]
    await using stream = await makeStream(url, subject)
    for (const name of ['cook', 'boss']) {
      const definition = natsTo(url, `${subject}.${name}`, { name })
      assert.deepEqual(await sendTo(definition, {}, message('1', name)), { kind: 'delivered' })
    }
    assert.deepEqual(
      (await stream.read()).map(({ event }) => event.data.more),
      ['cook', 'boss'],
    )
  },
)

test('send to NATS: what no stream takes has failed', { ...BOUNDED, ...NEEDS_NATS }, async () => {
  const [url, subject] = [await testNatsUrl(), ownSubject()]
  assert.deepEqual(await sendTo(natsTo(url, subject)), failed('no stream takes this subject'))
})

test(
  'send to NATS: what the stream or the server refuses has failed, and says why',
  { ...BOUNDED, ...NEEDS_NATS },
  async () => {
    const [url, subject] = [await testNatsUrl(), ownSubject()]
    const config = { max_msgs: 1, discard: 'new', max_msg_size: 1_000 } as const
    await using _stream = await makeStream(url, subject, { config })
    await using nats = openNats(natsTo(url, subject), { allowPrivateAddresses: true })
    const send = (id: string, bytes = 0): Promise<Answer> => nats.send(message(id, 'x'.repeat(bytes)), signal)
    assert.deepEqual(await send('1', 10_000), failed('the event is larger than the stream takes'))
    assert.deepEqual(await send('1', 2_000_000), failed('the event is larger than the server takes'))
    assert.deepEqual(await send('1'), { kind: 'delivered' })
    assert.deepEqual(await send('2'), failed('the stream is full'))
  },
)

test(
  'send to NATS: one connection serves until it is lost, and another one comes of itself',
  { ...BOUNDED, ...NEEDS_OWN_NATS },
  async () => {
    const subject = ownSubject()
    await using server = await startNats()
    await using stream = await makeStream(server.url, subject)
    await using nats = openNats(natsTo(server.url, subject), { allowPrivateAddresses: true })
    const many = Array.from({ length: 20 }, (_, i) => nats.send(message(`a${i}`), signal))
    assert.ok((await Promise.all(many)).every(({ kind }) => kind === 'delivered'))
    await server.kill('SIGKILL')
    const reasons = ['the connection was lost', 'ECONNREFUSED'].map(failed)
    const lost = await nats.send(message('b'), signal)
    assert.ok(
      reasons.some((each) => isDeepStrictEqual(each, lost)),
      JSON.stringify(lost),
    )
    await server.restart()
    assert.deepEqual(await nats.send(message('b'), signal), { kind: 'delivered' })
    assert.equal(await stream.count(), 21)
  },
)

test(
  'send to NATS: one that falls silent is given up in time, and is tried over another connection',
  { ...BOUNDED, ...NEEDS_OWN_NATS },
  async () => {
    const subject = ownSubject()
    await using server = await startNats()
    await using stream = await makeStream(server.url, subject)
    await using nats = openNats(natsTo(server.url, subject), {
      allowPrivateAddresses: true,
      timeLimitMs: 2_000,
    })
    assert.deepEqual(await nats.send(message('1'), signal), { kind: 'delivered' })
    server.signal('SIGSTOP')
    // on a busy machine it goes on for a moment
    let last = 2
    while ((await nats.send(message(String(last)), signal)).kind === 'delivered') last++
    assert.deepEqual(await nats.send(message(String(last)), signal), failed('timed out'))
    server.signal('SIGCONT')
    await until(async () => (await nats.send(message(String(last)), signal)).kind === 'delivered')
    assert.equal(await stream.count(), last)
  },
)

test('send to NATS: one that is called off has no answer, and ends at once', BOUNDED, async () => {
  await using server = await listening(createServer())
  const stop = new AbortController()
  const nats = openNats(natsTo(server.url.replace('http:', 'nats:').replace('/hook', ''), 's'), {
    allowPrivateAddresses: true,
  })
  const sending = nats.send(message('1'), stop.signal)
  await until(() => server.connections() === 1)
  stop.abort()
  await assert.rejects(sending, { name: 'AbortError' })
  const began = performance.now()
  await nats[Symbol.asyncDispose]()
  assert.ok(performance.now() - began < 2_000, 'nobody waits for a server that says nothing')
})

/** What each says to whoever connects. */
const STRANGERS: Readonly<Record<string, readonly [says: string, reason: string]>> = {
  nothing: ['', 'timed out'],
  garbage: ['220 mail.example ESMTP\r\n', 'the connection failed'],
  'without end': ['x'.repeat(4_000_000), 'the connection failed'],
  'who it is, and then nothing': ['INFO {"proto":1,"version":"2.9.0","max_payload":9}\r\n', 'timed out'],
}
for (const [what, [says, reason]] of Object.entries(STRANGERS)) {
  test(
    `send to NATS: a server that says ${what} has failed, and no connection is left`,
    BOUNDED,
    async () => {
      let isOpen = false
      await using server = await listening(
        createServer((socket) => {
          isOpen = true
          socket.on('close', () => (isOpen = false))
          socket.resume()
          socket.write(says)
        }),
      )
      const definition = natsTo(`nats://127.0.0.1:${server.port}`, 's')
      const timeLimitMs = reason === 'timed out' ? 800 : 20_000
      await using nats = openNats(definition, { allowPrivateAddresses: true, timeLimitMs })
      assert.deepEqual(await nats.send(message('1'), signal), failed(reason))
      await until(() => !isOpen)
      assert.equal(server.connections(), 1)
    },
  )
}
