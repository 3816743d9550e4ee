/** Webhooks over TLS: only a receiver that proves who it is gets anything. */
import assert from 'node:assert/strict'
import { createServer } from 'node:https'
import { test } from 'node:test'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Answer } from '../../../src/sinks/transport.ts'
import { type WebhookDefinition, openWebhook } from '../../../src/sinks/webhook.ts'
import { AUTHORITY, SERVER_CERT, SERVER_KEY } from '../auth/certificates.ts'
import { SECRET, listening } from './servers.ts'

const BOUNDED = { timeout: 200_000 }

async function sendTo(url: string): Promise<Answer> {
  const definition: WebhookDefinition = {
    kind: 'webhook',
    name: 's',
    url,
    secret: SECRET,
    roles: ['anyone'],
    filter: {},
  }
  await using webhook = openWebhook(definition, {
    allowPrivateAddresses: true,
    resolve: (_name, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  })
  return await webhook.send(
    { id: 'event-1', entity: 'e', operation: 'insert', body: '{}' },
    new AbortController().signal,
  )
}

test('send: over TLS, to whom a known authority vouches for, by that name', BOUNDED, async () => {
  let requests = 0
  const server = createServer({ cert: SERVER_CERT, key: SERVER_KEY }, (request, response) => {
    requests++
    request.resume()
    response.end()
  })
  await using place = await listening(server)
  const unknown = await sendTo(`https://localhost:${place.port}/`)
  assert.deepEqual([unknown.kind, requests], ['failed', 0])
  const known = getCACertificates('default')
  setDefaultCACertificates([...known, AUTHORITY])
  try {
    assert.deepEqual(await sendTo(`https://localhost:${place.port}/`), { kind: 'delivered' })
    assert.deepEqual(await sendTo(`https://other.example:${place.port}/`), {
      kind: 'failed',
      reason: 'ERR_TLS_CERT_ALTNAME_INVALID',
    })
    assert.equal(requests, 1)
  } finally {
    setDefaultCACertificates(known)
  }
})
