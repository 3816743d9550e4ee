/** Combines the configured modes of authentication. Only modules of enabled modes are loaded. */
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import type { Authentication, Mode } from './authentication.ts'
import { headerCheck } from './known-headers.ts'
import { callerFactory, haveSameRights } from './make-caller.ts'
import { openMode } from './open.ts'
import type { AuthSettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

/** Modes are tried in a fixed order: proxy headers, the header Authorization, client certificate, open. */
export async function createAuthentication(
  settings: AuthSettings,
  onProblem: (error: unknown) => void,
): Promise<Authentication> {
  const origins = new Set(settings.origins)
  const checkHeaders = headerCheck(settings)
  const open = settings.isOpen ? openMode(origins, checkHeaders) : undefined
  const modes = await loadModes(settings, onProblem)
  if (modes.length === 0 && open) return open
  const takesBearer = settings.tokens !== undefined || settings.jwt !== undefined
  const missing = `this needs credentials${takesBearer ? ': send the header Authorization: Bearer TOKEN' : ''}`
  const authenticated = new WeakSet<Caller>()
  const markAuthenticated = (caller: Caller): Caller => {
    authenticated.add(caller)
    return caller
  }
  const callerOf = (request: IncomingMessage): Caller | Promise<Caller> => {
    if (!open) refuseCrossSite(request, origins)
    for (const mode of modes) {
      const caller = mode(request)
      if (caller instanceof Promise) return caller.then(markAuthenticated)
      if (caller !== undefined) return markAuthenticated(caller)
    }
    if (open) return open.callerOf(request)
    throw unauthenticated(missing)
  }
  return {
    isOpen: settings.isOpen,
    admit:
      open?.admit ??
      ((request) => {
        refuseForeignOrigin(request, origins)
        checkHeaders(request)
      }),
    callerOf,
    isAuthenticated: (caller) => authenticated.has(caller),
    async isStillValid(request, caller) {
      try {
        return haveSameRights(await callerOf(request), caller)
      } catch {
        return false
      }
    },
  }
}

async function loadModes(
  settings: AuthSettings,
  onProblem: (error: unknown) => void,
): Promise<readonly Mode[]> {
  const makeCaller = callerFactory(settings.permissions)
  const modes: Mode[] = []
  if (settings.proxy)
    modes.push((await import('./proxy.ts')).proxyMode(settings.proxy, makeCaller, settings.certificateRoles))
  if (settings.tokens || settings.jwt) {
    const tokens =
      settings.tokens &&
      (await import('./tokens.ts')).tokenMode({ ...settings.tokens, makeCaller, onProblem })
    const jwt =
      settings.jwt && (await import('./jwt.ts')).jwtMode({ settings: settings.jwt, makeCaller, onProblem })
    modes.push(
      (await import('./bearer.ts')).bearerMode({
        tokens,
        jwt,
        acceptsBasic: settings.tokens?.acceptsBasic ?? false,
      }),
    )
  }
  if (settings.hasCertificates)
    modes.push((await import('./certificate.ts')).certificateMode(makeCaller, settings.certificateRoles))
  return modes
}

/**
 * CSRF protection: a browser sends certificates and the credentials for a proxy with the requests of any page. Requests
 * of foreign pages are therefore refused, although the pages could not read the response.
 */
function refuseForeignOrigin({ headers }: IncomingMessage, origins: ReadonlySet<string>): void {
  const { origin, host } = headers
  if (origin === undefined || origins.has(origin) || headers['sec-fetch-site'] === 'same-origin') return
  if (host === undefined || URL.parse(origin)?.host !== host.toLowerCase()) throw foreign()
}

/** A request for an image has no Origin, but a page cannot remove this header. */
function refuseCrossSite({ headers }: IncomingMessage, origins: ReadonlySet<string>): void {
  if (headers['sec-fetch-site'] === 'cross-site' && !origins.has(headers.origin ?? '')) throw foreign()
}

function foreign(): ServiceError {
  const hint = 'the setting cors.origins lists the origins that are allowed'
  return new ServiceError(
    'crud:ForeignOrigin',
    `the request was refused because it comes from a foreign web page; ${hint}`,
  )
}
