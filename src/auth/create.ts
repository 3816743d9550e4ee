/** Puts the configured modes together. Only those that are on are loaded. */
import type { IncomingMessage } from 'node:http'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import type { Authentication, Mode } from './authentication.ts'
import { callersBy, haveSameRights } from './make-caller.ts'
import { openMode } from './open.ts'
import type { AuthSettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

/** Modes are asked in a fixed order: what a proxy says, the header Authorization, the certificate; open comes last. */
export async function createAuthentication(
  settings: AuthSettings,
  onProblem: (error: unknown) => void,
): Promise<Authentication> {
  const origins = new Set(settings.origins)
  const open = settings.isOpen ? openMode(origins) : undefined
  const modes = await loadModes(settings, onProblem)
  if (modes.length === 0 && open) return open
  const proven = new WeakSet<Caller>()
  const note = (caller: Caller): Caller => {
    proven.add(caller)
    return caller
  }
  const callerOf = (request: IncomingMessage): Caller | Promise<Caller> => {
    if (!open) refuseCrossSite(request, origins)
    for (const mode of modes) {
      const caller = mode(request)
      if (caller instanceof Promise) return caller.then(note)
      if (caller !== undefined) return note(caller)
    }
    if (open) return open.callerOf(request)
    throw unauthenticated('this needs credentials')
  }
  return {
    isOpen: settings.isOpen,
    admit: open?.admit ?? ((request) => refuseForeignOrigin(request, origins)),
    callerOf,
    isProven: (caller) => proven.has(caller),
    async stillCounts(request, caller) {
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
  const makeCaller = callersBy(settings.permissions)
  const modes: Mode[] = []
  if (settings.proxy) modes.push((await import('./proxy.ts')).proxyMode(settings.proxy, makeCaller))
  if (settings.tokens || settings.jwt) {
    const tokens =
      settings.tokens &&
      (await import('./tokens.ts')).tokenMode({ ...settings.tokens, makeCaller, onProblem })
    const jwt =
      settings.jwt && (await import('./jwt.ts')).jwtMode({ settings: settings.jwt, makeCaller, onProblem })
    modes.push((await import('./bearer.ts')).bearerMode({ tokens, jwt }))
  }
  if (settings.hasCertificates) modes.push((await import('./certificate.ts')).certificateMode(makeCaller))
  return modes
}

/**
 * A browser adds what a proxy or a certificate vouches for to whatever a page makes it send, so pages of others must not
 * be listened to, though they could not read the answer.
 */
function refuseForeignOrigin({ headers }: IncomingMessage, origins: ReadonlySet<string>): void {
  const { origin, host } = headers
  if (origin === undefined || origins.has(origin) || headers['sec-fetch-site'] === 'same-origin') return
  if (host === undefined || URL.parse(origin)?.host !== host.toLowerCase()) throw foreign()
}

/** A page can fetch an image without an Origin, but not without this header. */
function refuseCrossSite({ headers }: IncomingMessage, origins: ReadonlySet<string>): void {
  if (headers['sec-fetch-site'] === 'cross-site' && !origins.has(headers.origin ?? '')) throw foreign()
}

function foreign(): ServiceError {
  const hint = 'the setting cors.origins lists those that may ask'
  return new ServiceError(
    'crud:ForeignOrigin',
    `the request was refused because it comes from a foreign web page; ${hint}`,
  )
}
