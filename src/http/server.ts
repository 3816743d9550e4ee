/** The HTTP server: admits each request, calls its route, and sends, logs and measures the response. */
import type { RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { refuseOpenNetwork } from '../auth/open.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import { httpModule } from '../base/http-module.ts'
import { admit, identify } from './admission.ts'
import { Aborted } from './body.ts'
import { recheck, watchRights, withDeadline } from './caller-watch.ts'
import { answerClientError, refuseConnect } from './client-error.ts'
import { guardConnections } from './connections.ts'
import { prepareDrain } from './drain.ts'
import { Exchange } from './exchange.ts'
import { failureReply } from './send/failure.ts'
import { type Listener, type ServerOptions, type Tls, UNMATCHED, createListener } from './listener.ts'
import { occupy, precheck, replyTo } from './perform.ts'
import type { Outlet } from './send/backpressure.ts'
import type { EventsReply, Reply, Route, StreamReply } from './routes/route.ts'
import { sendEvents } from './send/send-events.ts'
import { renderLater } from './threads/offloading.ts'
import { sendReply } from './send/send-reply.ts'
import { sendStream } from './send/send-stream.ts'
import { serializePipelined } from './pipelined-requests.ts'
import { spreadOverIterations } from './iterations.ts'

export interface RunningServer {
  readonly port: number
  /** Completes requests in progress, for at most ten seconds, and closes all connections. */
  readonly close: () => Promise<void>
}

export async function startServer(options: ServerOptions): Promise<RunningServer> {
  refuseOpenNetwork(options.auth, options.host)
  const listener = createListener(options)
  const spread = spreadOverIterations((...received) => void receive(listener, new Exchange(...received)))
  const begin = serializePipelined(spread.receive, listener.shares.uploads)
  const server = createServer(options.tls, begin)
  // clients with large bodies send Expect: 100-continue, so that a refusal can precede the body
  server.on('checkContinue', begin)
  server.on('checkExpectation', begin)
  server.on('clientError', (error, socket) => answerClientError(error, socket, options.log.logger))
  server.on('connect', (_request, socket) => refuseConnect(socket, options.log.logger))
  guardConnections(server, { limits: options.limits, isEncrypted: options.tls !== undefined })
  server.on('connection', spread.connected)
  const drain = prepareDrain(server)
  await listen(server, options)
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      listener.isDraining = true
      listener.ending.abort()
      await drain()
      const { sinks } = listener.app.service
      // Delivery ends after the server. Events that the threads do not finish are postponed: a process that is about to
      // end should not start to render them on this thread.
      sinks.renderLargeBy(renderLater)
      await listener.threads?.[Symbol.asyncDispose]()
      sinks.renderLargeBy(undefined)
      listener.overload.close()
    },
  }
}

const SETTINGS = {
  // longer than the idle time of the usual proxies, so that they close first and never send into a closing socket
  keepAliveTimeout: 65_000,
  headersTimeout: 20_000,
  requestTimeout: 120_000,
  handshakeTimeout: 20_000,
  connectionsCheckingInterval: 5_000,
  maxHeaderSize: 32 * 1_024,
  // `admit` checks it, and responds with a request id and an error object
  requireHostHeader: false,
}

/** The status that nginx logs for a caller that disconnected; it is never sent. */
const CLIENT_CLOSED = 499

/** Client certificates are checked with the other credentials, not in the handshake: a caller may have others. */
function createServer(tls: Tls | undefined, listener: RequestListener): Server {
  if (!tls) return httpModule('http:').createServer(SETTINGS, listener)
  const { ca } = tls
  // a resumed session would reuse the certificate of its ticket without verifying it again
  const secureOptions = process.getBuiltinModule('node:crypto').constants.SSL_OP_NO_TICKET
  const certificates =
    ca === undefined ? {} : { requestCert: true, rejectUnauthorized: false, ca, secureOptions }
  return httpModule('https:').createServer(
    { ...SETTINGS, cert: tls.cert, key: tls.key, ...certificates },
    listener,
  )
}

async function receive(listener: Listener, exchange: Exchange): Promise<void> {
  try {
    if (exchange.response.destroyed) throw new Aborted()
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
  precheck(listener, exchange, route)
  const reply = await replyTo(listener, exchange, route)
  if ('lines' in reply) note(listener, exchange, 200, await stream(listener, exchange, reply))
  else if ('follow' in reply) note(listener, exchange, 200, await follow(listener, exchange, reply))
  else finish(listener, exchange, reply)
}

async function stream(listener: Listener, exchange: Exchange, reply: StreamReply): Promise<number> {
  const { lines, isWrite = false } = reply
  try {
    await recheck(listener.auth, exchange)
  } catch (error) {
    // a generator releases its cursor only if it was started, so it is started and left at once
    if (!isWrite) for await (const _ of lines) break
    throw error
  }
  const ms = listener.limits.streamTimeMs
  const advice = 'ask again for the documents that are missing, by a range or a query'
  const watch = withDeadline(watchRights(listener.auth, exchange), { ms, advice })
  const outlet = outletTo(listener, exchange)
  return await sendStream(exchange, {
    lines,
    isLast: listener.isDraining,
    watch,
    outlet,
    dialect: listener.dialect,
  })
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
    stallMs: limits.stallTimeMs,
    unsent: { share: shares.unsent, caller: account },
  }
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
  // by then node has read a body that arrived with the headers, so small requests can reuse the connection
  if (isUnread(exchange)) await new Promise(setImmediate)
  exchange.isCut = problem.code === 'crud:BodyTooLarge' || isUnread(exchange)
  finish(listener, exchange, failureReply(exchange, problem, listener.dialect))
}

/** Whether a part of the body has not arrived yet. */
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
