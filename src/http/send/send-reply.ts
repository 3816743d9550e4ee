/** Sends one response: in one write up to 512 KiB, beyond that in pieces, within the shared limit of unsent bytes. */
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
  const { status } = reply
  const body = bodyOf(reply)
  const { bytes } = body
  const isLarge = bytes > LARGE
  if (isLarge) reserve(exchange, memoryOf(body), sending)
  const headers = headersOf(exchange, reply.type ?? JSON_TYPE, reply)
  if (status !== 204 && status !== 304) headers.push('Content-Length', String(bytes))
  if (reply.headers) headers.push(...reply.headers)
  if (status >= 400) headers.push(...refusalHeaders(exchange, status))
  if (sending.isLast || exchange.isCut) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  if (exchange.isCut) lingerBeforeClosing(exchange, body)
  else if (isLarge && request.method !== 'HEAD') void sendLarge(exchange, body, sending)
  else response.end(inOnePiece(body), body.encoding)
  return bytes
}

interface Body {
  readonly parts: readonly (string | Uint8Array)[]
  readonly length: number
  readonly bytes: number
  readonly encoding: 'latin1' | 'utf8'
}

function bodyOf({ text }: Reply): Body {
  const parts = typeof text === 'string' || text instanceof Uint8Array ? [text] : text
  let bytes = 0
  let length = 0
  for (const part of parts) {
    bytes += typeof part === 'string' ? Buffer.byteLength(part) : part.length
    length += part.length
  }
  // pure ASCII needs no encoding: node writes latin1 with one copy
  return { parts, length, bytes, encoding: bytes === length ? 'latin1' : 'utf8' }
}

function inOnePiece({ parts, encoding }: Body): string | Uint8Array {
  if (parts.length === 1) return parts[0]!
  if (parts.every((part) => typeof part === 'string')) return parts.join('')
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, encoding) : part)))
}

/** Larger responses are counted, and have a time limit. */
const LARGE = 64 * 1024
/**
 * Responses up to this size are sent in one write, which is faster than several; copying so many bytes is no noticeable
 * pause.
 */
const MAX_ONE_WRITE = 512 * 1024
const LINGER_MS = 5_000

/** Counts a large response until it is closed: all of it stays in memory until its last byte is sent. */
function reserve({ response, account }: Exchange, amount: number, { unsent, isRefusable }: Sending): void {
  if (!isRefusable) unsent.add(account, amount)
  else if (!unsent.take(account, amount)) throw noRoom('too many large answers have not been read yet')
  if (response.destroyed) unsent.release(account, amount)
  else response.once('close', () => unsent.release(account, amount))
}

/** A string has two bytes for each character if any of its characters needs them. */
function memoryOf({ length, bytes }: Body): number {
  return bytes > length ? 2 * length : bytes
}

async function sendLarge({ response }: Exchange, body: Body, sending: Sending): Promise<void> {
  if (response.destroyed) return
  const timer = setTimeout(() => response.destroy(), timerMs(sending.longestMs)).unref()
  if (body.bytes <= MAX_ONE_WRITE) {
    // the connection is closed if the caller reads nothing of it for `stallTimeMs`, as with small responses
    response.once('close', () => clearTimeout(timer))
    // written apart from the headers, because node would copy the whole text to join the two; corked, they are one write
    response.cork()
    response.flushHeaders()
    response.end(inOnePiece(body), body.encoding)
    return
  }
  const outlet = { response, stallMs: sending.stallTimeMs }
  let isSent = true
  for (const chunk of chunksOf(body)) {
    isSent = await writePieces(outlet, chunk, body.encoding)
    if (!isSent) break
  }
  clearTimeout(timer)
  if (isSent) response.end()
}

/** Small parts are joined, because each write has its cost; large ones are not, because that would copy them. */
function* chunksOf({ parts }: Body): Generator<string | Uint8Array> {
  let small = ''
  for (const part of parts) {
    const isSmall = typeof part === 'string' && part.length <= LARGE
    if (small !== '' && !(isSmall && small.length + part.length <= LARGE)) {
      yield small
      small = ''
    }
    if (isSmall) small += part
    else yield part
  }
  if (small !== '') yield small
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
function lingerBeforeClosing({ request, response }: Exchange, body: Body): void {
  response.write(inOnePiece(body), body.encoding)
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
