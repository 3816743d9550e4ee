/** A worker thread that cannot open the store, because the database is out of reach at that moment. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, type Server, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { DEFAULT_LIMITS } from '../../../src/base/limits.ts'
import { Work } from '../../../src/base/work/work.ts'
import { createThreads } from '../../../src/http/threads/pool.ts'
import { openServiceAt, metadataDocument, ADMIN } from '../../support/service.ts'
import { chooseStore, freshPlace } from '../../support/store-kind.ts'

/** A server on this port, by way of which the database can be reached. */
async function forward(port: number, to: URL): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(Number(to.port), to.hostname)
    for (const socket of [client, upstream]) socket.on('error', () => undefined)
    client.pipe(upstream).pipe(client)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

test('threads: one that could not open the store is not used again', async () => {
  chooseStore('postgres')
  await using place = await freshPlace()
  {
    await using service = await openServiceAt(place.location)
    const create = metadataDocument('t', { s: { type: 'string' } })
    await service.metadata.create(ADMIN, { entity: 't', version: '1.0.0' }, create)
  }
  const target = new URL(place.location)
  const first = await forward(0, target)
  const { port } = first.address() as AddressInfo
  first.close()
  const location = new URL(place.location)
  location.hostname = '127.0.0.1'
  location.port = String(port)
  await using threads = createThreads({
    datasources: [{ name: 'default', location: location.href }],
    limits: DEFAULT_LIMITS,
    isEmbedded: false,
    epoch: () => 0,
    lend: () => Promise.reject(new Error('nothing is lent')),
    onInternalError: () => undefined,
    onWarning: () => undefined,
    onSlow: () => undefined,
  })
  const find = async (): Promise<string> => {
    const { bytes } = await threads.run({
      task: { kind: 'operation', operation: 'find', entity: 't' },
      caller: { principal: 'p', roles: ['anyone'], permissions: [], claims: '{}' },
      body: Buffer.from('{"projection":{"field":"*"}}'),
      work: new Work({ timeLimitMs: 30_000 }),
      chargedTo: 'p',
      signal: new AbortController().signal,
      mayWrite: false,
      charge: () => undefined,
    })
    return Buffer.from(bytes).toString()
  }
  await assert.rejects(find(), { code: 'crud:Unavailable' })
  const second = await forward(port, target)
  try {
    assert.match(await find(), /"status":"COMPLETE"/)
  } finally {
    second.close()
  }
})
