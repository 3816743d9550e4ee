/** The open mode, without credentials: headers name principal, roles and claims, because only this machine can connect. */
import { setOrClear } from '../base/memo.ts'
import { type Caller, PERMISSIONS } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, isObject } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { type Authentication, OpenNetworkError } from './authentication.ts'
import { asUtf8, headerText, namesIn, trimBlanks } from './header.ts'
import { headerCheck } from './known-headers.ts'
import { MAX_CACHED, hostKind, isLoopback, isLoopbackOrigin } from './loopback.ts'

/** Admits requests of web pages from this machine and from these origins. */
export function openMode(
  origins: ReadonlySet<string> = NO_ORIGINS,
  checkHeaders = headerCheck({ isOpen: true }),
): Authentication {
  const cache = new Map<string, Caller>()
  return {
    isOpen: true,
    admit(request) {
      if (hostKind(request.headers.host) !== 'loopback') throw foreign('it is addressed to another host')
      const { origin } = request.headers
      if (origin !== undefined && !isLoopbackOrigin(origin) && !origins.has(origin))
        throw foreign('it comes from a foreign web page')
      checkHeaders(request)
    },
    callerOf({ headers }) {
      // a request for an image has no Origin, but a page can neither set nor remove this header
      if (headers['sec-fetch-site'] === 'cross-site' && !origins.has(headers.origin ?? ''))
        throw foreign('it comes from a foreign web page')
      const roles = headerText(headers['smalt-roles'])
      const principal = headerText(headers['smalt-principal'])
      const claims = headerText(headers['smalt-claims'])
      if (roles === '' && principal === '' && claims === '') return ANONYMOUS
      const key = `${principal}\n${roles}\n${claims}`
      return cache.get(key) ?? setOrClear(cache, key, callerFrom(principal, roles, claims), MAX_CACHED)
    },
    isAuthenticated: () => false,
    isStillValid: () => true,
  }
}

export function refuseOpenNetwork({ isOpen }: Pick<Authentication, 'isOpen'>, host: string): void {
  if (!isOpen || isLoopback(host)) return
  throw new OpenNetworkError(
    `refusing to listen on ${host}: without authentication anyone who reaches this address could read and change ` +
      'everything. Turn authentication on (--auth tokens, for one), or listen on 127.0.0.1 (--host 127.0.0.1).',
  )
}

const NO_ORIGINS: ReadonlySet<string> = new Set()
const ALL = new Set(PERMISSIONS)
const MAX_CLAIM_DEPTH = 32
const ANONYMOUS = callerFrom('', '', '')

function callerFrom(principal: string, roles: string, claims: string): Caller {
  return {
    principal: trimBlanks(asUtf8(principal)),
    roles: new Set(namesIn(asUtf8(roles))),
    permissions: ALL,
    claims: claimsFrom(asUtf8(claims)),
  }
}

function claimsFrom(text: string): JsonObject {
  if (text === '') return {}
  try {
    const claims = parseJson(text, MAX_CLAIM_DEPTH)
    if (isObject(claims)) return claims
  } catch {
    // reported below, like any value that is not an object
  }
  const message = 'the header Smalt-Claims must be a JSON object, such as {"regions": ["north"]}'
  throw new ServiceError('crud:InvalidRequest', message)
}

function foreign(reason: string): ServiceError {
  const hint = 'without authentication only this machine may send requests, to localhost, 127.0.0.1 or [::1]'
  return new ServiceError('crud:ForeignOrigin', `the request was refused because ${reason}; ${hint}`)
}
