/** What the store says about a server before it uses it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'
import { test } from 'node:test'
import { openConnections } from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { migrate } from '../../src/store/postgres/schema/migrations.ts'
import { examineServer } from '../../src/store/postgres/schema/server.ts'
import { citusUrl, unlessOnCitus } from '../support/citus.ts'
import { rowsOf } from '../support/postgres.ts'
import { freshPlace } from '../support/store-kind.ts'

async function examine(options: string, sentOptions?: string) {
  await using place = await freshPlace('postgres')
  const url = new URL(place.location)
  if (options !== '') url.searchParams.set('options', options)
  const location = readLocation(url.href)
  const sent =
    sentOptions === undefined
      ? location
      : { ...location, config: { ...location.config, options: sentOptions } }
  await using connections = openConnections(sent, () => undefined)
  return await examineServer(connections, location)
}

test('server: sessions ask for commits that are on disk', async () => {
  const { isCluster, warnings } = await examine('')
  assert.equal(isCluster, citusUrl() !== undefined)
  // the server of the tests does not flush
  unlessOnCitus('settings', () =>
    assert.deepEqual(
      warnings.map((each) => each.split(':')[0]),
      ['fsync is off', 'full_page_writes is off'],
    ),
  )
})

test('server: whoever asks for commits that are not on disk is warned', async () => {
  const { warnings } = await examine('-c synchronous_commit=off')
  const expected =
    'synchronous_commit is off for the sessions of Smalt: a write that was acknowledged can be lost'
  assert.ok(warnings.at(-1)?.startsWith(expected), `${warnings.at(-1)}`)
})

test('server: a store that starts again creates no function again', async () => {
  await using place = await freshPlace('postgres')
  const location = readLocation(place.location)
  const startAndList = async () => {
    await using connections = openConnections(location, () => undefined)
    await migrate(connections, location)
    const functions = (schema: string): string =>
      `select proname, xmin::text from pg_proc where pronamespace = '${schema}'::regnamespace order by proname`
    return await rowsOf(place.location, functions)
  }
  const created = await startAndList()
  assert.ok(created.length > 1)
  assert.deepEqual(await startAndList(), created)
  const { proname } = created[0]!
  await rowsOf(place.location, (schema) => `drop function ${schema}.${String(proname)}`)
  assert.deepEqual(
    (await startAndList()).map((each) => each['proname']),
    created.map((each) => each['proname']),
  )
})

test('server: a pooler that drops the schema of the connection is refused', async () => {
  await assert.rejects(examine('', ''), /does not use the schema "\w+" but ".*public".*pooler.*"options"/)
})

test('server: a pooler that keeps the schema is refused, too, because nothing can be cancelled through it', async () => {
  await using place = await freshPlace('postgres')
  await using pooler = await openPooler(place.location)
  const location = readLocation(pooler.url)
  await using connections = openConnections(location, () => undefined)
  await assert.rejects(
    examineServer(connections, location),
    /^Error: a connection pooler is between Smalt and the database: .*connect to PostgreSQL itself/,
  )
})

/** Like PgBouncer, it gives clients keys for cancelling that are its own: process id and secret are others. */
async function openPooler(url: string): Promise<{ readonly url: string } & AsyncDisposable> {
  const target = new URL(url)
  const upstreamAt = { port: Number(target.port), host: target.hostname }
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(upstreamAt)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => void (client.destroy(), upstream.destroy()))
    }
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => {
      // the message BackendKeyData: its letter, a length of 12 or more, process id, secret
      const at = chunk.indexOf(Buffer.from([0x4b, 0, 0, 0]))
      if (at !== -1) chunk.writeInt32BE(1, at + 5)
      client.write(chunk)
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
