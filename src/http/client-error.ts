/** Answers what never became a request: malformed, too long, too slow. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { ServiceError } from '../base/errors.ts'
import { NOTHING } from './exchange.ts'
import { JSON_TYPE } from './route.ts'

export function answerClientError(error: NodeJS.ErrnoException, socket: ClientSocket, log: Logger): void {
  // eslint-disable-next-line no-underscore-dangle -- node's name; see ClientSocket
  const pending = socket._httpMessage
  if (pending && pending.req.complete && !pending.writableEnded) {
    // what came before the nonsense was sound and may have been done: its caller must hear so
    pending.once('finish', () => socket.end())
    return
  }
  // an answer under way must not have another one written into it
  if (error.code === 'ECONNRESET' || !socket.writable || pending?.headersSent) {
    socket.destroy()
    return
  }
  const [status, message] = ANSWERS[error.code ?? ''] ?? MALFORMED
  const id = randomUUID()
  log.debug({ requestId: id, code: error.code, status }, 'not a request')
  const problem = new ServiceError('crud:InvalidRequest', message, { context: 'request' })
  const text = JSON.stringify(problem.toObject())
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: ${JSON_TYPE}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n` +
      `X-Request-Id: ${id}\r\nRequestID: ${id}\r\nX-Content-Type-Options: nosniff\r\n` +
      `Cache-Control: no-store\r\nContent-Security-Policy: ${NOTHING}\r\nReferrer-Policy: no-referrer\r\n` +
      `Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n${text}`,
  )
}

type Answer = readonly [status: string, message: string]

/** node:http keeps the answer that a socket is busy with here, and its own handler looks there too. */
type ClientSocket = Duplex & { readonly _httpMessage?: ServerResponse | null }

const MALFORMED: Answer = ['400 Bad Request', 'this is not a valid HTTP request']

const ANSWERS: Readonly<Partial<Record<string, Answer>>> = {
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'the address and headers of the request are too long',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request did not arrive in time'],
}
