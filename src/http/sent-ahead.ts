/**
 * Requests that a caller sends ahead of the answer to an earlier one. Node parses all that came, thousands at a time, and
 * would have all of them done at once, whether anybody reads the answers or not. Here they are begun one after the other,
 * each in a turn of the event loop of its own, and no more of the connection is read before the last of them.
 */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Share } from './share.ts'

/** What waits is counted in bytes, by address; a connection for which there is no room is closed. */
export function oneByOne(begin: RequestListener, bytes: Share): RequestListener {
  const lines = new WeakMap<Socket, Line>()
  return (request, response) => {
    // node gives an answer its socket when all answers before it are sent
    if (response.socket) {
      begin(request, response)
      return
    }
    const { socket } = request
    const line = lines.get(socket) ?? startLine(socket, bytes)
    lines.set(socket, line)
    if (!line.enter()) {
      socket.destroy()
      return
    }
    const leave = (): void => {
      line.leave()
      // a connection that is to be closed ends with the answer that was under way
      if (socket.writable) begin(request, response)
    }
    response.once('socket', () => setImmediate(leave))
  }
}

/** Those who wait on one connection. */
interface Line {
  /** Whether there was room. */
  readonly enter: () => boolean
  readonly leave: () => void
}

function startLine(socket: Socket, bytes: Share): Line {
  const account = `address ${socket.remoteAddress}`
  let waiting = 0
  // whoever reads the body of a request, which is complete by then, makes node read on
  socket.on('resume', () => {
    if (waiting > 0) socket.pause()
  })
  socket.once('close', () => {
    bytes.release(account, waiting * BYTES_EACH)
    waiting = 0
  })
  return {
    enter() {
      if (socket.destroyed || !bytes.take(account, BYTES_EACH)) return false
      waiting++
      socket.pause()
      return true
    },
    leave() {
      if (waiting === 0) return
      waiting--
      bytes.release(account, BYTES_EACH)
      if (waiting === 0) socket.resume()
    },
  }
}

/** About what node keeps of a small request and of the answer to come. */
const BYTES_EACH = 4 * 1024
