/** Responds to bytes that node could not parse as a request: malformed, too long, or too slow. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { type Code, ServiceError } from '../base/errors.ts'
import { NOTHING } from './exchange.ts'
import { JSON_TYPE } from './routes/route.ts'
import { isUpload } from './upload.ts'

/** Node has detached the socket from the server and would close it without a response. */
export function refuseConnect(socket: ClientSocket, log: Logger): void {
  socket
    .on('error', () => undefined)
    .once('finish', () => setTimeout(() => socket.destroy(), LINGER_MS).unref())
    .resume()
  respond('CONNECT', socket, log)
}

/** How long a caller may take to close the connection after the response. */
const LINGER_MS = 1_000

export function answerClientError({ code }: NodeJS.ErrnoException, socket: ClientSocket, log: Logger): void {
  respond(code, socket, log)
}

function respond(cause: string | undefined, socket: ClientSocket, log: Logger): void {
  // eslint-disable-next-line no-underscore-dangle -- node's name; see ClientSocket
  const pending = socket._httpMessage
  // an upload has a limit of its own: how slowly its bytes may arrive
  if (cause === 'ERR_HTTP_REQUEST_TIMEOUT' && pending && isUpload(pending.req)) return
  if (pending && pending.req.complete && !pending.writableEnded) {
    // the request before the malformed bytes was complete and may have been executed: send its response first
    pending.once('finish', () => socket.end())
    return
  }
  // a second response must not be written into one in progress
  if (cause === 'ECONNRESET' || !socket.writable || pending?.headersSent) {
    socket.destroy()
    return
  }
  const [status, code, message] = ANSWERS[cause ?? ''] ?? MALFORMED
  const id = randomUUID()
  log.debug({ requestId: id, code: cause, status }, 'not a request')
  socket.end(bareAnswer(status, new ServiceError(code, message), [`X-Request-Id: ${id}`, `RequestID: ${id}`]))
}

/** A complete response as text, for a socket without a request object. */
export function bareAnswer(status: string, problem: ServiceError, headers: readonly string[]): string {
  const text = JSON.stringify(problem.within('request').toObject())
  const lines = [
    `HTTP/1.1 ${status}`,
    `Content-Type: ${JSON_TYPE}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...headers,
    'X-Content-Type-Options: nosniff',
    'Cache-Control: no-store',
    `Content-Security-Policy: ${NOTHING}`,
    'Referrer-Policy: no-referrer',
    'Cross-Origin-Resource-Policy: same-origin',
    'Connection: close',
  ]
  return `${lines.join('\r\n')}\r\n\r\n${text}`
}

type Answer = readonly [status: string, code: Code, message: string]

/** node:http stores the response in progress here, and its own error handler reads it too. */
type ClientSocket = Duplex & { readonly _httpMessage?: ServerResponse | null }

const MALFORMED: Answer = ['400 Bad Request', 'crud:InvalidRequest', 'this is not a valid HTTP request']

const ANSWERS: Readonly<Partial<Record<string, Answer>>> = {
  CONNECT: ['400 Bad Request', 'crud:InvalidRequest', 'CONNECT is for proxies, and this service is none'],
  HPE_INVALID_URL: [
    '400 Bad Request',
    'crud:InvalidRequest',
    'the address contains a character that must be percent-encoded, such as %C3%BC for ü',
  ],
  HPE_HEADER_OVERFLOW: [
    '431 Request Header Fields Too Large',
    'crud:InvalidRequest',
    'the address and headers of the request are too long',
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [
    '408 Request Timeout',
    'crud:RequestTimeout',
    'the request did not arrive in time',
  ],
}
