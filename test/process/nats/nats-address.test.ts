/** Which servers events are published to: addresses that were checked, servers that prove who they are. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { type NatsOptions, openNats } from '../../../src/sinks/nats/nats.ts'
import type { Answer, Message } from '../../../src/sinks/transport.ts'
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '../../service/auth/certificates.ts'
import { NEEDS_NATS, NEEDS_OWN_NATS, type NatsServer, startNats, testNatsUrl } from '../../support/nats.ts'
import { makeStream, natsTo, ownSubject } from './nats-streams.ts'
import { listening } from '../../service/sinks/servers.ts'

const BOUNDED = { timeout: 200_000 }

async function sendTo(url: string, subject: string, options: Partial<NatsOptions> = {}): Promise<Answer> {
  await using nats = openNats(natsTo(url, subject), { allowPrivateAddresses: true, ...options })
  const message: Message = { id: '1', entity: 'order', operation: 'insert', body: '{}' }
  return await nats.send(message, new AbortController().signal)
}

const REFUSED: Answer = { kind: 'failed', reason: 'the address is private, loopback or link-local' }

for (const host of ['127.0.0.1', '127.1', '0x7f000001', '[::1]', '[::ffff:127.0.0.1]', 'localhost']) {
  test(`send to NATS: nothing is sent to ${host} unless it is allowed`, BOUNDED, async () => {
    await using server = await listening(createServer())
    const answer = await sendTo(`nats://${host}:${server.port}`, 's', { allowPrivateAddresses: false })
    assert.deepEqual([answer, server.connections()], [REFUSED, 0])
  })
}

test('send to NATS: a name is refused when one of its addresses is private', BOUNDED, async () => {
  await using server = await listening(createServer())
  for (const address of ['127.0.0.1', '169.254.169.254', '::ffff:10.0.0.1']) {
    const answer = await sendTo(`nats://rebinding.example:${server.port}`, 's', {
      allowPrivateAddresses: false,
      findAddresses: async () => ['8.8.8.8', address],
    })
    assert.deepEqual([answer, server.connections()], [REFUSED, 0])
  }
})

test(
  'send to NATS: a name is looked up once for a connection, and its addresses are tried in turn',
  { ...BOUNDED, ...NEEDS_NATS },
  async () => {
    const [url, subject] = [new URL(await testNatsUrl()), ownSubject()]
    await using _stream = await makeStream(url.href, subject)
    let lookups = 0
    const findAddresses = async (name: string): Promise<readonly string[]> => {
      assert.equal(name, 'nats.example')
      lookups++
      return ['127.0.0.9', url.hostname, '127.0.0.8']
    }
    const answer = await sendTo(`nats://nats.example:${url.port}`, subject, { findAddresses })
    assert.deepEqual([answer, lookups], [{ kind: 'delivered' }, 1])
  },
)

test(
  'send to NATS: a name that does not exist, or takes too long to find, is a failure',
  BOUNDED,
  async () => {
    const missing = Object.assign(new Error('secret text'), { code: 'ENOTFOUND' })
    const rejecting = { findAddresses: () => Promise.reject(missing) }
    assert.deepEqual(await sendTo('nats://nobody.example', 's', rejecting), {
      kind: 'failed',
      reason: 'ENOTFOUND',
    })
    const never = { timeLimitMs: 100, findAddresses: () => new Promise<readonly string[]>(() => undefined) }
    assert.deepEqual(await sendTo('nats://slow.example', 's', never), { kind: 'failed', reason: 'timed out' })
  },
)

test(
  'send to NATS: over TLS, to whom a known authority vouches for, by that name',
  { ...BOUNDED, ...NEEDS_OWN_NATS },
  async () => {
    await using server = await startTls()
    const subject = ownSubject()
    const secure = (host: string): Promise<Answer> =>
      sendTo(`tls://${host}:${server.port}`, subject, { findAddresses: async () => ['127.0.0.1'] })
    const failed = (reason: string): Answer => ({ kind: 'failed', reason })
    assert.deepEqual(await secure('localhost'), failed('UNABLE_TO_VERIFY_LEAF_SIGNATURE'))
    const known = getCACertificates('default')
    setDefaultCACertificates([...known, AUTHORITY])
    try {
      // from here on it is JetStream that has no stream
      assert.deepEqual(await secure('localhost'), failed('no stream takes this subject'))
      assert.deepEqual(await secure('127.0.0.1'), failed('no stream takes this subject'))
      assert.deepEqual(await secure('other.example'), failed('ERR_TLS_CERT_ALTNAME_INVALID'))
    } finally {
      setDefaultCACertificates(known)
    }
  },
)

test(
  'send to NATS: tls:// does without nothing that it asks for, and nats:// says when it does not suffice',
  { ...BOUNDED, ...NEEDS_OWN_NATS },
  async () => {
    const plain = new URL(await testNatsUrl())
    assert.deepEqual(await sendTo(`tls://${plain.host}`, 's'), {
      kind: 'failed',
      reason: 'the server has no TLS',
    })
    await using server = await startTls()
    assert.deepEqual(await sendTo(server.url, 's'), {
      kind: 'failed',
      reason: 'the server wants TLS, and an address that begins with tls://',
    })
  },
)

async function startTls(): Promise<NatsServer> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-nats-tls-'))
  const [cert, key] = [join(directory, 'cert.pem'), join(directory, 'key.pem')]
  writeFileSync(cert, SERVER_CERT)
  writeFileSync(key, SERVER_KEY)
  try {
    return await startNats(`tls { cert_file: ${JSON.stringify(cert)}, key_file: ${JSON.stringify(key)} }`)
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
