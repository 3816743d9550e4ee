/** A follower of events over a real socket: what an EventSource would be told, message by message. */
import assert from 'node:assert/strict'
import { type IncomingMessage, request } from 'node:http'
import type { Ask } from '../../support/server.ts'

export interface Message {
  readonly id?: string
  readonly event?: string
  /** The data as JSON. */
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into whatever came
  readonly data?: any
  readonly isComment: boolean
}

export interface Follower extends Disposable {
  readonly status: number
  readonly headers: IncomingMessage['headers']
  /** All that came so far. */
  readonly messages: readonly Message[]
  /** Those that an EventSource would tell of. */
  readonly events: () => readonly Message[]
  readonly until: (isEnough: (follower: Follower) => boolean, withinMs?: number) => Promise<void>
  /** Whether the other side has closed the stream. */
  readonly isEnded: () => boolean
}

export function follow(port: number, path: string, { roles, headers = {} }: Ask = {}): Promise<Follower> {
  const named = { ...(roles && { 'Smalt-Roles': roles.join(', ') }), ...headers }
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers: named, agent: false }, (response) =>
      resolve(listenTo(response)),
    )
    outgoing.on('error', reject).end()
  })
}

function listenTo(response: IncomingMessage): Follower {
  const messages: Message[] = []
  let text = ''
  let isEnded = false
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    messages.push(...blocks.map(readMessage))
  })
  response.on('error', () => undefined).on('close', () => void (isEnded = true))
  const follower: Follower = {
    status: response.statusCode!,
    headers: response.headers,
    messages,
    events: () => messages.filter(({ data }) => data !== undefined),
    isEnded: () => isEnded,
    async until(isEnough, withinMs = 60_000) {
      for (const deadline = Date.now() + withinMs; !isEnough(follower);) {
        assert.ok(Date.now() < deadline, `never came; so far ${JSON.stringify(messages)} ${text}`)
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    },
    [Symbol.dispose]: () => void response.destroy(),
  }
  return follower
}

function readMessage(block: string): Message {
  const lines = block.split('\n')
  const valueOf = (name: string): string | undefined =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const [id, event, data] = [valueOf('id'), valueOf('event'), valueOf('data')]
  return {
    isComment: lines.some((line) => line.startsWith(':')),
    ...(id !== undefined && { id }),
    ...(event !== undefined && { event }),
    ...(data !== undefined && { data: JSON.parse(data) as unknown }),
  }
}
