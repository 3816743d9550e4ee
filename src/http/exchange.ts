/** One request and its answer: the little that is known along the way, and the headers that all answers carry. */
import { randomUUID } from 'node:crypto'
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { UNIDENTIFIED_CALLER } from '../auth/authentication.ts'
import type { ServiceError } from '../base/errors.ts'
import type { Params, Route } from './routes/route.ts'
import type { Meter } from './observe/metrics.ts'

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
  caller: Caller = UNIDENTIFIED_CALLER
  /** Whom shared limits charge this request to; known once the caller is. */
  account = ''

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.request = request
    this.response = response
    this.id = requestIdOf(request)
  }

  #getSignal: AbortController | undefined

  /** Made only for those who wait long enough to ask for it. */
  readonly getSignal = (): AbortSignal => {
    this.#getSignal ??= closing(this.response)
    return this.#getSignal.signal
  }

  /** Ends the work for a reason that the caller, who is still there, is told. */
  withdraw(reason: ServiceError): void {
    this.#getSignal?.abort(reason)
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

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id']
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
}
