/**
 * Processes pipelined HTTP requests of one connection one at a time. Node parses everything that arrived, thousands of
 * requests at once, and would start all of them whether or not the caller reads the responses. Here each request starts in
 * its own turn of the event loop, and a connection with much in its queue is paused until the last of it has started.
 */
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import type { Share } from './share.ts'

/** Counts queued requests in bytes, by address. A connection beyond the limit is closed. */
export function serializePipelined(begin: RequestListener, bytes: Share): RequestListener {
  const queues = new WeakMap<Socket, RequestQueue>()
  return (request, response) => {
    // node assigns the socket once all earlier responses are sent: this request is first and need not wait
    if (response.socket) {
      begin(request, response)
      return
    }
    const { socket } = request
    const queue = queues.get(socket) ?? createRequestQueue(socket, bytes)
    queues.set(socket, queue)
    if (!queue.enter()) {
      socket.destroy()
      return
    }
    const leave = (): void => {
      queue.leave()
      // a connection that is closing ends with the response in progress: queued requests are not started
      if (socket.writable) begin(request, response)
    }
    response.once('socket', () => setImmediate(leave))
  }
}

/** The queued requests of one connection. */
interface RequestQueue {
  /** False when the limit is reached. */
  readonly enter: () => boolean
  readonly leave: () => void
}

function createRequestQueue(socket: Socket, bytes: Share): RequestQueue {
  const account = `address ${socket.remoteAddress}`
  let waiting = 0
  /** What the connection had received when the queue was last empty. */
  let receivedBefore = 0
  let isPaused = false
  // reading the body of a request resumes the socket, although the body is complete by then: pause it again
  socket.on('resume', () => {
    if (isPaused) socket.pause()
  })
  socket.once('close', () => {
    bytes.release(account, waiting * BYTES_EACH)
    waiting = 0
  })
  return {
    enter() {
      if (socket.destroyed || !bytes.take(account, BYTES_EACH)) return false
      if (waiting === 0) receivedBefore = socket.bytesRead
      waiting++
      if (!isPaused && socket.bytesRead - receivedBefore > MAX_READ_AHEAD) {
        isPaused = true
        socket.pause()
      }
      return true
    },
    leave() {
      if (waiting === 0) return
      waiting--
      bytes.release(account, BYTES_EACH)
      if (waiting > 0 || !isPaused) return
      isPaused = false
      socket.resume()
    },
  }
}

/**
 * The connection is read until so many bytes have arrived behind the request in progress. Node notices that a caller has
 * left only while it reads: a paused connection keeps its place, and the request in progress goes on, until that request
 * ends by itself.
 */
const MAX_READ_AHEAD = 64 * 1024

/** Estimated memory that node uses for a small queued request and its response object. */
const BYTES_EACH = 4 * 1024
