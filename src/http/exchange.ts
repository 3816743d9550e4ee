/** One request and its answer: the little that is known along the way, and the one place that writes to the socket. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { NOBODY } from '../auth/authentication.ts'
import type { ServiceError } from '../base/errors.ts'
import { JSON_TYPE, type Params, type Reply, type Route } from './route.ts'
import type { Meter } from './metrics.ts'

/** A row of the table with what the server keeps for it. */
export interface Bound {
  readonly route: Route
  readonly meter: Meter
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  readonly started: number = performance.now()
  /** Data clients read errors from the response document, all others the bare error object. */
  isData = false
  /** Whether the body was given up before its end. */
  isCut = false
  allow = ''
  /** What lets pages of other origins read the answer; names and values in turn. */
  cors: readonly string[] = []
  retryAfterSeconds = 1
  search = ''
  bound: Bound | undefined = undefined
  params: Params = NO_PARAMS
  caller: Caller = NOBODY

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request
    this.response = response
    this.id = requestIdOf(request)
  }

  #hangUp: AbortController | undefined

  /** Made only for those who wait long enough to ask for it. */
  readonly hangUp = (): AbortSignal => {
    this.#hangUp ??= closing(this.response)
    return this.#hangUp.signal
  }

  /** Ends the work for a reason that the caller, who is still there, is told. */
  withdraw(reason: ServiceError): void {
    this.#hangUp?.abort(reason)
  }
}

/** Aborted when the connection closes before the answer was sent. */
function closing(response: ServerResponse): AbortController {
  const controller = new AbortController()
  // Every read of a bulk may listen to it.
  setMaxListeners(0, controller.signal)
  if (response.destroyed) controller.abort(GONE)
  // It closes after every answer, too, when nobody listens any more.
  else response.once('close', () => response.writableFinished || controller.abort(GONE))
  return controller
}

/** Made once: the default reason is an error with a stack, which every request would pay for. */
const GONE = new Error('the caller hung up')

/** Writes the whole answer and returns the number of bytes of its body. */
export function send(exchange: Exchange, reply: Reply, isLast: boolean): number {
  const { response } = exchange
  const { text, status } = reply
  const bytes = typeof text === 'string' ? Buffer.byteLength(text) : text.length
  const headers = headersOf(exchange, reply.type ?? JSON_TYPE, reply.contentSecurityPolicy)
  if (status !== 204) headers.push('Content-Length', String(bytes))
  if (reply.headers) headers.push(...reply.headers)
  if (status >= 400) headers.push(...refusalHeaders(exchange, status))
  if (isLast || exchange.isCut) headers.push('Connection', 'close')
  response.writeHead(status, headers)
  if (exchange.isCut) lingerBeforeClosing(exchange, String(text))
  else if (typeof text !== 'string') response.end(text)
  // ASCII alone needs no encoding, and node writes it in one copy
  else response.end(text, bytes === text.length ? 'latin1' : 'utf8')
  return bytes
}

/** What every answer carries, as `writeHead` takes it: names and values in turn. */
export function headersOf({ id, cors }: Exchange, type: string, policy: string = NOTHING): string[] {
  return [
    'Content-Type',
    type,
    'X-Request-Id',
    id,
    'RequestID',
    id,
    'X-Content-Type-Options',
    'nosniff',
    'Cache-Control',
    'no-store',
    'Content-Security-Policy',
    policy,
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    ...cors,
  ]
}

/** An answer is data: nothing in it runs, and nothing shows it inside a page. */
export const NOTHING = "default-src 'none'; frame-ancestors 'none'"

const NO_PARAMS: Params = {}
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/
const LINGER_MS = 5_000

/** What tells a caller how to do better. */
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

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}

/**
 * The answer goes out at once, but closing while the caller still sends would reset the connection and take the answer
 * with it: what comes is thrown away for a while first.
 */
function lingerBeforeClosing({ request, response }: Exchange, text: string): void {
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
