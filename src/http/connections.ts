/** Limits connections, in total and by address, and closes stalled ones. */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { timerMs } from '../base/work/timer.ts'
import { bareAnswer } from './client-error.ts'
import { Share } from './share.ts'

interface Guard {
  readonly limits: Pick<Limits, 'connections' | 'stallTimeMs'>
  /** With TLS, no response can be sent before the handshake. */
  readonly isEncrypted: boolean
}

/** Must be called before other listeners for connections are added: it calls only the listeners that exist now. */
export function guardConnections(server: Server, { limits, isEncrypted }: Guard): void {
  const open = new Share(limits.connections)
  const refuse = isEncrypted ? (socket: Socket) => void socket.destroy() : politeRefusal()
  const accepts = server.listeners('connection') as ((this: Server, socket: Socket) => void)[]
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? ''
    if (!open.take(address, 1)) {
      refuse(socket)
      return
    }
    socket.once('close', () => open.release(address, 1))
    for (const accept of accepts) accept.call(server, socket)
  })
  server.maxConnections = limits.connections + MAX_POLITE
  server.setTimeout(timerMs(limits.stallTimeMs), closeStalled)
}

/** At most this many rejected connections at a time get a 503 response; further ones are closed at once. */
const MAX_POLITE = 64
const POLITE_MS = 1_000

function politeRefusal(): (socket: Socket) => void {
  let polite = 0
  return (socket) => {
    if (polite >= MAX_POLITE) {
      socket.destroy()
      return
    }
    polite++
    const timer = setTimeout(() => socket.destroy(), POLITE_MS).unref()
    socket
      .on('error', () => undefined)
      .once('close', () => {
        polite--
        clearTimeout(timer)
      })
      .resume()
    const problem = new ServiceError('crud:Unavailable', 'too many connections; try again in a second')
    socket.end(bareAnswer('503 Service Unavailable', problem, ['Retry-After: 1']))
  }
}

/** Called by node after a time without reads or writes. A request in progress with nothing to send may be silent. */
function closeStalled(socket: BusySocket): void {
  // eslint-disable-next-line no-underscore-dangle -- node's name for the response in progress on a socket
  if (socket.writableLength > 0 || !socket._httpMessage) socket.destroy()
}

type BusySocket = Socket & { readonly _httpMessage?: ServerResponse | null }
