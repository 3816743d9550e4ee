/**
 * Tracks the sockets that the NATS client opens while it connects, so that they can be closed. The client
 * itself leaves a socket open when a server accepts the connection and sends nothing, and it buffers input
 * without a limit until a line ends.
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

/** The introduction of a server is far smaller. */
const MAX_BYTES = 1_048_576
const LOOK_MS = 50

/**
 * Closes the sockets that `connect` opened when it fails, when it is aborted, and when the server sends too
 * much.
 */
export async function dialing<T>(signal: AbortSignal, connect: () => Promise<T>): Promise<T> {
  signal.throwIfAborted()
  watch()
  const sockets = new Set<Socket>()
  const destroySockets = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const looking = setInterval(() => {
    if (signal.aborted || sockets.values().some(({ bytesRead }) => bytesRead > MAX_BYTES)) destroySockets()
  }, LOOK_MS)
  try {
    return await opening.run(sockets, connect)
  } catch (error) {
    destroySockets()
    throw error
  } finally {
    clearInterval(looking)
  }
}
