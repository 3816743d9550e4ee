/** A server that breaks a connection in the same breath in which it says that it is ready. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { test } from 'node:test'
import { openConnections } from '../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../src/store/postgres/connection/location.ts'
import { failLoudly } from '../support/service.ts'

/** A message of PostgreSQL's protocol: its letter, its length, what it says. */
function message(letter: string, content: Buffer | string): Buffer {
  const bytes = Buffer.from(content)
  const length = Buffer.alloc(4)
  length.writeInt32BE(bytes.length + 4)
  return Buffer.concat([Buffer.from(letter), length, bytes])
}

const ADMITTED = Buffer.concat([
  message('R', Buffer.alloc(4)),
  message('K', Buffer.alloc(8)),
  message('Z', 'I'),
])
const BROKEN = message('E', 'SFATAL\0VFATAL\0C57P01\0Mterminating connection\0\0')

async function startBreaking() {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.on('error', () => undefined)
    socket.once('data', () => socket.end(Buffer.concat([ADMITTED, BROKEN])))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    location: readLocation(`postgres://smalt@127.0.0.1:${port}/postgres`),
    connections: () => connections,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

test('connections: one that breaks as soon as it is there fails what waited for it, and nothing else', async () => {
  await using server = await startBreaking()
  await using connections = openConnections(server.location, failLoudly)
  for (let i = 0; i < 5; i++) {
    await assert.rejects(connections.query({ text: 'select 1', values: [] }))
  }
  assert.ok(server.connections() >= 5)
})
