/** Clients that mean harm, and the process that they try it on. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { type Socket, connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Limits } from '../../../src/base/limits.ts'
import { type Answer, type Ask, askServer } from '../../support/server.ts'
import type { Measured } from './hostile-server.ts'

const SERVER = fileURLToPath(new URL('hostile-server.ts', import.meta.url))

export interface Hostile extends AsyncDisposable {
  readonly port: number
  readonly ask: (method: string, path: string, ask?: Ask) => Promise<Answer>
  readonly measure: () => Promise<Measured>
}

export async function startHostile(limits: Partial<Limits>): Promise<Hostile> {
  const child = fork(SERVER, [JSON.stringify(limits)], { execArgv: ['--expose-gc'] })
  const [port] = (await once(child, 'message')) as [number]
  return {
    port,
    ask: (method, path, ask = {}) => askServer({ port }, method, path, ask),
    async measure() {
      const answered = once(child, 'message')
      child.send('measure')
      const [measured] = (await answered) as [Measured]
      return measured
    },
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    },
  }
}

export interface Client extends Disposable {
  readonly socket: Socket
  /** What came so far, as far as anything was read. */
  readonly received: () => string
  /** Resolves with the status of the answer; 0 when the connection closed without one. */
  readonly status: () => Promise<number>
  readonly closed: Promise<unknown>
}

interface Behaviour {
  /** Stops reading after the first bytes. */
  readonly isLazy?: boolean
  readonly localAddress?: string
}

/** Sends this, and reads what comes, or only the beginning of it. */
export function client(port: number, parts: readonly (string | Buffer)[], behaviour: Behaviour = {}): Client {
  const { isLazy = false, localAddress } = behaviour
  const socket = connect({ port, host: '127.0.0.1', ...(localAddress !== undefined && { localAddress }) })
  let received = ''
  const first = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    if (received.length < 10_000) received += chunk.toString('latin1')
    if (isLazy) socket.pause()
    first.resolve()
  })
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.on('error', () => undefined)
  void closed.then(() => first.resolve())
  for (const part of parts) socket.write(part)
  return {
    socket,
    closed,
    received: () => received,
    async status() {
      await first.promise
      return Number(/^HTTP\/1\.1 (\d+)/.exec(received)?.[1] ?? 0)
    },
    [Symbol.dispose]: () => void socket.destroy(),
  }
}

export function head(method: string, path: string, ...headers: readonly string[]): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, '', ''].join('\r\n')
}
