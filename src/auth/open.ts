/** The open mode: no credentials. It believes what the headers say, since only this machine can speak to it. */
import { type Caller, PERMISSIONS } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Authentication, OpenNetworkError } from './authentication.ts'
import { asUtf8, headerText, namesIn, trimBlanks } from './header.ts'
import { hostKind, isLoopback, isLoopbackOrigin, remember } from './loopback.ts'

/** Web pages of these origins may ask as well as those of this machine. */
export function openMode(origins: ReadonlySet<string> = NO_ORIGINS): Authentication {
  const known = new Map<string, Caller>()
  return {
    isOpen: true,
    admit(request) {
      if (hostKind(request.headers.host) !== 'loopback') throw foreign('it is addressed to another host')
      const { origin } = request.headers
      if (origin !== undefined && !isLoopbackOrigin(origin) && !origins.has(origin))
        throw foreign('it comes from a foreign web page')
    },
    callerOf({ headers }) {
      // a page can fetch an image without an Origin; this header it can neither set nor leave out
      if (headers['sec-fetch-site'] === 'cross-site' && !origins.has(headers.origin ?? ''))
        throw foreign('it comes from a foreign web page')
      const roles = headerText(headers['smalt-roles'])
      const principal = headerText(headers['smalt-principal'])
      if (roles === '' && principal === '') return ANONYMOUS
      const key = `${principal}\n${roles}`
      return known.get(key) ?? remember(known, key, callerFrom(principal, roles))
    },
    isProven: () => false,
    stillCounts: () => true,
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
const ANONYMOUS = callerFrom('', '')

function callerFrom(principal: string, roles: string): Caller {
  const names = new Set(namesIn(asUtf8(roles)))
  return { principal: trimBlanks(asUtf8(principal)), roles: names, permissions: ALL, claims: {} }
}

function foreign(reason: string): ServiceError {
  const hint = 'without authentication only this machine may ask, at localhost, 127.0.0.1 or [::1]'
  return new ServiceError('crud:ForeignOrigin', `the request was refused because ${reason}; ${hint}`)
}
