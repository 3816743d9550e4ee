/** Webhooks against real servers: what is sent, what counts as received, and where nothing is sent to. */
import assert from 'node:assert/strict'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { cloudEvent } from '../../../src/sinks/cloud-event.ts'
import { secretKey, sign } from '../../../src/sinks/signature.ts'
import type { Answer, Message } from '../../../src/sinks/transport.ts'
import { type WebhookDefinition, type WebhookOptions, openWebhook } from '../../../src/sinks/webhook.ts'
import { keptEvent } from '../../unit/sinks/delivery-model.ts'
import { createReceiver, isGenuine } from './receiver-example.ts'
import { SECRET, answering, listening, speaking } from './servers.ts'

const BOUNDED = { timeout: 200_000 }
const EVENT = keptEvent(1, 'a')
const MESSAGE: Message = { ...EVENT, body: JSON.stringify(cloudEvent(EVENT, { documentId: 'a', ä: '💡' })) }

function definition(url: string): WebhookDefinition {
  return { kind: 'webhook', name: 's', url, secret: SECRET, roles: ['anyone'], filter: {} }
}

async function sendTo(url: string, options: Partial<WebhookOptions> = {}): Promise<Answer> {
  await using webhook = openWebhook(definition(url), { allowPrivateAddresses: true, ...options })
  return await webhook.send(MESSAGE, new AbortController().signal)
}

test('signature: it is that of the convention', () => {
  // the example that libraries of Standard Webhooks share
  const key = secretKey(['whsec_', 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'].join(''))!
  const signed = {
    id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    timestamp: 1_614_265_330,
    body: '{"test": 2432232314}',
  }
  assert.equal(sign(key, signed), 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('signature: a secret has 24 to 64 bytes in base64 after its prefix', () => {
  const of = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`
  assert.deepEqual(
    [of(24), of(64), of(23), of(65), of(32).slice(6), `${of(32)} `, 'whsec_', `whsec_${'ä'.repeat(32)}`].map(
      (secret) => secretKey(secret)?.length,
    ),
    [24, 64, ...Array.from({ length: 6 }, () => undefined)],
  )
})

test('cloud event: subject and data hold what the sink sees', () => {
  const kept = { ...keptEvent(1, 'a', 'order'), at: Date.UTC(2026, 0, 2, 3, 4, 5, 6) }
  assert.deepEqual(cloudEvent(kept, { seq: 1, documentId: 7 }), {
    specversion: '1.0',
    id: 'event-1',
    source: '/entities/order',
    type: 'smalt.insert',
    subject: '7',
    time: '2026-01-02T03:04:05.006Z',
    datacontenttype: 'application/json',
    data: { seq: 1, documentId: 7 },
  })
  assert.ok(!('subject' in cloudEvent(kept, { seq: 1 })), 'a hidden _id is no subject')
})

test('send: a signed CloudEvent by POST', BOUNDED, async () => {
  const got: { headers: IncomingHttpHeaders; body: Buffer; line: string }[] = []
  await using server = await answering((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const line = `${request.method} ${request.url}`
      got.push({ headers: request.headers, body: Buffer.concat(chunks), line })
      response.end('thanks')
    })
  })
  assert.deepEqual(await sendTo(`${server.url}?a=1`), { kind: 'delivered' })
  const [{ headers, body, line }] = got as [(typeof got)[0]]
  assert.equal(line, 'POST /hook?a=1')
  assert.match(headers['content-type']!, /^application\/cloudevents\+json(;|$)/)
  assert.equal(headers['webhook-id'], 'event-1')
  assert.equal(body.toString(), MESSAGE.body)
  assert.ok(isGenuine(headers, body, SECRET))
  assert.ok(!isGenuine(headers, Buffer.concat([body, Buffer.from(' ')]), SECRET), 'a changed body is not')
  assert.ok(!isGenuine({ ...headers, 'webhook-id': 'event-2' }, body, SECRET), 'nor another id')
  assert.ok(!isGenuine({ ...headers, 'webhook-timestamp': '1' }, body, SECRET), 'nor another time')
  assert.ok(!isGenuine(headers, body, `${SECRET.slice(0, -4)}AAA=`), 'nor another secret')
})

test('send: the receiver of the example takes each event once', BOUNDED, async () => {
  const handled: string[] = []
  await using server = await listening(
    createReceiver(SECRET, async ({ id }) => {
      handled.push(id)
      if (handled.length === 1) throw new Error('not today')
    }),
  )
  assert.deepEqual(await sendTo(server.url), { kind: 'failed', reason: 'status 500' })
  assert.deepEqual(await sendTo(server.url), { kind: 'delivered' })
  assert.deepEqual(await sendTo(server.url), { kind: 'delivered' })
  assert.deepEqual(handled, ['event-1', 'event-1'])
  const late = { now: () => Date.now() - 10 * 60_000 }
  assert.deepEqual(await sendTo(server.url, late), { kind: 'failed', reason: 'status 401' })
})

for (const [status, answer] of [
  [200, { kind: 'delivered' }],
  [204, { kind: 'delivered' }],
  [299, { kind: 'delivered' }],
  [301, { kind: 'failed', reason: 'status 301' }],
  [307, { kind: 'failed', reason: 'status 307' }],
  [404, { kind: 'failed', reason: 'status 404' }],
  [410, { kind: 'gone', reason: 'status 410' }],
  [429, { kind: 'failed', reason: 'status 429' }],
  [500, { kind: 'failed', reason: 'status 500' }],
] as const) {
  test(`send: ${status} is ${answer.kind}, and leads nowhere else`, BOUNDED, async () => {
    let elsewhere = 0
    await using other = await answering((_request, response) => {
      elsewhere++
      response.end()
    })
    await using server = await answering((request, response) => {
      request.resume()
      response.writeHead(status, { location: other.url }).end()
    })
    assert.deepEqual(await sendTo(server.url), answer)
    assert.equal(elsewhere, 0)
  })
}

test('send: a receiver that never answers is given up', BOUNDED, async () => {
  await using server = await answering(() => undefined)
  const began = performance.now()
  assert.deepEqual(await sendTo(server.url, { timeLimitMs: 200 }), { kind: 'failed', reason: 'timed out' })
  assert.ok(performance.now() - began < 20_000)
})

test('send: so is one that answers a byte at a time', BOUNDED, async () => {
  await using server = await speaking((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nx: ')
    const drip = setInterval(() => socket.write('y'), 20)
    socket.on('close', () => clearInterval(drip))
  })
  assert.deepEqual(await sendTo(server.url, { timeLimitMs: 300 }), { kind: 'failed', reason: 'timed out' })
})

test('send: what was answered counts, however long its text goes on', BOUNDED, async () => {
  await using server = await answering((request, response) => {
    request.resume()
    response.writeHead(200)
    const drip = setInterval(() => response.write('x'), 20)
    response.on('close', () => clearInterval(drip))
  })
  assert.deepEqual(await sendTo(server.url), { kind: 'delivered' })
})

test('send: a long text is not read to its end', BOUNDED, async () => {
  let written = 0
  await using server = await answering((request, response) => {
    request.resume()
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && written < 50_000_000) {
        written += 16_384
        if (!response.write(Buffer.alloc(16_384))) return void response.once('drain', more)
      }
    }
    more()
  })
  assert.deepEqual(await sendTo(server.url), { kind: 'delivered' })
  assert.ok(written < 20_000_000, `${written} bytes`)
})

for (const [what, speak, reason] of [
  ['garbage', 'no such thing as HTTP\r\n\r\n', 'HPE_INVALID_CONSTANT'],
  ['headers without end', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`, 'HPE_HEADER_OVERFLOW'],
  ['another protocol', 'HTTP/1.1 101 Switching\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'status 101'],
] as const) {
  test(`send: ${what} is a failure`, BOUNDED, async () => {
    await using server = await speaking((socket) => socket.end(speak))
    assert.deepEqual(await sendTo(server.url), { kind: 'failed', reason })
  })
}

test('send: a connection that is closed early is a failure', BOUNDED, async () => {
  await using server = await speaking((socket) => socket.destroy())
  assert.deepEqual(await sendTo(server.url), { kind: 'failed', reason: 'ECONNRESET' })
  await using silent = await speaking((socket) => socket.end())
  assert.equal((await sendTo(silent.url)).kind, 'failed')
})

test('send: a port where nobody listens is a failure', BOUNDED, async () => {
  const server = await answering(() => undefined)
  await server[Symbol.asyncDispose]()
  assert.deepEqual(await sendTo(server.url), { kind: 'failed', reason: 'ECONNREFUSED' })
})

test(
  'send: a connection is used again, and one that was closed meanwhile is no failure',
  BOUNDED,
  async () => {
    let requests = 0
    await using server = await answering((request, response) => {
      request.resume()
      // closes as it answers the third, which the sender can know only when it sends the fourth
      if (++requests === 3) response.on('finish', () => setImmediate(() => request.socket.destroy()))
      response.end('ok')
    })
    await using webhook = openWebhook(definition(server.url), { allowPrivateAddresses: true })
    const { signal } = new AbortController()
    for (let i = 0; i < 5; i++) assert.deepEqual(await webhook.send(MESSAGE, signal), { kind: 'delivered' })
    assert.ok(requests >= 5)
    assert.equal(server.connections(), 2)
  },
)

test('send: one that is called off has no answer', BOUNDED, async () => {
  await using server = await answering(() => undefined)
  await using webhook = openWebhook(definition(server.url), { allowPrivateAddresses: true })
  const stop = new AbortController()
  const sending = webhook.send(MESSAGE, stop.signal)
  setTimeout(() => stop.abort(), 50)
  await assert.rejects(sending, { name: 'AbortError' })
})

const REFUSED: Answer = { kind: 'failed', reason: 'the address is private, loopback or link-local' }

for (const host of ['127.0.0.1', '127.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
  test(`send: nothing is sent to ${host} unless it is allowed`, BOUNDED, async () => {
    await using server = await answering((_request, response) => response.end())
    const answer = await sendTo(`http://${host}:${server.port}/`, { allowPrivateAddresses: false })
    assert.deepEqual([answer, server.connections()], [REFUSED, 0])
  })
}

test('send: a name is refused when one of its addresses is private', BOUNDED, async () => {
  await using server = await answering((_request, response) => response.end())
  for (const address of ['127.0.0.1', '169.254.169.254', '::ffff:10.0.0.1']) {
    const addresses = [
      { address: '8.8.8.8', family: 4 },
      { address, family: address.includes(':') ? 6 : 4 },
    ]
    const answer = await sendTo(`http://rebinding.example:${server.port}/`, {
      allowPrivateAddresses: false,
      resolve: (_name, _options, callback) => callback(null, addresses),
    })
    assert.deepEqual([answer, server.connections()], [REFUSED, 0])
  }
})

test('send: a name is looked up once for a connection, and that is where it leads', BOUNDED, async () => {
  await using server = await answering((request, response) => {
    request.resume()
    response.end(request.headers.host)
  })
  let lookups = 0
  await using webhook = openWebhook(definition(`http://receiver.example:${server.port}/`), {
    allowPrivateAddresses: true,
    resolve: (_name, _options, callback) => {
      // what it answers a second time would fail
      callback(null, [{ address: ++lookups === 1 ? '127.0.0.1' : '127.0.0.2', family: 4 }])
    },
  })
  const { signal } = new AbortController()
  for (let i = 0; i < 3; i++) assert.deepEqual(await webhook.send(MESSAGE, signal), { kind: 'delivered' })
  assert.deepEqual([lookups, server.connections()], [1, 1])
})

test('send: a name that takes long is looked up once for all that wait', BOUNDED, async () => {
  await using server = await answering((request, response) => {
    request.resume()
    response.end()
  })
  let lookups = 0
  await using webhook = openWebhook(definition(`http://slow.example:${server.port}/`), {
    allowPrivateAddresses: true,
    resolve: (_name, _options, callback) => {
      lookups++
      setTimeout(() => callback(null, [{ address: '127.0.0.1', family: 4 }]), 100)
    },
  })
  const { signal } = new AbortController()
  const answers = await Promise.all(Array.from({ length: 8 }, () => webhook.send(MESSAGE, signal)))
  assert.deepEqual([answers.every(({ kind }) => kind === 'delivered'), lookups], [true, 1])
})

test('send: a name that does not exist, or takes too long to find, is a failure', BOUNDED, async () => {
  const missing = Object.assign(new Error('secret text'), { code: 'ENOTFOUND' })
  assert.deepEqual(
    await sendTo('http://nobody.example/', { resolve: (_name, _options, callback) => callback(missing, []) }),
    { kind: 'failed', reason: 'ENOTFOUND' },
  )
  const never = { timeLimitMs: 100, resolve: () => undefined }
  assert.deepEqual(await sendTo('http://nobody.example/', never), { kind: 'failed', reason: 'timed out' })
})
