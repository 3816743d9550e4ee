/** Checks a request before its body is read: host, route, caller, permission and rate limit. */
import type { IncomingMessage } from 'node:http'
import { type Caller, requirePermission } from '../access/caller.ts'
import type { Authentication } from '../auth/authentication.ts'
import { hostKind } from '../auth/loopback.ts'
import { ServiceError } from '../base/errors.ts'
import { Aborted, requireFileAcrossOrigins, requireJsonAcrossOrigins } from './body.ts'
import { type Cors, isPreflight, preflightReply } from './cors.ts'
import type { Bound, Exchange } from './exchange.ts'
import type { Overload } from './observe/overload.ts'
import type { Take } from './rate-limit.ts'
import { type Access, type Reply, type Route, isDataPath } from './routes/route.ts'
import { type Router, checkPath, readTarget } from './routes/router.ts'
import type { TicketService } from '../service/service.ts'
import { redeemTicket } from './ticket.ts'

export interface Gate {
  readonly auth: Authentication
  readonly router: Router<Bound>
  readonly overload: Overload
  readonly cors: Cors
  readonly take: Take | undefined
  readonly isMetricsPublic: boolean
  readonly tickets: TicketService
  /** Whether a body that came with GET is ignored instead of refused. */
  readonly ignoresBodyOfGet: boolean
}

/** Returns the route, or the response to a CORS preflight. */
export function admit(gate: Gate, exchange: Exchange): Bound | Reply {
  const { request } = exchange
  const { path, search } = readTarget(request.url ?? '')
  exchange.isData = isDataPath(path)
  exchange.search = search
  checkPath(path)
  refuseBadHeaders(request)
  gate.auth.admit(request)
  exchange.cors = gate.cors(request)
  const match = gate.router(path)
  if (!match) throw new ServiceError('crud:UnknownRoute', `there is nothing at this path; ${placesFor(path)}`)
  const { allow, template, byMethod } = match.resource
  // "/data" may be percent-encoded
  exchange.isData = isDataPath(template)
  const bound = byMethod[request.method ?? '']
  if (!bound) {
    if (exchange.cors.includes('Access-Control-Allow-Origin') && isPreflight(request))
      return preflightReply(allow)
    exchange.allow = allow
    // a misspelt operation matches this path as the name of an entity
    const places = template.startsWith('/data/{entity}') ? `; ${placesFor(template)}` : ''
    throw new ServiceError('crud:MethodNotAllowed', `${template} supports only ${allow}${places}`)
  }
  if (!gate.ignoresBodyOfGet) refuseBodyOfGet(request, bound.route, byMethod['POST']?.route)
  exchange.bound = bound
  exchange.params = match.params
  // POST is the only writing method that a browser sends across origins without a preflight
  if (request.method === 'POST' && bound.route.isRead !== true) {
    if (bound.route.takesUpload === true) requireFileAcrossOrigins(request)
    else requireJsonAcrossOrigins(request)
  }
  if (bound.route.tag !== 'service' && gate.overload.isOverloaded())
    throw new ServiceError('crud:Unavailable', 'too busy; try again in a second')
  return bound
}

function placesFor(path: string): string {
  const operations = 'operations are at /data/find/{entity}, /data/insert/{entity}, …; '
  return `${isDataPath(path) ? operations : ''}see /docs`
}

/**
 * Whoever sends a body expects it to matter: a find would return all documents in place of those of its query. A proxy may
 * announce a body of unknown length where there is none.
 */
function refuseBodyOfGet(
  request: IncomingMessage,
  { method, query = [] }: Route,
  post: Route | undefined,
): void {
  if (method !== 'GET' || Number(request.headers['content-length'] ?? 0) === 0) return
  const isFind = query.some(({ name }) => name === 'Q')
  const condition = isFind ? '; its condition is in the query string (Q or filter)' : ''
  const instead = post?.isRead === true ? `${isFind ? ', or' : ';'} send the body with POST` : ''
  throw new ServiceError('crud:InvalidRequest', `a ${request.method} has no body${condition}${instead}`)
}

/** Identifies the caller, unless the route is public. Returns a promise only where authentication is asynchronous. */
export function identify(gate: Gate, exchange: Exchange, route: Route): void | Promise<void> {
  const access = accessTo(route, gate)
  try {
    redeemTicket(gate.tickets, exchange, route)
    if (access === 'public') return undefined
    const caller = gate.auth.callerOf(exchange.request)
    if (caller instanceof Promise) return identifyLater(gate, exchange, { access, caller })
    enter(gate, exchange, { access, caller })
  } catch (error) {
    throw refused(gate, exchange, error)
  }
  return undefined
}

/** Charges the cost of a request beyond 1. Every request is charged 1 when its caller is identified. */
export function charge(gate: Gate, exchange: Exchange, cost: number): void {
  if (cost > 1) pay(gate, exchange, { count: cost - 1, before: 1 })
}

/** The account for rate limits. An unverified name could change with each request, so the address counts instead. */
export function accountOf(auth: Authentication, { caller, request }: Exchange): string {
  return auth.isAuthenticated(caller) ? `name ${caller.principal}` : `address ${request.socket.remoteAddress}`
}

interface Entering<C> {
  readonly access: Access
  readonly caller: C
}

async function identifyLater(
  gate: Gate,
  exchange: Exchange,
  { access, caller }: Entering<Promise<Caller>>,
): Promise<void> {
  try {
    enter(gate, exchange, { access, caller: await caller })
  } catch (error) {
    throw refused(gate, exchange, error)
  }
  // during authentication nothing listened for the end of the connection
  if (exchange.request.destroyed) throw new Aborted()
}

function enter(gate: Gate, exchange: Exchange, { access, caller }: Entering<Caller>): void {
  exchange.caller = caller
  pay(gate, exchange, ONE)
  if (access !== 'public' && access !== 'authenticated') requirePermission(caller, access)
}

/** Charges failed authentication to the address, so that guessing credentials is rate-limited too. */
function refused(gate: Gate, exchange: Exchange, error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'crud:Unauthenticated') return error
  try {
    pay(gate, exchange, ONE)
  } catch (tooMany) {
    return tooMany
  }
  return error
}

const ONE = { count: 1, before: 0 }

function pay({ take, auth }: Gate, exchange: Exchange, { count, before }: typeof ONE): void {
  if (!take) return
  exchange.retryAfterSeconds = take(accountOf(auth, exchange), count, before)
  if (exchange.retryAfterSeconds > 0)
    throw new ServiceError(
      'crud:TooManyRequests',
      `too many requests; try again in ${exchange.retryAfterSeconds} s`,
    )
}

/**
 * The account for threads and connections. An unverified name is a part of it: honest callers behind one address are
 * scheduled separately.
 */
export function payerOf({ auth }: Pick<Gate, 'auth'>, { caller, request }: Exchange): string {
  if (auth.isAuthenticated(caller)) return `name ${caller.principal}`
  return `address ${request.socket.remoteAddress} ${caller.principal}`
}

function accessTo({ access, operationId }: Route, { isMetricsPublic }: Gate): Access {
  return isMetricsPublic && operationId === 'metrics' ? 'public' : access
}

/**
 * Requires one valid Host header, and at most one type of the body. With two, or a malformed host, a proxy could
 * interpret the request differently; Node.js ignores the second type.
 */
function refuseBadHeaders({ headers: { host }, rawHeaders, httpVersionMinor }: IncomingMessage): void {
  let hosts = 0
  let types = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!
    if (name.length === HOST.length && name.toLowerCase() === HOST) hosts++
    else if (name.length === TYPE.length && name.toLowerCase() === TYPE) types++
  }
  const isMissing = hosts === 0 && httpVersionMinor > 0
  if (isMissing || hosts > 1 || (hosts === 1 && hostKind(host) === 'malformed')) {
    throw new ServiceError(
      'crud:InvalidRequest',
      'the request needs exactly one Host header that names a host',
    )
  }
  if (types > 1) throw new ServiceError('crud:InvalidRequest', 'the header Content-Type appears twice')
}

const HOST = 'host'
const TYPE = 'content-type'
