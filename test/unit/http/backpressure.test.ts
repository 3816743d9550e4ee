/** Large responses are written in pieces, and other requests have their turn in between. */
import assert from 'node:assert/strict'
import { type ServerResponse, createServer } from 'node:http'
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

const SHORT = Array.from({ length: PIECES }, () => 'x'.repeat(64 * 1024))

const CASES: readonly (readonly [responses: number, texts: readonly string[], how: string])[] = [
  [1, [CONTENT], 'as one text'],
  [8, [CONTENT], 'as one text'],
  [1, SHORT, 'as many short texts'],
]

for (const [responses, texts, how] of CASES) {
  test(`responses: ${responses}, sent ${how} and read as fast, keep no other request waiting`, async () => {
    let turns = 0
    let left = responses
    const countTurns = (): void => {
      turns++
      if (left > 0) setImmediate(countTurns)
    }
    const sent: Promise<boolean>[] = []
    const { promise: all, resolve } = Promise.withResolvers<readonly boolean[]>()
    const send = async (response: ServerResponse): Promise<boolean> => {
      let isSent = true
      for (const text of texts) isSent &&= await writePieces({ response, stallMs: 60_000 }, text, 'latin1')
      left--
      response.end()
      return isSent
    }
    const server = createServer((_request, response) => {
      if (sent.length === 0) setImmediate(countTurns)
      if (sent.push(send(response)) === responses) resolve(Promise.all(sent))
    })
    for (let i = 0; i < responses; i++) server.emit('connection', greedyConnection())
    assert.deepEqual(
      await all,
      Array.from({ length: responses }, () => true),
    )
    assert.ok(turns >= (responses * PIECES) / 4, `others had ${turns} turns`)
  })
}
