/** Clients that do not read, do not finish, or come in great numbers: others are served, and memory comes back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../../service/auth/harness.ts'
import { type Client, client, head, startHostile } from './hostile.ts'

const MIB = 1024 * 1024
const STALL = { stallTimeMs: 400, uploadStallMs: 400 }

function count(statuses: readonly number[]): Record<number, number> {
  return Object.fromEntries([...Map.groupBy(statuses, (each) => each)].map(([key, all]) => [key, all.length]))
}

function statusesOf(clients: readonly Client[]): Promise<number[]> {
  return Promise.all(clients.map((each) => each.status()))
}

const LARGE = `/data/find/ascii/${8 * MIB}`

test('slow readers: large answers that nobody reads have a bound', async () => {
  await using server = await startHostile({ unsentBytes: 40 * MIB })
  // the service of this test keeps the text
  assert.equal((await server.ask('POST', LARGE)).status, 200)
  const before = await server.measure()
  const clients = Array.from({ length: 40 }, () =>
    client(server.port, [head('POST', LARGE)], { isLazy: true }),
  )
  const statuses = await statusesOf(clients)
  // one address has half: two answers of 8 MiB
  assert.deepEqual(count(statuses), { 200: 2, 503: 38 })
  const refused = clients[statuses.indexOf(503)]!
  assert.match(refused.received(), /Retry-After: 1\r\n[^]*crud:Unavailable/)
  const during = await server.measure()
  // without a bound it would be 320 MiB
  assert.ok(during.memory - before.memory < 60, `${before.memory} MiB became ${during.memory}`)
  assert.equal((await server.ask('GET', '/health')).status, 200)
  using other = client(server.port, [head('POST', LARGE)], { localAddress: '127.0.0.2' })
  assert.equal(await other.status(), 200)
  for (const each of clients) each.socket.destroy()
  await eventually(async () => (await server.ask('POST', LARGE)).status === 200, 'there is room')
  const after = await server.measure()
  assert.ok(after.memory - before.memory < 30, `${before.memory} MiB became ${after.memory}`)
})

test('slow readers: whoever takes nothing of an answer for a while is closed', async () => {
  await using server = await startHostile({ stallTimeMs: 2_500, unsentBytes: 40 * MIB })
  const clients = [1, 2].map(() => client(server.port, [head('POST', LARGE)], { isLazy: true }))
  await statusesOf(clients)
  assert.equal((await server.ask('POST', LARGE)).status, 503)
  await eventually(async () => (await server.ask('POST', LARGE)).status === 200, 'there is room')
  for (const each of clients) each.socket.destroy()
})

test('slow readers: many small answers that nobody reads end as well', async () => {
  await using server = await startHostile({ stallTimeMs: 500 })
  const one = head('POST', '/data/find/ascii/60000')
  using lazy = client(server.port, [one.repeat(500)], { isLazy: true })
  await lazy.status()
  // reading again after the server has given up shows the end of what the system had taken
  await new Promise((resolve) => setTimeout(resolve, 2_000))
  lazy.socket.removeAllListeners('data').resume()
  await lazy.closed
  assert.ok(lazy.socket.bytesRead < 500 * 60_000, String(lazy.socket.bytesRead))
})

test('slow readers: one large answer is always possible, however small the bound', async () => {
  await using server = await startHostile({ unsentBytes: 1 })
  const answer = await server.ask('POST', `/data/find/ascii/${MIB}`)
  assert.equal(answer.status, 200)
  assert.ok(answer.text.length > MIB)
})

test('large answers: arrive whole, whatever characters they are made of, without a long pause', async (t) => {
  await using server = await startHostile({})
  for (const kind of ['ascii', 'emoji']) {
    // the service of this test makes the text when it is asked for it first
    await server.ask('POST', `/data/find/${kind}/${8 * MIB}`)
    await server.measure()
    const { text, headers } = await server.ask('POST', `/data/find/${kind}/${8 * MIB}`)
    assert.equal(Number(headers['content-length']), Buffer.byteLength(text))
    const found = JSON.parse(text).processed[0] as string
    const expected = kind === 'ascii' ? 'x'.repeat(8 * MIB) : `y${'\u{1f600}'.repeat(4 * MIB)}`
    assert.ok(found === expected, kind)
    const { pauseMs } = await server.measure()
    t.diagnostic(`longest pause while ${kind} is sent: ${Math.round(pauseMs)} ms`)
    assert.ok(pauseMs < 1_000, `${kind}: ${pauseMs} ms`)
  }
})

test('unfinished uploads: what is held of them has a bound, and they end', async () => {
  await using server = await startHostile({ ...STALL, uploadStallMs: 4_000, uploadBytes: 16 * MIB })
  const before = await server.measure()
  const request = head('PUT', '/data/insert/x', `Content-Length: ${8 * MIB}`)
  const part = Buffer.alloc(3 * MIB, 'x')
  const clients = Array.from({ length: 50 }, () => client(server.port, [request, part]))
  const refused = await Promise.all(
    clients.map((each) =>
      Promise.race([each.status(), new Promise<0>((resolve) => setTimeout(resolve, 3_000, 0))]),
    ),
  )
  // one address has half, which is two of them
  assert.ok((count(refused)[503] ?? 0) >= 47, JSON.stringify(count(refused)))
  const during = await server.measure()
  // without a bound it would be 150 MiB
  assert.ok(during.memory - before.memory < 75, `${before.memory} MiB became ${during.memory}`)
  using other = client(server.port, [head('PUT', '/data/insert/x', 'Content-Length: 2'), '{}'], {
    localAddress: '127.0.0.2',
  })
  assert.equal(await other.status(), 200)
  const all = count(await statusesOf(clients))
  assert.deepEqual(Object.keys(all), ['408', '503'])
  for (const each of clients) each.socket.destroy()
  assert.match(clients.map((each) => each.received()).join(''), /crud:RequestTimeout/)
  const after = await server.measure()
  assert.ok(after.memory - before.memory < 30, `${before.memory} MiB became ${after.memory}`)
})

test('unfinished uploads: a body that comes a few bytes at a time is given up as well', async () => {
  await using server = await startHostile({ uploadStallMs: 500 })
  using slow = client(server.port, [head('PUT', '/data/insert/x', 'Content-Length: 100000')])
  const drip = setInterval(() => slow.socket.write('x'), 20)
  try {
    assert.equal(await slow.status(), 408)
  } finally {
    clearInterval(drip)
  }
})

test('connections: a thousand idle ones leave room for others, and are refused beyond the bound', async () => {
  await using server = await startHostile({ connections: 1_600 })
  const before = await server.measure()
  const clients = Array.from({ length: 1_000 }, () => client(server.port, []))
  const refused = clients.slice(800)
  await Promise.all(refused.map((each) => each.closed))
  const polite = refused.filter((each) => each.received().includes('too many connections'))
  assert.ok(polite.length > 0)
  assert.match(polite[0]!.received(), /^HTTP\/1\.1 503 [^]*Retry-After: 1\r\n/)
  using other = client(server.port, [head('GET', '/health')], { localAddress: '127.0.0.2' })
  assert.equal(await other.status(), 200)
  for (const each of clients) each.socket.destroy()
  await eventually(
    async () => (await server.ask('GET', '/health').catch(() => undefined))?.status === 200,
    'room',
  )
  const after = await server.measure()
  assert.ok(after.memory - before.memory < 30, `${before.memory} MiB became ${after.memory}`)
})

test('followers: those that do not read are few, hold little, and end', async () => {
  await using server = await startHostile({ ...STALL, stallTimeMs: 2_000, followers: 20 })
  const before = await server.measure()
  const clients = Array.from({ length: 30 }, () =>
    client(server.port, [head('GET', '/events/stream')], { isLazy: true }),
  )
  assert.deepEqual(count(await statusesOf(clients)), { 200: 10, 503: 20 })
  const during = await server.measure()
  assert.ok(during.memory - before.memory < 40, `${before.memory} MiB became ${during.memory}`)
  await eventually(async () => (await server.measure()).open === 0, 'the server has ended them')
  for (const each of clients) each.socket.destroy()
  const after = await server.measure()
  assert.ok(after.memory - before.memory < 30, `${before.memory} MiB became ${after.memory}`)
})

const STREAM = head('POST', '/data/find/x?stream=true', 'Content-Length: 2')

test('streams: those that are not read are few, hold little, and end', async () => {
  await using server = await startHostile({ ...STALL, stallTimeMs: 2_000, streams: 8 })
  const before = await server.measure()
  const clients = Array.from({ length: 12 }, () => client(server.port, [STREAM, '{}'], { isLazy: true }))
  assert.deepEqual(count(await statusesOf(clients)), { 200: 4, 503: 8 })
  const during = await server.measure()
  assert.ok(during.memory - before.memory < 40, `${before.memory} MiB became ${during.memory}`)
  await eventually(async () => (await server.measure()).open === 0, 'the server has ended them')
  for (const each of clients) each.socket.destroy()
})

test('streams: one that is abandoned gives its place to the next', async () => {
  await using server = await startHostile({ streams: 1 })
  for (let i = 0; i < 20; i++) {
    await eventually(async () => {
      using each = client(server.port, [STREAM, '{}'], { isLazy: true })
      return (await each.status()) === 200
    }, 'there is a place')
  }
  await eventually(async () => (await server.measure()).open === 0, 'all are ended')
})

test('streams: have a longest duration, and the last line says how to go on', async () => {
  await using server = await startHostile({ streamTimeMs: 300 })
  const { text } = await server.ask('POST', '/data/find/x?stream=true', { body: {} })
  const last = JSON.parse(text.trimEnd().split('\n').at(-1)!)
  assert.deepEqual([last.last, last.status, last.errors[0].errorCode], [true, 'ERROR', 'store-crud:Timeout'])
  assert.match(last.errors[0].msg, /ask again/)
})

test('followers: have a longest duration, and the last event says how to go on', async () => {
  await using server = await startHostile({ streamTimeMs: 300 })
  const { text } = await server.ask('GET', '/events/stream')
  const [, data] = /event: end\ndata: (.*)\n\n$/.exec(text.slice(-1_000)) ?? []
  const { errorCode, msg } = JSON.parse(data!)
  assert.equal(errorCode, 'store-crud:Timeout')
  assert.match(msg, /Last-Event-ID/)
})
