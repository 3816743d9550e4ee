/** The HTTP server: bytes to a request, a request to the service, its answer to bytes. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ServiceError, internalError } from '../base/errors.ts'
import { once } from '../base/memo.ts'
import type { Json } from '../base/json.ts'
import type { Limits } from '../base/limits.ts'
import type { Service } from '../service/service.ts'
import { Aborted, checkBodyHeaders, parseBody, readBody } from './body.ts'
import { answerClientError } from './client-error.ts'
import { type Credentials, hostKind, refuseOpenNetwork } from './credentials.ts'
import { docsPage } from './docs-page.ts'
import { prepareDrain } from './drain.ts'
import { type Bound, Exchange, send } from './exchange.ts'
import { failureReply } from './failure.ts'
import type { Log } from './log.ts'
import type { Meter, Metrics } from './metrics.ts'
import { openapiDocument } from './openapi.ts'
import { type Overload, watchEventLoop } from './overload.ts'
import { cachedReadiness } from './readiness.ts'
import { sendStream } from './send-stream.ts'
import type { App, Reply, Route } from './route.ts'
import { type Router, createRouter, readTarget } from './router.ts'
import { ROUTES } from './routes.ts'

// An import would run every getter of the module, and with them load a whole HTTP client that nothing here uses.
const { createServer } = process.getBuiltinModule('node:http')

interface ServerOptions {
  readonly service: Service
  readonly limits: Limits
  readonly auth: Credentials
  readonly log: Log
  readonly metrics: Metrics
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly overload?: Overload
}

export interface RunningServer {
  readonly port: number
  /** Answers what is under way, for ten seconds at most, and closes everything. */
  readonly close: () => Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  refuseOpenNetwork(options.auth, options.host)
  const listener = createListener(options)
  const server = createServer(SETTINGS, (request, response) => void receive(listener, request, response))
  // asked by callers with large bodies: the refusal can then come before the body does
  server.on('checkContinue', (request, response) => void receive(listener, request, response))
  server.on('checkExpectation', (request, response) => void receive(listener, request, response))
  server.on('clientError', (error, socket) => answerClientError(error, socket, options.log.logger))
  const drain = prepareDrain(server)
  await listen(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      listener.isDraining = true
      await drain()
      listener.overload.close()
    },
  }
}

/** Everything a request needs that outlives it. */
interface Listener {
  readonly app: App
  readonly auth: Credentials
  readonly limits: Limits
  readonly log: Log
  readonly overload: Overload
  readonly router: Router<Bound>
  readonly unmatched: Meter
  isDraining: boolean
}

const SETTINGS = {
  // longer than the idle time of the usual proxies, so that they close first and never send into a closing socket
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 32 * 1_024,
  // answered in `admit`, with a request id and an error object
  requireHostHeader: false,
}

/** What nginx logs for a caller that left; it is never sent. */
const CLIENT_CLOSED = 499

function createListener({ service, limits, auth, log, metrics, overload }: ServerOptions): Listener {
  const app: App = {
    service,
    isReady: cachedReadiness(service),
    metricsText: metrics.text,
    openapiText: once(() => JSON.stringify(openapiDocument(ROUTES))),
    docsPage: once(() => docsPage(ROUTES)),
  }
  const bind = (route: Route): Bound => ({ route, meter: metrics.meterOf(route.method, route.path) })
  return {
    app,
    auth,
    limits,
    log,
    overload: overload ?? watchEventLoop(),
    router: createRouter(ROUTES, bind),
    unmatched: metrics.meterOf('', UNMATCHED),
    isDraining: false,
  }
}

const UNMATCHED = '(none)'

async function receive(
  listener: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = new Exchange(request, response)
  try {
    const { route } = admit(listener, exchange)
    const body = route.body === undefined ? undefined : await bodyOf(listener, exchange)
    const { params, search, caller, hangUp } = exchange
    const accept = request.headers.accept ?? ''
    const reply = await route.handle({ app: listener.app, caller, params, search, body, accept, hangUp })
    if ('lines' in reply)
      note(listener, exchange, 200, await sendStream(exchange, reply.lines, listener.isDraining))
    else finish(listener, exchange, reply)
  } catch (error) {
    if (error instanceof Aborted) note(listener, exchange, CLIENT_CLOSED, 0)
    else refuse(listener, exchange, error)
  }
}

/** Everything that is known before the body: who is addressed, which route, who asks. */
function admit({ auth, router, overload }: Listener, exchange: Exchange): Bound {
  const { request } = exchange
  const { path, search } = readTarget(request.url ?? '')
  exchange.isData = path.startsWith('/data/')
  exchange.search = search
  refuseBadHost(request)
  auth.admit(request)
  const match = path.includes('//') ? undefined : router(path)
  if (!match) throw new ServiceError('crud:UnknownRoute', 'there is nothing at this path; see /docs')
  const bound = match.resource.byMethod[request.method ?? '']
  if (!bound) {
    exchange.allow = match.resource.allow
    throw new ServiceError(
      'crud:MethodNotAllowed',
      `${match.resource.template} knows ${match.resource.allow} only`,
    )
  }
  exchange.bound = bound
  exchange.params = match.params
  if (bound.route.tag !== 'service') {
    if (overload.isOverloaded()) throw new ServiceError('crud:Unavailable', 'too busy; try again in a second')
    exchange.caller = auth.callerOf(request)
  }
  return bound
}

async function bodyOf({ limits }: Listener, { request, response }: Exchange): Promise<Json | undefined> {
  checkBodyHeaders(request, limits)
  if (request.headers.expect !== undefined) response.writeContinue()
  return parseBody(await readBody(request, limits), limits)
}

function refuse(listener: Listener, exchange: Exchange, error: unknown): void {
  const isForeseen = error instanceof ServiceError
  if (!isForeseen) listener.log.logger.error({ requestId: exchange.id, err: error }, 'unexpected error')
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    note(listener, exchange, 500, 0)
    return
  }
  const problem = isForeseen ? error : internalError(` under request id ${exchange.id}`)
  exchange.isCut = problem.code === 'crud:BodyTooLarge'
  finish(listener, exchange, failureReply(exchange, problem))
}

function finish(listener: Listener, exchange: Exchange, reply: Reply): void {
  note(listener, exchange, reply.status, send(exchange, reply, listener.isDraining))
}

function note({ log, unmatched }: Listener, exchange: Exchange, status: number, bytes: number): void {
  const { bound, params, caller } = exchange
  const ms = performance.now() - exchange.started
  const meter = bound?.meter ?? unmatched
  meter.observe(status, ms / 1_000)
  log.request({
    requestId: exchange.id,
    method: exchange.request.method ?? '',
    route: bound?.route.path ?? UNMATCHED,
    entity: params.entity,
    version: params.version,
    roles: caller.roles.size,
    status,
    ms,
    bytes,
  })
}

/** Two of them, or one that is none, mean that somebody on the way may understand the request differently. */
function refuseBadHost({ headers: { host }, rawHeaders, httpVersionMinor }: IncomingMessage): void {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  const isMissing = hosts === 0 && httpVersionMinor > 0
  if (isMissing || hosts > 1 || (hosts === 1 && hostKind(host) === 'malformed')) {
    throw new ServiceError(
      'crud:InvalidRequest',
      'the request needs exactly one Host header that names a host',
    )
  }
}

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: host.replaceAll(/[[\]]/g, ''), port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
