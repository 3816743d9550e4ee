/** Identity headers of a reverse proxy that authenticates callers; trusted only in requests from that proxy. */
import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { BlockList, isIPv6 } from 'node:net'
import { setOrClear } from '../base/memo.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type JsonObject, isObject } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { type CertificateRole, rolesOfSubject } from './certificate-roles.ts'
import type { Mode } from './authentication.ts'
import { parseDistinguishedName } from './distinguished-name.ts'
import { asUtf8, namesIn, soleHeader, trimBlanks } from './header.ts'
import { MAX_CACHED, hostKind, hostName, isLoopback } from './loopback.ts'
import type { MakeCaller, VerifiedIdentity } from './make-caller.ts'
import type { ProxySettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

export function proxyMode(
  settings: ProxySettings,
  makeCaller: MakeCaller,
  table: readonly CertificateRole[] = [],
): Mode {
  const isTrusted = createTrustCheck(settings)
  const names = settings.headers
  const identity = [names.principal, names.roles, names.claims, names.certificate]
  const cache = new Map<string, Caller>()
  return (request) => {
    const [principal, roles, claims, certificate] = identity.map((name) =>
      name === undefined ? undefined : soleHeader(request, name),
    )
    const identityHeader = principal ?? roles ?? claims ?? certificate
    if (identityHeader === undefined && soleHeader(request, names.secret) === undefined) return undefined
    if (!isTrusted(request)) throw unauthenticated('headers of a proxy are trusted only from that proxy')
    // the proxy identified no caller, or leaves it to another kind of credentials
    if (identityHeader === undefined) return undefined
    const key = JSON.stringify([principal, roles, claims, certificate])
    return (
      cache.get(key) ??
      setOrClear(
        cache,
        key,
        makeCaller(identityFrom({ principal, roles, claims, certificate }, table)),
        MAX_CACHED,
      )
    )
  }
}

type Values = Readonly<Record<'principal' | 'roles' | 'claims' | 'certificate', string | undefined>>

function identityFrom(
  { principal, roles, claims, certificate }: Values,
  table: readonly CertificateRole[],
): VerifiedIdentity {
  const subject = certificate === undefined ? undefined : subjectOf(asUtf8(certificate), table)
  const name = principal === undefined ? subject?.principal : trimBlanks(asUtf8(principal))
  if (name === undefined || name === '') throw unauthenticated('the proxy sent no principal')
  return {
    principal: name,
    roles: roles === undefined ? (subject?.roles ?? []) : namesIn(asUtf8(roles)),
    claims: claims === undefined ? {} : claimsFrom(asUtf8(claims)),
  }
}

/** The common name is the principal, the organizational units are the roles. */
function subjectOf(
  text: string,
  table: readonly CertificateRole[],
): Pick<VerifiedIdentity, 'principal' | 'roles'> {
  const attributes = parseDistinguishedName(text)
  const principal = attributes?.get('CN')?.[0]
  if (!attributes || principal === undefined)
    throw unauthenticated('the subject of the certificate has no common name')
  return { principal, roles: [...(attributes.get('OU') ?? []), ...rolesOfSubject(attributes, table)] }
}

function claimsFrom(text: string): JsonObject {
  try {
    const value = parseJson(text, 32)
    if (isObject(value)) return value
  } catch {
    // reported below, like any value that is not an object
  }
  throw unauthenticated('the claims of the proxy must be a JSON object')
}

/** Trusts a request by its secret or by the address of its socket; either is enough. */
function createTrustCheck({
  secret,
  addresses,
  hosts = [],
  headers,
}: ProxySettings): (request: IncomingMessage) => boolean {
  const expected = secret === undefined ? undefined : digest(secret)
  const trustedAddresses = blockListOf(addresses)
  const knownHosts = new Set(hosts.map((host) => host.toLowerCase()))
  return (request) => {
    const sentSecret = soleHeader(request, headers.secret)
    // with a wrong secret the address does not matter
    if (sentSecret !== undefined)
      return expected !== undefined && timingSafeEqual(digest(sentSecret), expected)
    const address = request.socket.remoteAddress ?? ''
    if (address === '' || !trustedAddresses.check(address, isIPv6(address) ? 'ipv6' : 'ipv4')) return false
    if (isLoopback(address.replace(/^::ffff:/, ''))) requireKnownHost(request, knownHosts)
    return true
  }
}

/** Protects from DNS rebinding: a browser on this machine has a trusted address too, and a page can choose the host name. */
function requireKnownHost({ headers: { host } }: IncomingMessage, knownHosts: ReadonlySet<string>): void {
  if (hostKind(host) === 'loopback' || knownHosts.has(hostName(host ?? ''))) return
  throw new ServiceError(
    'crud:ForeignOrigin',
    'the request was refused because its Host is not known; a proxy on this machine that is trusted by its address ' +
      'sends a Host such as 127.0.0.1, or one that the setting auth.proxy.hosts lists; with auth.proxy.secret any will do',
  )
}

function blockListOf(addresses: readonly string[]): BlockList {
  const list = new BlockList()
  for (const text of addresses) {
    const [address = '', prefix] = text.split('/')
    const family = isIPv6(address) ? 'ipv6' : 'ipv4'
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return list
}

/** Has a fixed length, which `timingSafeEqual` needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'latin1').digest()
}
