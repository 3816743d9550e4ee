/** Headers of a reverse proxy that has found out who asks; believed only when it is that proxy that speaks. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, isObject } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import type { Mode } from './authentication.ts'
import { parseDistinguishedName } from './distinguished-name.ts'
import { asUtf8, namesIn, soleHeader, trimBlanks } from './header.ts'
import { hostKind, hostName, isLoopback, remember } from './loopback.ts'
import type { MakeCaller, Proven } from './make-caller.ts'
import type { ProxySettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

export function proxyMode(settings: ProxySettings, makeCaller: MakeCaller): Mode {
  const isTrusted = trust(settings)
  const names = settings.headers
  const identity = [names.principal, names.roles, names.claims, names.certificate]
  const known = new Map<string, Caller>()
  return (request) => {
    const [principal, roles, claims, certificate] = identity.map((name) =>
      name === undefined ? undefined : soleHeader(request, name),
    )
    const said = principal ?? roles ?? claims ?? certificate
    if (said === undefined && soleHeader(request, names.secret) === undefined) return undefined
    if (!isTrusted(request)) throw unauthenticated('headers of a proxy are believed only from that proxy')
    // the proxy found nobody, or leaves it to another kind of credentials
    if (said === undefined) return undefined
    const key = JSON.stringify([principal, roles, claims, certificate])
    return (
      known.get(key) ?? remember(known, key, makeCaller(provenBy({ principal, roles, claims, certificate })))
    )
  }
}

type Values = Readonly<Record<'principal' | 'roles' | 'claims' | 'certificate', string | undefined>>

function provenBy({ principal, roles, claims, certificate }: Values): Proven {
  const subject = certificate === undefined ? undefined : subjectOf(asUtf8(certificate))
  const name = principal === undefined ? subject?.principal : trimBlanks(asUtf8(principal))
  if (name === undefined || name === '') throw unauthenticated('the proxy does not say who asks')
  return {
    principal: name,
    roles: roles === undefined ? (subject?.roles ?? []) : namesIn(asUtf8(roles)),
    claims: claims === undefined ? {} : claimsFrom(asUtf8(claims)),
  }
}

/** The common name is the principal, the organizational units are the roles. */
function subjectOf(text: string): Pick<Proven, 'principal' | 'roles'> {
  const attributes = parseDistinguishedName(text)
  const principal = attributes?.get('CN')?.[0]
  if (principal === undefined) throw unauthenticated('the subject of the certificate has no common name')
  return { principal, roles: attributes?.get('OU') ?? [] }
}

function claimsFrom(text: string): JsonObject {
  try {
    const value = parseJson(text, 32)
    if (isObject(value)) return value
  } catch {
    // told below, as anything else that is no object
  }
  throw unauthenticated('the claims of the proxy must be a JSON object')
}

/** By secret where there is one, and by the address of the socket where addresses are listed; either is enough. */
function trust({
  secret,
  addresses,
  hosts = [],
  headers,
}: ProxySettings): (request: IncomingMessage) => boolean {
  const expected = secret === undefined ? undefined : digest(secret)
  const listed = listOf(addresses)
  const known = new Set(hosts.map((host) => host.toLowerCase()))
  return (request) => {
    const given = soleHeader(request, headers.secret)
    // a wrong secret is never made up for by the address
    if (given !== undefined) return expected !== undefined && timingSafeEqual(digest(given), expected)
    const address = request.socket.remoteAddress ?? ''
    if (address === '' || !listed.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return false
    if (isLoopback(address.replace(/^::ffff:/, ''))) requireKnownHost(request, known)
    return true
  }
}

/** A browser on this machine has the same address, and any page can give the service a name of its own. */
function requireKnownHost({ headers: { host } }: IncomingMessage, known: ReadonlySet<string>): void {
  if (hostKind(host) === 'loopback' || known.has(hostName(host ?? ''))) return
  throw new ServiceError(
    'crud:ForeignOrigin',
    'the request was refused because its Host is not known; a proxy on this machine that is trusted by its address ' +
      'sends a Host such as 127.0.0.1, or one that the setting auth.proxy.hosts lists; with auth.proxy.secret any will do',
  )
}

function listOf(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of addresses) {
    const [address = '', prefix] = text.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** Of one length whatever was given, so that comparing takes the same time. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest()
}
