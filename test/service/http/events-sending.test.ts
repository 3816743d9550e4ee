/** Sending events: heartbeats, and what becomes of those who do not read. */
import assert from 'node:assert/strict'
import { type Server, createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { test } from 'node:test'
import { Exchange } from '../../../src/http/exchange.ts'
import { type SendingEvents, sendEvents } from '../../../src/http/send/send-events.ts'
import type { FollowedEvents } from '../../../src/service/service.ts'
import { eventually } from '../auth/harness.ts'
import { follow } from './events-follower.ts'

interface Sent extends AsyncDisposable {
  readonly port: number
  /** Bytes of each stream that has ended. */
  readonly ended: readonly number[]
}

type Given = Pick<SendingEvents, 'follow' | 'heartbeatMs'> & { readonly stallMs?: number }

/** A server that sends this to everybody. */
async function startSending({ stallMs = 60_000, ...given }: Given): Promise<Sent> {
  const ended: number[] = []
  const server: Server = createServer((request, response) => {
    const usual = { watch: () => () => undefined, ending: new AbortController().signal }
    const outlet = { response, stallMs }
    void sendEvents(new Exchange(request, response, 0), { ...usual, ...given, outlet }).then((bytes) =>
      ended.push(bytes),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    ended,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Waits for ever, as a stream without events does. */
function silence(ending: AbortSignal): Promise<void> {
  return new Promise((resolve) => ending.addEventListener('abort', () => resolve()))
}

test('event stream: a comment is sent again and again, with where to go on when that has changed', async () => {
  await using sent = await startSending({
    heartbeatMs: 30,
    follow: async (ending) =>
      (async function* (): AsyncGenerator<FollowedEvents> {
        yield { events: [], position: 7 }
        yield { events: [], position: 9 }
        await silence(ending)
      })(),
  })
  using follower = await follow(sent.port, '/')
  await follower.until(({ messages }) => messages.length >= 4)
  assert.deepEqual(
    follower.messages.slice(0, 4).map(({ id, isComment }) => [id, isComment]),
    [
      ['7', true],
      ['9', true],
      [undefined, true],
      [undefined, true],
    ],
  )
})

test('event stream: whoever leaves ends what is behind it', async () => {
  let isClosed = false
  await using sent = await startSending({
    follow: async (ending) =>
      (async function* (): AsyncGenerator<FollowedEvents> {
        try {
          yield { events: [{ seq: 1, text: '{}' }], position: 1 }
          await silence(ending)
        } finally {
          isClosed = true
        }
      })(),
  })
  const follower = await follow(sent.port, '/')
  await follower.until(({ events }) => events().length === 1)
  follower[Symbol.dispose]()
  await eventually(() => isClosed && sent.ended.length === 1, 'it is closed')
})

test('event stream: a follower that does not read is not read for, and is ended after a while', async () => {
  let taken = 0
  const text = JSON.stringify('x'.repeat(100_000))
  await using sent = await startSending({
    heartbeatMs: 10,
    stallMs: 300,
    follow: async (ending) =>
      (async function* (): AsyncGenerator<FollowedEvents> {
        for (let seq = 1; !ending.aborted; seq++) {
          taken++
          yield { events: [{ seq, text }], position: seq }
        }
      })(),
  })
  const socket = connect(sent.port, '127.0.0.1')
  try {
    socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
    socket.pause()
    await eventually(() => sent.ended.length === 1, 'it is ended')
    // what fits into the buffers of both sides, and no more
    assert.ok(taken < 1_000, String(taken))
  } finally {
    socket.destroy()
  }
})

test('event stream: a slow follower gets everything', async () => {
  const text = JSON.stringify('x'.repeat(10_000))
  await using sent = await startSending({
    follow: async () =>
      (async function* (): AsyncGenerator<FollowedEvents> {
        for (let seq = 1; seq <= 500; seq++) yield { events: [{ seq, text }], position: seq }
      })(),
  })
  using follower = await follow(sent.port, '/')
  await follower.until((each) => each.isEnded())
  assert.deepEqual(
    follower.events().map(({ id }) => Number(id)),
    Array.from({ length: 500 }, (_, i) => i + 1),
  )
})
