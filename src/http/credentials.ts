/** From the headers of a request to the caller. This is the open mode: no credentials, loopback only. */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { type Caller, PERMISSIONS } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'

export interface Credentials {
  readonly mode: 'open'
  /** Refuses requests that may come from a foreign web page; asked for every request. */
  readonly admit: (request: IncomingMessage) => void
  /** Who asks; asked only where it matters. */
  readonly callerOf: (request: IncomingMessage) => Caller
}

/** Believes what the headers say, since only this machine can speak to it. */
export function openMode(): Credentials {
  const known = new Map<string, Caller>()
  return {
    mode: 'open',
    admit(request) {
      if (hostKind(request.headers.host) !== 'loopback') throw foreign('it is addressed to another host')
      const { origin } = request.headers
      if (origin !== undefined && !isLoopbackOrigin(origin)) throw foreign('it comes from a foreign web page')
    },
    callerOf(request) {
      // a page can fetch an image without an Origin; this header it can neither set nor leave out
      if (request.headers['sec-fetch-site'] === 'cross-site')
        throw foreign('it comes from a foreign web page')
      const roles = headerText(request.headers['smalt-roles'])
      const principal = headerText(request.headers['smalt-principal'])
      if (roles === '' && principal === '') return ANONYMOUS
      const key = `${principal}\n${roles}`
      return known.get(key) ?? remember(known, key, callerFrom(principal, roles))
    },
  }
}

/** Who asks where nobody is asked who they are. */
export const NOBODY: Caller = { principal: '', roles: new Set(), permissions: new Set() }

type HostKind = 'loopback' | 'foreign' | 'malformed'

/** What a `Host` header names; the few texts that come again and again are looked up. */
export function hostKind(host: string | undefined): HostKind {
  if (host === undefined) return 'foreign'
  return hosts.get(host) ?? remember(hosts, host, judgeHost(host))
}

/** Whether a name or address, as `--host` takes it, can be reached from this machine only. */
function isLoopback(name: string): boolean {
  if (name === '::1' || name === '[::1]' || name.toLowerCase() === 'localhost') return true
  return IPV4.test(name) && name.startsWith('127.') && name.split('.').every((part) => Number(part) <= 255)
}

/** Without credentials anyone who reaches the address is let in, so it must not be reachable from elsewhere. */
export function refuseOpenNetwork({ mode }: Credentials, host: string): void {
  if (mode !== 'open' || isLoopback(host)) return
  throw new OpenNetworkError(
    `refusing to listen on ${host}: without authentication anyone who reaches this address could read and change ` +
      'everything. Listen on 127.0.0.1 (--host 127.0.0.1) and put an authenticating proxy before it.',
  )
}

export class OpenNetworkError extends Error {}

const IPV4 = /^\d{1,3}(?:\.\d{1,3}){3}$/
const HOST = /^(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::(\d{1,5}))?$/
const KNOWN = 1_000
const hosts = new Map<string, HostKind>()
const ALL = new Set(PERMISSIONS)
const ANONYMOUS = callerFrom('', '')

function judgeHost(host: string): HostKind {
  const match = HOST.exec(host)
  if (!match || Number(match[2] ?? 0) > 65_535) return 'malformed'
  return isLoopback(match[1]!) ? 'loopback' : 'foreign'
}

function isLoopbackOrigin(origin: string): boolean {
  const url = URL.parse(origin)
  return url !== null && /^https?:$/.test(url.protocol) && isLoopback(url.hostname)
}

function callerFrom(principal: string, roles: string): Caller {
  const names = asUtf8(roles).split(',')
  const trimmed = names.map((name) => name.trim()).filter((name) => name !== '')
  return { principal: asUtf8(principal).trim(), roles: new Set(trimmed), permissions: ALL }
}

/** Node reads headers as Latin-1; clients write names in UTF-8. */
function asUtf8(text: string): string {
  const bytes = Buffer.from(text, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : text
}

function headerText(value: string | string[] | undefined): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : value.join(',')
}

/** Forgets all when full: callers repeat, so the few that matter are back at once. */
function remember<T>(known: Map<string, T>, key: string, value: T): T {
  if (known.size >= KNOWN) known.clear()
  known.set(key, value)
  return value
}

function foreign(reason: string): ServiceError {
  const hint = 'without authentication only this machine may ask, at localhost, 127.0.0.1 or [::1]'
  return new ServiceError('crud:ForeignOrigin', `the request was refused because ${reason}; ${hint}`)
}
