/** The state of one request and its response, and the headers of all responses. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { UNIDENTIFIED_CALLER } from '../auth/authentication.ts'
import type { ServiceError } from '../base/errors.ts'
import type { Params, Reply, Route } from './routes/route.ts'
import type { Meter } from './observe/metrics.ts'

/** A route with its meter. */
export interface Bound {
  readonly route: Route
  readonly meter: Meter
}

export class Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly id: string
  /** When the request arrived; it may have waited since. */
  readonly started: number
  /** Whether errors are sent in a data response, as clients of `/data` expect; all others get the bare error object. */
  isData = false
  /** Whether reading of the body was stopped before its end. */
  isCut = false
  allow = ''
  /** CORS headers of the response; names and values in turn. */
  cors: readonly string[] = []
  retryAfterSeconds = 1
  search = ''
  bound: Bound | undefined = undefined
  params: Params = NO_PARAMS
  caller: Caller = UNIDENTIFIED_CALLER
  /** The account that shared limits charge; set once the caller is identified. */
  account = ''

  constructor(request: IncomingMessage, response: ServerResponse, started: number) {
    this.request = request
    this.response = response
    this.id = requestIdOf(request)
    this.started = started
  }

  #signalController: AbortController | undefined

  /** Created on the first call: short requests never need a signal. */
  readonly getSignal = (): AbortSignal => {
    this.#signalController ??= closing(this.response)
    return this.#signalController.signal
  }

  /** Aborts the work with a reason. The caller is still connected and gets it as the response. */
  withdraw(reason: ServiceError): void {
    this.#signalController?.abort(reason)
  }
}

/** Aborted when the connection closes before the response was sent. */
function closing(response: ServerResponse): AbortController {
  const controller = new AbortController()
  // Every read of a bulk request may add a listener.
  setMaxListeners(0, controller.signal)
  if (response.destroyed) controller.abort(GONE)
  // 'close' also follows a complete response, when nothing listens to the signal any more.
  else response.once('close', () => response.writableFinished || controller.abort(GONE))
  return controller
}

/** Created once: the default reason is an error with a stack trace, a cost for every request. */
const GONE = new Error('the caller hung up')

/** What a browser may do with a response; nothing when absent. */
type ForBrowsers = Pick<Reply, 'contentSecurityPolicy' | 'cacheControl'>

/** Headers of every response in the form of `writeHead`: names and values in turn. */
export function headersOf({ id, cors }: Exchange, type: string, browser: ForBrowsers = {}): string[] {
  const { contentSecurityPolicy = NOTHING, cacheControl = 'no-store' } = browser
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
    cacheControl,
    'Content-Security-Policy',
    contentSecurityPolicy,
    'Referrer-Policy',
    'no-referrer',
    'Cross-Origin-Resource-Policy',
    'same-origin',
    ...cors,
  ]
}

/** A response is data: a browser must not run anything in it, nor show it in a frame. */
export const NOTHING = "default-src 'none'; frame-ancestors 'none'"

const NO_PARAMS: Params = {}
const REQUEST_ID = /^[A-Za-z0-9._-]{1,128}$/

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}
