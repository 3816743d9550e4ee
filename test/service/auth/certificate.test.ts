/** Client certificates over TLS. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import { test } from 'node:test'
import { parseDistinguishedName } from '../../../src/auth/distinguished-name.ts'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import {
  AUTHORITY,
  CLIENT_CERT,
  CLIENT_KEY,
  SERVER_CERT,
  SERVER_KEY,
  STRANGER_CERT,
  STRANGER_KEY,
} from './certificates.ts'
import { eventually, startAuthServer } from './harness.ts'

interface Shown {
  readonly cert?: string
  readonly key?: string
}

function start() {
  const tls = { cert: SERVER_CERT, key: SERVER_KEY, ca: AUTHORITY }
  return startAuthServer({ hasCertificates: true }, { tls })
}

function find(port: number, shown: Shown, path = '/data/find/x'): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const agent = new Agent({ ca: AUTHORITY, ...shown, keepAlive: false })
    const method = path === '/health' ? 'GET' : 'POST'
    const outgoing = request({ host: '127.0.0.1', port, path, method, agent }, (response) => {
      let text = ''
      response.on('data', (chunk: Buffer) => (text += chunk.toString()))
      response.on('end', () => resolve({ status: response.statusCode!, text }))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

test('certificate: its common name is the principal, its units are the roles', async () => {
  await using server = await start()
  const { status, text } = await find(server.port, { cert: CLIENT_CERT, key: CLIENT_KEY })
  assert.equal(status, 200)
  const { principal, roles } = JSON.parse(text).processed[0]
  assert.deepEqual([principal, roles], ['ann', ['hr', 'editor']])
})

test('certificate: the table of the configuration adds roles to subjects', async () => {
  const tls = { cert: SERVER_CERT, key: SERVER_KEY, ca: AUTHORITY }
  const entry = (text: string, ...roles: readonly string[]) => ({
    subject: parseDistinguishedName(text)!,
    roles,
  })
  const certificateRoles = [
    entry('CN=ann', 'reader'),
    entry('cn=ann,OU=hr', 'auditor'),
    entry('CN=ann,OU=other', 'nobody'),
    entry('CN=bob', 'nobody'),
  ]
  await using server = await startAuthServer({ hasCertificates: true, certificateRoles }, { tls })
  const { text } = await find(server.port, { cert: CLIENT_CERT, key: CLIENT_KEY })
  assert.deepEqual(JSON.parse(text).processed[0].roles, ['hr', 'editor', 'reader', 'auditor'])
})

test('certificate: one of an unknown authority is 401', async () => {
  await using server = await start()
  const { status, text } = await find(server.port, { cert: STRANGER_CERT, key: STRANGER_KEY })
  assert.equal(status, 401)
  assert.match(text, /not trusted/)
})

test('tls: connections without TLS are closed, and others are served', async () => {
  await using server = await start()
  for (const nonsense of ['GET / HTTP/1.1\r\nHost: localhost\r\n\r\n', '\0'.repeat(600), '\x16\x03\x01']) {
    const socket = connect(server.port, '127.0.0.1', () => socket.end(nonsense, 'latin1'))
    socket.on('error', () => undefined).resume()
    await new Promise((resolve) => socket.once('close', resolve))
  }
  assert.equal((await find(server.port, {}, '/health')).status, 200)
})

test('certificate: without one the response is 401, and public routes are served', async () => {
  await using server = await start()
  assert.equal((await find(server.port, {})).status, 401)
  assert.equal((await find(server.port, {}, '/health')).status, 200)
})

test('tls: connections beyond the limit are closed before the handshake, and others continue', async () => {
  const tls = { cert: SERVER_CERT, key: SERVER_KEY, ca: AUTHORITY }
  const limits = { ...DEFAULT_LIMITS, connections: 4 }
  await using server = await startAuthServer({ hasCertificates: true }, { tls, limits })
  const idle = [1, 2].map(() => connect(server.port, '127.0.0.1'))
  await Promise.all(idle.map((socket) => once(socket, 'connect')))
  await assert.rejects(find(server.port, {}, '/health'))
  for (const socket of idle) socket.destroy()
  await eventually(
    () =>
      find(server.port, {}, '/health').then(
        ({ status }) => status === 200,
        () => false,
      ),
    'there is room',
  )
})
