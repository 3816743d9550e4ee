/** A way to a server that can be cut or stopped, as networks do. */
import { once } from 'node:events'
import { type AddressInfo, type Socket, connect, createServer } from 'node:net'

export interface Relay extends AsyncDisposable {
  /** The URL of the server, by way of this relay. */
  readonly url: string
  /** The next time a client sends this, its connection is cut: before it gets through, or before the answer does. */
  cutAt(text: string, when: 'before' | 'after'): void
  /** The next time a client sends this, it waits for an answer that does not get through. Resolves when there is one. */
  holdAt(text: string): Promise<void>
  /**
   * The next time a client sends this, the answers on its connection wait. Resolves when there is one, with a function that
   * lets them through.
   */
  delayAt(text: string): Promise<() => void>
  /** Nothing gets through any more, and nobody is told. */
  freeze(): void
  thaw(): void
}

export async function openRelay(url: string): Promise<Relay> {
  const target = new URL(url)
  const { port, hostname } = target
  const sockets = new Set<Socket>()
  let cut: { readonly text: string; readonly when: 'before' | 'after' } | undefined
  let hold: { readonly text: string; readonly onHeld: () => void } | undefined
  let delay: { readonly text: string; readonly onDelayed: (pass: () => void) => void } | undefined
  let isFrozen = false

  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    const both = [client, upstream]
    for (const socket of both) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        for (const each of both) each.destroy()
      })
      if (isFrozen) socket.pause()
    }
    client.on('data', (chunk) => {
      if (hold && chunk.includes(hold.text)) {
        const { onHeld } = hold
        hold = undefined
        upstream.removeAllListeners('data').once('data', onHeld)
      }
      if (delay && chunk.includes(delay.text)) {
        const { onDelayed } = delay
        delay = undefined
        const late: Buffer[] = []
        const pass = (): void => {
          for (const each of late) client.write(each)
          upstream.removeAllListeners('data').on('data', (answer) => client.write(answer))
        }
        upstream
          .removeAllListeners('data')
          .on('data', (answer: Buffer) => late.push(answer))
          .once('data', () => onDelayed(pass))
      }
      if (!cut || !chunk.includes(cut.text)) return void upstream.write(chunk)
      const { when } = cut
      cut = undefined
      // the answer is awaited, so that it has happened, but not handed on
      if (when === 'after')
        upstream
          .removeAllListeners('data')
          .once('data', () => client.destroy())
          .write(chunk)
      else client.destroy()
    })
    upstream.on('data', (chunk) => client.write(chunk))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  target.port = String((server.address() as AddressInfo).port)
  return {
    url: target.href,
    cutAt: (text, when) => (cut = { text, when }),
    holdAt(text) {
      const { promise, resolve } = Promise.withResolvers<void>()
      hold = { text, onHeld: resolve }
      return promise
    },
    delayAt(text) {
      const { promise, resolve } = Promise.withResolvers<() => void>()
      delay = { text, onDelayed: resolve }
      return promise
    },
    freeze() {
      isFrozen = true
      for (const socket of sockets) socket.pause()
    },
    thaw() {
      isFrozen = false
      for (const socket of sockets) socket.resume()
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}
