/** The HTTP server: bytes to a request, a request to the service, its answer to bytes. */
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Authentication } from '../auth/authentication.ts'
import { refuseOpenNetwork } from '../auth/open.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import { once } from '../base/memo.ts'
import { INLINE_STEPS, Work, during } from '../base/work.ts'
import type { Limits } from '../base/limits.ts'
import { parseLocation } from '../base/location.ts'
import type { Service } from '../service/service.ts'
import { type Gate, accountOf, admit, charge, identify, payerOf } from './admission.ts'
import { Aborted, checkBodyHeaders, parseBody, readBody } from './body.ts'
import { answerClientError } from './client-error.ts'
import { TRUSTED_MS, recheck, watchRights, watchWork, withDeadline } from './caller-watch.ts'
import { guardConnections } from './connections.ts'
import { allowOrigins } from './cors.ts'
import { wantsStream } from './data-routes.ts'
import { docsPage } from './docs-page.ts'
import { prepareDrain } from './drain.ts'
import { type Bound, Exchange } from './exchange.ts'
import { failureReply } from './failure.ts'
import type { Log } from './log.ts'
import type { Meter, Metrics } from './metrics.ts'
import { openapiDocument } from './openapi.ts'
import { type Overload, watchEventLoop } from './overload.ts'
import { type RateLimit, limitRate } from './rate-limit.ts'
import { cachedReadiness } from './readiness.ts'
import type { Outlet } from './room.ts'
import { sendEvents } from './send-events.ts'
import { sendReply } from './send-reply.ts'
import { sendStream } from './send-stream.ts'
import { Holding, Share, noRoom } from './share.ts'
import type { AnyReply, App, EventsReply, Reply, Route, StreamReply } from './route.ts'
import { createRouter } from './router.ts'
import { ROUTES } from './routes.ts'
import {
  MAX_STREAM_BODY_BYTES,
  type Request,
  handle,
  isLargeFor,
  isOffloadable,
} from './threads/offloading.ts'
import { type ThreadOptions, type Threads, createThreads } from './threads/pool.ts'

// An import would run every getter of the module, and with them load a whole HTTP client that nothing here uses.
const { createServer: createPlainServer } = process.getBuiltinModule('node:http')

export interface ServerOptions {
  readonly service: Service
  readonly limits: Limits
  readonly auth: Authentication
  readonly log: Log
  readonly metrics: Metrics
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  readonly overload?: Overload
  /** Origins whose pages may ask; none when absent. */
  readonly origins?: readonly string[]
  /** No limit when absent. */
  readonly rateLimit?: RateLimit | undefined
  /** Whether measurements are shown to anybody. */
  readonly isMetricsPublic?: boolean
  /** Plain HTTP when absent. */
  readonly tls?: Tls | undefined
  /** Where the service keeps its data, for threads that open it once more; all is done by this thread when absent. */
  readonly threads?: Pick<ThreadOptions, 'datasources' | 'idleMs'> | undefined
}

/** PEM texts. */
export interface Tls {
  readonly cert: string
  readonly key: string
  /** Who vouches for client certificates; none are asked for when absent. */
  readonly ca?: string | undefined
}

export interface RunningServer {
  readonly port: number
  /** Answers what is under way, for ten seconds at most, and closes everything. */
  readonly close: () => Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  refuseOpenNetwork(options.auth, options.host)
  const listener = createListener(options)
  const server = createServer(options.tls, (request, response) => void receive(listener, request, response))
  // asked by callers with large bodies: the refusal can then come before the body does
  server.on('checkContinue', (request, response) => void receive(listener, request, response))
  server.on('checkExpectation', (request, response) => void receive(listener, request, response))
  server.on('clientError', (error, socket) => answerClientError(error, socket, options.log.logger))
  guardConnections(server, { limits: options.limits, isEncrypted: options.tls !== undefined })
  const drain = prepareDrain(server)
  await listen(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      listener.isDraining = true
      listener.ending.abort()
      await drain()
      await listener.threads?.[Symbol.asyncDispose]()
      listener.overload.close()
    },
  }
}

/** Everything a request needs that outlives it. */
interface Listener extends Gate {
  readonly app: App
  readonly limits: Limits
  readonly log: Log
  readonly unmatched: Meter
  readonly threads: Threads | undefined
  readonly shares: Shares
  /** Ends what would not end by itself. */
  readonly ending: AbortController
  isDraining: boolean
}

/** What callers share for as long as their requests last. */
type Shares = Readonly<Record<'unsent' | 'uploads' | 'streams' | 'followers', Share>>

const SETTINGS = {
  // longer than the idle time of the usual proxies, so that they close first and never send into a closing socket
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  handshakeTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 32 * 1_024,
  // answered in `admit`, with a request id and an error object
  requireHostHeader: false,
}

/** What nginx logs for a caller that left; it is never sent. */
const CLIENT_CLOSED = 499

/** Client certificates are judged with the other credentials: who shows none may have something else to show. */
function createServer(tls: Tls | undefined, listener: RequestListener): Server {
  if (!tls) return createPlainServer(SETTINGS, listener)
  const { createServer: createTlsServer } = process.getBuiltinModule('node:https')
  const { ca } = tls
  // a ticket would be taken for the certificate that it was issued for, without looking at it again
  const secureOptions = process.getBuiltinModule('node:crypto').constants.SSL_OP_NO_TICKET
  const certificates =
    ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca, secureOptions }
  return createTlsServer({ ...SETTINGS, cert: tls.cert, key: tls.key, ...certificates }, listener)
}

function createListener(options: ServerOptions): Listener {
  const { service, limits, auth, log, metrics, overload, rateLimit } = options
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
    cors: allowOrigins(options.origins ?? []),
    take: rateLimit && limitRate(rateLimit),
    isMetricsPublic: options.isMetricsPublic ?? false,
    unmatched: metrics.meterOf('', UNMATCHED),
    threads: options.threads && createThreads(threadOptions(options, options.threads)),
    shares: {
      unsent: new Share(limits.unsentBytes),
      uploads: new Share(limits.uploadBytes),
      streams: new Share(limits.streams),
      followers: new Share(limits.followers),
    },
    ending: endingSignal(),
    isDraining: false,
  }
}

function threadOptions(
  { service, limits, log, metrics }: ServerOptions,
  threads: NonNullable<ServerOptions['threads']>,
): ThreadOptions {
  return {
    ...threads,
    limits,
    isEmbedded: threads.datasources.every(({ location }) => parseLocation(location)?.kind === 'sqlite'),
    epoch: () => service.epoch(),
    lend: (datasource) => service.lendWriter(datasource),
    onInternalError: (error) => log.logger.error({ err: error }, 'unexpected error'),
    onStoreTiming: metrics.observeStore,
  }
}

/** Everybody who waits may listen to it. */
function endingSignal(): AbortController {
  const ending = new AbortController()
  setMaxListeners(0, ending.signal)
  return ending
}

const UNMATCHED = '(none)'

async function receive(
  listener: Listener,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const exchange = new Exchange(request, response)
  try {
    const admitted = admit(listener, exchange)
    if ('text' in admitted) finish(listener, exchange, admitted)
    else await answer(listener, exchange, admitted.route)
  } catch (error) {
    if (error instanceof Aborted) note(listener, exchange, CLIENT_CLOSED, 0)
    else await refuse(listener, exchange, error)
  }
}

async function answer(listener: Listener, exchange: Exchange, route: Route): Promise<void> {
  const identified = identify(listener, exchange, route)
  if (identified) await identified
  using _place = occupy(listener, exchange, route)
  if (route.precheck && mayBeLarge(exchange)) {
    const { caller, params } = exchange
    route.precheck({ app: listener.app, caller, params })
  }
  const reply = await replyTo(listener, exchange, route)
  if ('lines' in reply) note(listener, exchange, 200, await stream(listener, exchange, reply))
  else if ('follow' in reply) note(listener, exchange, 200, await follow(listener, exchange, reply))
  else finish(listener, exchange, reply)
}

/** Of a small body it is not worth asking twice who may send it. */
function mayBeLarge({ request: { headers } }: Exchange): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > SMALL_BODY_BYTES
}

const SMALL_BODY_BYTES = 16 * 1024

/** Refuses while too much is under way; the result gives back what the answer occupies. */
function occupy(
  { shares, auth }: Listener,
  exchange: Exchange,
  { tag, occupies }: Route,
): Disposable | undefined {
  const account = (exchange.account = accountOf(auth, exchange))
  if (tag !== 'service' && shares.unsent.isFullFor(account)) throw noRoom(UNREAD)
  const { request, search } = exchange
  const kind = occupies?.({ accept: request.headers.accept ?? '', search })
  if (kind === undefined) return undefined
  const held = new Holding(shares[kind], account)
  held.take(1, `too many ${kind} are open`)
  return held
}

const UNREAD = 'too many answers have not been read yet'
const NO_BODY = Buffer.alloc(0)

/** The bytes of the body count until it has been worked on. */
async function replyTo(listener: Listener, exchange: Exchange, route: Route): Promise<AnyReply> {
  const work = workFor(listener, route)
  if (route.body === undefined) {
    return await perform(listener, exchange, { route, bytes: NO_BODY, parsed: { value: undefined }, work })
  }
  using held = new Holding(listener.shares.uploads, exchange.account)
  const bytes = await bodyOf(listener, exchange, held)
  if (isLargeFor(route, bytes) && isLeftToThreads(listener, exchange, route))
    return await perform(listener, exchange, { route, bytes, parsed: undefined, work })
  if (bytes.length > MAX_STREAM_BODY_BYTES && listener.threads) throw tooLargeHere()
  const value = during(work, () => parseBody(bytes, listener.limits))
  charge(listener, exchange, route.cost?.(value) ?? 1)
  return await perform(listener, exchange, { route, bytes, parsed: { value }, work })
}

function tooLargeHere(): ServiceError {
  const message = `the body is larger than ${MAX_STREAM_BODY_BYTES} bytes, which a stream and this route do not take`
  return new ServiceError('crud:BodyTooLarge', message)
}

/** A stream is sent as it is read, so that its request stays here. */
function isLeftToThreads({ threads }: Listener, exchange: Exchange, route: Route): boolean {
  if (!threads || !isOffloadable(route)) return false
  return !wantsStream({ accept: exchange.request.headers.accept ?? '', search: exchange.search })
}

/** Where there are threads, the main one spends no more than a few milliseconds on a request. */
function workFor({ limits, threads }: Listener, route: Route): Work {
  const steps = threads && isOffloadable(route) ? { steps: INLINE_STEPS } : {}
  return new Work({ timeLimitMs: limits.queryTimeMs, answerBytes: limits.resultBytes, ...steps })
}

type Performing = Pick<Request, 'route' | 'bytes' | 'parsed'> & { readonly work: Work }

async function perform(listener: Listener, exchange: Exchange, performing: Performing): Promise<AnyReply> {
  const { params, search, caller, request } = exchange
  const { accept = '', 'last-event-id': lastEventId } = request.headers
  const { work } = performing
  const { hangUp, end } = watchWork(listener.auth, exchange)
  const waiting = { hangUp, ending: listener.ending.signal, lastEventId: lastEventId?.toString() }
  let gone
  try {
    const call = {
      app: listener.app,
      caller,
      params,
      search,
      accept,
      work,
      chargedTo: payerOf(listener, exchange),
    }
    const reply = await handle(listener.threads, {
      ...performing,
      call: { ...call, ...waiting },
      charge: (cost) => charge(listener, exchange, cost),
    })
    gone = end()
    // work that was done nevertheless is told of, as is the part of a bulk that was
    if (gone === undefined || !('status' in reply) || reply.status < 400) return reply
  } catch (error) {
    gone = end()
    if (gone === undefined) throw error
  }
  throw gone
}

async function stream(listener: Listener, exchange: Exchange, { lines }: StreamReply): Promise<number> {
  try {
    await recheck(listener.auth, exchange)
  } catch (error) {
    // only a stream that was begun lets go of what is behind it
    for await (const _ of lines) break
    throw error
  }
  const ms = listener.limits.streamTimeMs
  const advice = 'ask again for the documents that are missing, by a range or a query'
  const watch = withDeadline(watchRights(listener.auth, exchange), { ms, advice })
  const outlet = outletTo(listener, exchange)
  return await sendStream(exchange, { lines, isLast: listener.isDraining, watch, outlet })
}

async function follow(listener: Listener, exchange: Exchange, reply: EventsReply): Promise<number> {
  await recheck(listener.auth, exchange)
  const ms = listener.limits.streamTimeMs
  const advice = 'connect again with the last id as Last-Event-ID to go on'
  const watch = withDeadline(watchRights(listener.auth, exchange), { ms, advice })
  const outlet = outletTo(listener, exchange)
  return await sendEvents(exchange, { ...reply, watch, outlet, ending: listener.ending.signal })
}

function outletTo({ shares, limits }: Listener, { response, account }: Exchange): Outlet {
  return {
    response,
    patienceMs: limits.stallTimeMs,
    unsent: { share: shares.unsent, caller: account },
  }
}

async function bodyOf({ limits, auth }: Listener, exchange: Exchange, held: Holding): Promise<Buffer> {
  const { request, response } = exchange
  checkBodyHeaders(request, limits)
  if (request.headers.expect !== undefined) response.writeContinue()
  const identifiedAt = performance.now()
  const bytes = await readBody(request, limits, held)
  if (performance.now() - identifiedAt > TRUSTED_MS) await recheck(auth, exchange)
  return bytes
}

async function refuse(listener: Listener, exchange: Exchange, error: unknown): Promise<void> {
  const isForeseen = error instanceof ServiceError
  if (!isForeseen) listener.log.logger.error({ requestId: exchange.id, err: error }, 'unexpected error')
  if (exchange.response.headersSent) {
    exchange.response.destroy()
    note(listener, exchange, 500, 0)
    return
  }
  const problem = isForeseen ? error : internalError(` under request id ${exchange.id}`)
  // what came along with the headers is read by then, so that small requests keep their connection
  if (isUnread(exchange)) await new Promise(setImmediate)
  exchange.isCut = problem.code === 'crud:BodyTooLarge' || isUnread(exchange)
  finish(listener, exchange, failureReply(exchange, problem))
}

/** Whether there is more to come of a body, which nobody wants any more. */
function isUnread({ request: { complete, headers } }: Exchange): boolean {
  if (complete) return false
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
}

function finish(listener: Listener, exchange: Exchange, reply: Reply): void {
  const { shares, limits, isDraining } = listener
  const route = exchange.bound?.route
  const bytes = sendReply(exchange, reply, {
    isLast: isDraining,
    unsent: shares.unsent,
    isRefusable: reply.status < 400 && (route?.method === 'GET' || route?.isRead === true),
    stallTimeMs: limits.stallTimeMs,
    longestMs: limits.streamTimeMs,
  })
  note(listener, exchange, reply.status, bytes)
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

function listen(server: Server, { host, port }: ServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: host.replaceAll(/[[\]]/g, ''), port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
