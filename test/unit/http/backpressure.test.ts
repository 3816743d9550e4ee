/** Large responses are written in pieces, and other requests have their turn in between. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Duplex } from 'node:stream'
import { test } from 'node:test'
import { writePieces } from '../../../src/http/send/backpressure.ts'

const PIECES = 64
const CONTENT = 'x'.repeat(PIECES * 128 * 1024)
const REQUEST = 'GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n'

/** A connection that asks once and takes everything at once, a piece in a millisecond of processor time. */
function greedyConnection(): Duplex {
  const connection = new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      for (const end = performance.now() + 1; performance.now() < end;);
      done()
    },
  })
  connection.push(REQUEST)
  return connection
}

test('responses: one that is read as fast as it is written does not keep other requests waiting', async () => {
  let turns = 0
  const { promise: written, resolve } = Promise.withResolvers<boolean>()
  const server = createServer((_request, response) => {
    const countTurns = (): void => {
      turns++
      if (!response.writableEnded) setImmediate(countTurns)
    }
    setImmediate(countTurns)
    resolve(writePieces({ response, stallMs: 60_000 }, CONTENT, 'latin1').finally(() => response.end()))
  })
  server.emit('connection', greedyConnection())
  assert.equal(await written, true)
  assert.ok(turns >= PIECES / 4, `others had ${turns} turns`)
})
