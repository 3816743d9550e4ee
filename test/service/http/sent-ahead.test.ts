/** Requests that are sent ahead of the answers to earlier ones: done one by one, read no further than that, and bounded. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../auth/harness.ts'
import { type Harness, start } from './harness.ts'
import { client, head, startHostile } from '../../process/http/hostile.ts'

const MIB = 1024 * 1024
const find = (entity: string): string => head('GET', `/data/find/${entity}`)
const insert = (entity: string, body: string): string =>
  head('PUT', `/data/insert/${entity}`, `Content-Length: ${body.length}`) + body
const LAST = head('GET', '/health', 'Connection: close')

/** Holds all that is begun until it is let go. */
function hold({ service }: Harness): () => void {
  const { promise, resolve } = Promise.withResolvers<void>()
  service.gate = promise
  return resolve
}

function entitiesIn(text: string): readonly string[] {
  return [...text.matchAll(/"entity":"(\w+)"/g)].map(([, entity]) => entity!)
}

const names = (count: number): readonly string[] => Array.from({ length: count }, (_, i) => `e${i}`)

test('sent ahead: a request begins when the one before it is answered, and answers come in order', async () => {
  await using http = await start()
  const letGo = hold(http)
  const sent = names(2_000)
  const answered = http.raw(`${sent.map(find).join('')}${LAST}`)
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  assert.equal((await http.ask('GET', '/health')).status, 200)
  assert.equal(http.service.begun, 1)
  letGo()
  assert.deepEqual(entitiesIn(await answered), sent)
  assert.equal(http.service.begun, sent.length)
})

test('sent ahead: bodies arrive whole, also one that comes in parts behind others', async () => {
  await using http = await start()
  const letGo = hold(http)
  const sent = names(300)
  const large = insert('large', JSON.stringify({ data: 'x'.repeat(MIB) }))
  const parts = [sent.map((name) => insert(name, '{"data":{}}')).join('') + large.slice(0, 500)]
  const answered = http.raw(...parts, large.slice(500), LAST)
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  letGo()
  const text = await answered
  assert.deepEqual(entitiesIn(text), [...sent, 'large'])
  assert.ok(text.length > MIB)
})

test('sent ahead: of a connection that is closed nothing more is begun', async () => {
  await using http = await start()
  const letGo = hold(http)
  using leaving = client(http.port, [names(500).map(find).join('')])
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  leaving.socket.destroy()
  await leaving.closed
  letGo()
  // an answer that was under way goes nowhere
  for (let i = 0; i < 20; i++) assert.equal((await http.ask('GET', '/data/find/other')).status, 200)
  assert.ok(http.service.begun <= 22, String(http.service.begun))
})

test('sent ahead: a caller who leaves is noticed although requests wait', async () => {
  await using http = await start({ limits: { connections: 2 } })
  const letGo = hold(http)
  using leaving = client(http.port, [names(500).map(find).join('')])
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  assert.equal((await http.ask('GET', '/health')).status, 503)
  leaving.socket.destroy()
  await eventually(async () => (await http.ask('GET', '/health')).status === 200, 'the connection is closed')
  letGo()
})

test('sent ahead: before nonsense, the request under way is answered, and no other is begun', async () => {
  await using http = await start()
  const letGo = hold(http)
  const answered = http.raw(`${find('a')}${find('b')}hello\r\n\r\n`)
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  letGo()
  assert.deepEqual(entitiesIn(await answered), ['a'])
  assert.equal(http.service.begun, 1)
})

test('sent ahead: a server that is being closed answers the request under way, and begins no other', async () => {
  await using http = await start()
  const letGo = hold(http)
  const answered = http.raw(`${find('a')}${find('b')}`)
  await eventually(async () => http.service.begun > 0, 'the first has begun')
  const closed = http.server.close()
  letGo()
  assert.deepEqual(entitiesIn(await answered), ['a'])
  await closed
  assert.equal(http.service.begun, 1)
})

test('sent ahead: thousands of requests leave others their turn', async (t) => {
  await using server = await startHostile({})
  await server.ask('POST', '/data/find/busy/1')
  await server.measure()
  using pushing = client(server.port, [head('POST', '/data/find/busy/5').repeat(600) + LAST])
  await pushing.closed
  const { pauseMs } = await server.measure()
  t.diagnostic(`longest pause: ${Math.round(pauseMs)} ms`)
  assert.ok(pauseMs < 1_000, `${pauseMs} ms`)
})

test('sent ahead: behind a request that takes long little is read and held, with bodies or without', async () => {
  await using server = await startHostile({})
  const held = head('POST', '/data/find/held')
  const long = head('PUT', '/data/insert/x', `X-Long: ${'x'.repeat(30_000)}`, 'Content-Length: 15000')
  for (const each of [find('x'), insert('x', '{}'), `${long}${' '.repeat(15_000)}`]) {
    const before = await server.measure()
    const size = 40 * MIB
    using pushing = client(server.port, [held, each.repeat(size / each.length)])
    await eventually(async () => pushing.socket.bytesWritten > MIB, 'the connection is open')
    for (let i = 0; i < 50; i++) await server.ask('GET', '/health')
    const during = await server.measure()
    assert.ok(during.memory - before.memory < 10, `${before.memory} MiB became ${during.memory}`)
    assert.ok(pushing.socket.writableLength > MIB, 'most of it was not taken')
  }
})

test('sent ahead: what waits on many connections has a bound, by address, and is given back', async () => {
  await using server = await startHostile({ uploadBytes: 16 * MIB })
  const before = await server.measure()
  const sent = head('POST', '/data/find/held') + head('GET', '/').repeat(1_000)
  const clients = Array.from({ length: 20 }, () => client(server.port, [sent]))
  // one address has half: 2,048 requests of 4 KiB
  const open = () => clients.filter(({ socket }) => !socket.destroyed)
  await eventually(async () => open().length === 2, 'the others are closed')
  assert.equal((await server.ask('GET', '/health')).status, 200)
  using other = client(server.port, [head('GET', '/health').repeat(50)], { localAddress: '127.0.0.2' })
  assert.equal(await other.status(), 200)
  const during = await server.measure()
  assert.ok(during.memory - before.memory < 15, `${before.memory} MiB became ${during.memory}`)
  for (const { socket } of open()) socket.destroy()
  await eventually(async () => {
    using again = client(server.port, [sent])
    await new Promise((resolve) => setTimeout(resolve, 50))
    return !again.socket.destroyed
  }, 'there is room')
})
