/** Sends one response: a small one in one write, a large one in pieces, within the shared limit of unsent bytes. */
import { timerMs } from '../../base/work/timer.ts'
import { type Exchange, headersOf } from '../exchange.ts'
import { writePieces } from './backpressure.ts'
import { JSON_TYPE, type Reply } from '../routes/route.ts'
import { type Share, noRoom } from '../share.ts'

export interface Sending {
  /** Whether to close the connection afterwards. */
  readonly isLast: boolean
  /** Counts the bytes of large responses in progress. */
  readonly unsent: Share
  /** Whether 503 may be sent instead, because the request changed nothing. */
  readonly isRefusable: boolean
  readonly stallTimeMs: number
  readonly longestMs: number
}

/** Returns the size of the body. A large body is still being sent when this returns. */
export function sendReply(exchange: Exchange, reply: Reply, sending: Sending): number {
  const { response, request } = exchange
  const { text, status } = reply
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  // pure ASCII needs no encoding: node writes latin1 with one copy
  const encoding = bytes === text.length ? 'latin1' : 'utf8'
  const isLarge = bytes > LARGE
  if (isLarge) reserve(exchange, memoryOf(text, bytes), sending)
  const headers = headersOf(exchange, reply.type ?? JSON_TYPE, reply)
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(bytes))
  if (reply.headers) headers.push(...reply.headers)
  if (status >= 400) headers.push(...refusalHeaders(exchange, status))
  if (sending.isLast || exchange.isCut) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  if (exchange.isCut) lingerBeforeClosing(exchange, text)
  else if (isLarge && request.method !== 'HEAD') void sendLarge(exchange, { text, encoding }, sending)
  else response.end(text, encoding)
  return bytes
}

const LARGE = 64 * 1024
const LINGER_MS = 5_000

/** Counts a large response until it is closed: all of it stays in memory until its last byte is sent. */
function reserve({ response, account }: Exchange, amount: number, { unsent, isRefusable }: Sending): void {
  if (!isRefusable) unsent.add(account, amount)
  else if (!unsent.take(account, amount)) throw noRoom('too many large answers have not been read yet')
  if (response.destroyed) unsent.release(account, amount)
  else response.once('close', () => unsent.release(account, amount))
}

function memoryOf(text: string | Uint8Array, bytes: number): number {
  return typeof text === 'string' && bytes > text.length ? 2 * text.length : bytes
}

interface Encoded {
  readonly text: string | Uint8Array
  readonly encoding: 'latin1' | 'utf8'
}

async function sendLarge(
  { response }: Exchange,
  { text, encoding }: Encoded,
  sending: Sending,
): Promise<void> {
  const timer = setTimeout(() => response.destroy(), timerMs(sending.longestMs)).unref()
  const isSent = await writePieces({ response, stallMs: sending.stallTimeMs }, text, encoding)
  clearTimeout(timer)
  if (isSent) response.end()
}

/** Headers that help a caller to correct or repeat a rejected request. */
function refusalHeaders({ allow, request, retryAfterSeconds }: Exchange, status: number): readonly string[] {
  switch (status) {
    case 401:
      return ['WWW-Authenticate', request.headers.authorization === undefined ? 'Bearer' : INVALID_TOKEN]
    case 405:
      return ['Allow', allow]
    case 429:
      return ['Retry-After', String(retryAfterSeconds)]
    case 503:
      return ['Retry-After', '1']
    default:
      return []
  }
}

const INVALID_TOKEN = 'Bearer error="invalid_token"'

/**
 * Sends the response at once, but discards incoming bytes for a while before it closes. Closing while the caller still
 * sends would reset the connection, and the caller would lose the response.
 */
function lingerBeforeClosing({ request, response }: Exchange, text: string | Uint8Array): void {
  response.write(text)
  if (request.complete) {
    response.end()
    return
  }
  const close = () => {
    clearTimeout(timer)
    response.end()
  }
  const timer = setTimeout(close, LINGER_MS).unref()
  request
    .on('end', close)
    .on('close', close)
    .on('error', () => undefined)
    .resume()
}
