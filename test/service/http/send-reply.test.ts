/** Sending one answer: text or bytes, small or large. */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Exchange } from '../../../src/http/exchange.ts'
import { sendReply } from '../../../src/http/send/send-reply.ts'
import { Share } from '../../../src/http/share.ts'
import { askServer } from '../../support/server.ts'

const MIXED = `"${'aü€\u{1f600}'.repeat(100_000)}"`
const SENT: readonly [what: string, text: string | Uint8Array][] = [
  ['a small text', '{"a":"ü"}'],
  ['small bytes', Buffer.from('{"a":"ü"}')],
  ['nothing', ''],
  ['a large text of one-byte characters', 'x'.repeat(1_000_000)],
  ['a large text of all kinds of characters', MIXED],
  ['a large text whose pieces would split characters', `x${'\u{1f600}'.repeat(300_000)}`],
  ['large bytes', Buffer.from(MIXED)],
]

for (const [what, text] of SENT) {
  test(`answer: ${what} arrives whole, and is counted until it has`, async () => {
    const unsent = new Share(10)
    const counted: number[] = []
    const server = createServer((request, response) => {
      const sending = { isLast: true, unsent, isRefusable: true, stallTimeMs: 10_000, longestMs: 10_000 }
      sendReply(new Exchange(request, response, 0), { status: 200, text }, sending)
      counted.push(unsent.used)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const answer = await askServer({ port }, 'GET', '/', {})
    const expected = typeof text === 'string' ? text : Buffer.from(text).toString()
    assert.ok(answer.text === expected)
    assert.equal(answer.headers['content-length'], String(Buffer.byteLength(expected)))
    await new Promise((resolve) => server.close(resolve))
    assert.equal(counted[0]! > 0, expected.length > 64 * 1024)
    assert.equal(unsent.used, 0)
  })
}

test('share: one caller has half, and together they have all', () => {
  const share = new Share(10)
  assert.deepEqual([share.take('a', 3), share.take('a', 2), share.take('a', 1)], [true, true, false])
  assert.deepEqual([share.take('b', 5), share.take('c', 1)], [true, false])
  assert.ok(share.isFullFor('c'))
  share.release('a', 5)
  assert.deepEqual([share.isFullFor('c'), share.isFullFor('b'), share.take('c', 1)], [false, true, true])
})

test('share: while nobody has anything, anything fits', () => {
  const share = new Share(10)
  assert.equal(share.take('a', 100), true)
  assert.equal(share.take('b', 1), false)
  share.release('a', 100)
  assert.equal(share.used, 0)
})
