/**
 * Keeps hold of the sockets that the client of NATS opens while it connects. By itself it leaves them open where a
 * server takes the connection and says nothing, and reads whatever comes until there is an end of a line.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'

const opening = new AsyncLocalStorage<Set<Socket>>()

let isWatching = false

function watch(): void {
  if (isWatching) return
  isWatching = true
  subscribe('net.client.socket', (message) => {
    opening.getStore()?.add((message as { readonly socket: Socket }).socket)
  })
}

/** A server introduces itself in far less. */
const MAX_BYTES = 1_048_576
const LOOK_MS = 50

/** What `connect` opens is closed when it fails, when it is called off, and when the server talks too much. */
export async function dialing<T>(signal: AbortSignal, connect: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  watch()
  const sockets = new Set<Socket>()
  const getSignal = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const looking = setInterval(() => {
    if (signal.aborted || sockets.values().some(({ bytesRead }) => bytesRead > MAX_BYTES)) getSignal()
  }, LOOK_MS)
  try {
    return await opening.run(sockets, connect)
  } catch (error) {
    getSignal()
    throw error
  } finally {
    clearInterval(looking)
  }
}
