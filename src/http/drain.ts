/** Graceful shutdown: requests in progress are completed, new ones are not accepted. */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Tracks the connections of a server. The result closes them. */
export function prepareDrain(server: Server): () => Promise<void> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })
  return async () => {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()))
    server.closeIdleConnections()
    // node counts a connection that never sent a byte as busy
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    const timer = setTimeout(() => server.closeAllConnections(), GRACE_MS)
    await closed
    clearTimeout(timer)
  }
}

const GRACE_MS = 10_000
