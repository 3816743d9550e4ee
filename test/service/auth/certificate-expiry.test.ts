/** Client certificates that expire during a connection, a stream or a TLS session. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { type TLSSocket, connect } from 'node:tls'
import { SERVER_CERT, SERVER_KEY } from './certificates.ts'
import { eventually, startAuthServer } from './harness.ts'
import { type Issued, createAuthority } from './issue-certificate.ts'

const authority = createAuthority()
const LASTS_MS = 3_000

async function start() {
  const tls = { cert: SERVER_CERT, key: SERVER_KEY, ca: authority.cert }
  const stream = async () =>
    (async function* () {
      for (let i = 0; ; i++) {
        yield JSON.stringify({ i, text: 'x'.repeat(40_000) })
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
    })()
  return await startAuthServer({ hasCertificates: true }, { tls, stream })
}

interface Connection extends Disposable {
  readonly socket: TLSSocket
  readonly received: () => string
  readonly session: () => Buffer | undefined
  /** Sends a find and waits for its status. */
  readonly find: () => Promise<number>
}

async function open(port: number, certificate: Partial<Issued>, session?: Buffer): Promise<Connection> {
  const socket = connect({
    port,
    host: '127.0.0.1',
    ...certificate,
    ...(session && { session }),
    rejectUnauthorized: false,
  })
  let received = ''
  let ticket: Buffer | undefined
  socket.on('data', (chunk) => (received += chunk.toString()))
  socket.on('session', (given) => (ticket = given))
  socket.on('error', () => undefined)
  await once(socket, 'secureConnect')
  return {
    socket,
    received: () => received,
    session: () => ticket,
    async find() {
      const before = received.length
      socket.write('POST /data/find/x HTTP/1.1\r\nHost: localhost\r\n\r\n')
      await eventually(() => /^HTTP\/1\.1 \d+ [^]*\}$/.test(received.slice(before)), 'a response')
      return Number(/^HTTP\/1\.1 (\d+)/.exec(received.slice(before))![1])
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

function shortLived(): { certificate: Issued; expired: () => Promise<void> } {
  // dates of certificates have whole seconds
  const expires = new Date(Math.ceil((Date.now() + LASTS_MS) / 1_000) * 1_000)
  const certificate = authority.issue(
    [
      ['OU', 'hr'],
      ['CN', 'ann'],
    ],
    expires,
  )
  const expired = () => eventually(() => Date.now() > expires.getTime(), 'it expires')
  return { certificate, expired }
}

test('certificate: requests on an open connection are 401 after it expires', async () => {
  await using server = await start()
  const { certificate, expired } = shortLived()
  using connection = await open(server.port, certificate)
  assert.equal(await connection.find(), 200)
  await expired()
  assert.equal(await connection.find(), 401)
  assert.match(connection.received(), /the client certificate has expired/)
})

test('certificate: a stream ends when it expires', async () => {
  await using server = await start()
  const { certificate } = shortLived()
  using connection = await open(server.port, certificate)
  connection.socket.write(
    'POST /data/find/x?stream=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}',
  )
  await eventually(() => connection.received().includes('"last":true'), 'it ends')
  assert.match(connection.received(), /^HTTP\/1\.1 200 [^]*"status":"ERROR"[^]*crud:NoAccess/)
})

test('certificate: a TLS session does not carry it to another connection', async () => {
  await using server = await start()
  const { certificate, expired } = shortLived()
  using first = await open(server.port, certificate)
  assert.equal(await first.find(), 200)
  // the second connection offers the session of the first, and no certificate
  using second = await open(server.port, {}, first.session())
  assert.equal(second.socket.isSessionReused(), false)
  assert.equal(await second.find(), 401)
  await expired()
  using third = await open(server.port, certificate, first.session())
  assert.equal(await third.find(), 401)
})

test('certificate: its units are roles as they are, without decoding', async () => {
  await using server = await start()
  const expires = new Date(Date.now() + 3_600_000)
  const subject = [
    ['OU', '\\61dmin'],
    ['OU', 'a,OU=b'],
    ['OU', 'hr\u00a0'],
    ['CN', 'ann'],
  ] as const
  using connection = await open(server.port, authority.issue(subject, expires))
  assert.equal(await connection.find(), 200)
  const { roles } = JSON.parse(connection.received().split('\r\n\r\n')[1]!).processed[0]
  assert.deepEqual(roles, ['\\61dmin', 'a,OU=b', 'hr\u00a0'])
})
