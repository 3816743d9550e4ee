/** Reads the settings of authentication and checks them as far as that is possible without network access. */
import { isIP, isIPv6 } from 'node:net'
import { type Permission, PERMISSIONS } from '../../access/caller.ts'
import type { CertificateRole } from '../../auth/certificate-roles.ts'
import { parseDistinguishedName } from '../../auth/distinguished-name.ts'
import { isArray, isObject } from '../../base/json/json.ts'
import { isSafeUrl } from '../../auth/fetch-json.ts'
import { hostKind } from '../../auth/loopback.ts'
import {
  type AuthSettings,
  type JwtSettings,
  type OidcSettings,
  type ProxyHeaders,
  type ProxySettings,
  SECRET_HEADER,
} from '../../auth/settings.ts'
import { ConfigError } from './config-error.ts'
import { type ModeName, MODES } from './setting-shapes.ts'
import type { Reader } from './reader.ts'

export function authFrom(pick: Reader, tokensFile: string): AuthSettings {
  const hasCertificates = pick.given('tls.ca') !== undefined
  const isOn = modesFrom(pick, hasCertificates)
  return {
    isOpen: isOn('open'),
    ...(isOn('tokens') && {
      // clients of another service may know no other way to send a token
      tokens: { file: tokensFile, acceptsBasic: pick.text('compatibility') !== undefined },
    }),
    ...(isOn('jwt') && { jwt: jwtFrom(pick) }),
    ...(isOn('proxy') && { proxy: proxyFrom(pick) }),
    hasCertificates,
    certificateRoles: certificateRolesFrom(pick),
    permissions: permissionsFrom(pick),
    origins: originsFrom(pick),
  }
}

/** The page gets its tokens from the issuer whose tokens the service accepts. */
export function oidcFrom(pick: Reader, { jwt }: AuthSettings): OidcSettings | undefined {
  if (!pick.has('ui.oidc')) return undefined
  if (!jwt) throw new ConfigError('ui.oidc needs auth.jwt: the service must accept the tokens of the issuer')
  const clientId = pick.text('ui.oidc.clientId')
  if (clientId === undefined || clientId === '')
    throw new ConfigError('ui.oidc needs clientId, as the issuer knows the page (SMALT_UI_OIDC_CLIENT_ID)')
  const issuer = pick.text('ui.oidc.issuer') ?? jwt.issuer
  if (issuer !== jwt.issuer)
    throw new ConfigError(`${pick.nameOf('ui.oidc.issuer')} must be the issuer of auth.jwt, ${jwt.issuer}`)
  requireSafe(pick.nameOf(pick.given('ui.oidc.issuer') ? 'ui.oidc.issuer' : 'auth.jwt.issuer'), issuer)
  return { issuer, clientId, scope: pick.text('ui.oidc.scope') ?? 'openid' }
}

/** The modes that `auth.modes` names; otherwise the modes with settings; otherwise `open`. */
function modesFrom(pick: Reader, hasCertificates: boolean): (mode: ModeName) => boolean {
  const named = pick.texts('auth.modes')
  if (named?.length === 0)
    throw new ConfigError(`${pick.nameOf('auth.modes')} must name one of ${MODES.join(', ')}`)
  const described = MODES.filter((mode) => pick.has(`auth.${mode}`))
  const usual = described.length > 0 || hasCertificates ? described : ['open']
  const modes: readonly string[] = named ?? usual
  return (mode) => modes.includes(mode)
}

const USUAL_ALGORITHMS = ['RS256', 'ES256', 'PS256', 'EdDSA']

function jwtFrom(pick: Reader): JwtSettings {
  const issuer = pick.text('auth.jwt.issuer')
  const audience = pick.texts('auth.jwt.audience') ?? []
  if (issuer === undefined || audience.length === 0)
    throw new ConfigError(
      'auth.jwt needs both issuer and audience (SMALT_AUTH_JWT_ISSUER, SMALT_AUTH_JWT_AUDIENCE)',
    )
  const jwksUrl = pick.text('auth.jwt.jwksUrl')
  const jwksFile = pick.text('auth.jwt.jwksFile')
  if (jwksUrl !== undefined && jwksFile !== undefined)
    throw new ConfigError('auth.jwt: jwksUrl and jwksFile both say where the keys are; leave one of them out')
  if (jwksUrl !== undefined) requireSafe(pick.nameOf('auth.jwt.jwksUrl'), jwksUrl)
  if (jwksUrl === undefined && jwksFile === undefined) requireSafe(pick.nameOf('auth.jwt.issuer'), issuer)
  return {
    issuer,
    audience,
    ...(jwksUrl !== undefined && { jwksUrl }),
    ...(jwksFile !== undefined && { jwksFile }),
    algorithms: pick.texts('auth.jwt.algorithms') ?? USUAL_ALGORITHMS,
    leewaySeconds: pick.number('auth.jwt.leewaySeconds') ?? 30,
    rolesClaim: rolesClaimFrom(pick),
    principalClaim: pick.text('auth.jwt.principalClaim') ?? 'sub',
    cooldownSeconds: pick.number('auth.jwt.cooldownSeconds') ?? 30,
  }
}

/**
 * One text is a path with dots. A list in the file has names as they are: those of some providers are addresses, such as
 * `https://example.com/roles`.
 */
function rolesClaimFrom(pick: Reader): readonly string[] {
  const names = pick.texts('auth.jwt.rolesClaim') ?? ['roles']
  const given = pick.given('auth.jwt.rolesClaim')
  const isList = given?.layer === 'file' && isArray(given.value)
  return names.length === 1 && !isList ? names[0]!.split('.') : names
}

function requireSafe(name: string, url: string): void {
  if (!isSafeUrl(url))
    throw new ConfigError(`${name} must be an address with https (http on this machine only)`)
}

const MIN_SECRET = 16

function proxyFrom(pick: Reader): ProxySettings {
  const secret = pick.secret('auth.proxy.secret')
  const addresses = pick.texts('auth.proxy.addresses') ?? []
  if (secret === undefined && addresses.length === 0)
    throw new ConfigError('auth.proxy needs secret or addresses: without, anybody could pass for the proxy')
  if (secret !== undefined && secret.length < MIN_SECRET)
    throw new ConfigError(`${pick.nameOf('auth.proxy.secret')} must have at least ${MIN_SECRET} characters`)
  const bad = addresses.find((each) => !isNetwork(each))
  if (bad !== undefined)
    throw new ConfigError(`${pick.nameOf('auth.proxy.addresses')}: ${bad} is no address and no network`)
  const hosts = pick.texts('auth.proxy.hosts') ?? []
  const badHost = hosts.find((each) => hostKind(each) === 'malformed' || /:\d+$/.test(each))
  if (badHost !== undefined)
    throw new ConfigError(
      `${pick.nameOf('auth.proxy.hosts')}: ${badHost} is no host such as api.example.com, without a port`,
    )
  return { ...(secret !== undefined && { secret }), addresses, hosts, headers: headersFrom(pick) }
}

/**
 * Headers that identify the caller have no default names: a proxy that does not know a default header would
 * pass it through from clients.
 */
function headersFrom(pick: Reader): ProxyHeaders {
  const entries = HEADERS.flatMap((name): [string, string][] => {
    const path = `auth.proxy.headers.${name}`
    const header = pick.text(path) ?? (name === 'secret' ? SECRET_HEADER : undefined)
    if (header === undefined) return []
    if (!/^[A-Za-z0-9-]+$/.test(header))
      throw new ConfigError(`${pick.nameOf(path)} must be the name of a header`)
    return [[name, header.toLowerCase()]]
  })
  const headers = Object.fromEntries(entries) as unknown as ProxyHeaders
  if (headers.principal === undefined && headers.certificate === undefined)
    throw new ConfigError('auth.proxy.headers needs principal or certificate: the header that says who asks')
  if (new Set(entries.map(([, header]) => header)).size < entries.length)
    throw new ConfigError('auth.proxy.headers names one header twice')
  return headers
}

const HEADERS = ['secret', 'principal', 'roles', 'claims', 'certificate'] as const

function isNetwork(text: string): boolean {
  const [, address = '', prefix] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  return isIP(address) !== 0 && Number(prefix ?? 0) <= (isIPv6(address) ? 128 : 32)
}

function certificateRolesFrom(pick: Reader): readonly CertificateRole[] {
  const given = pick.given('auth.certificates')
  if (!given || !isObject(given.value)) return []
  return Object.entries(given.value).map(([text, roles]) => {
    const subject = parseDistinguishedName(text)
    if (!subject) throw new ConfigError(`${given.name}: "${text}" is no subject such as CN=ann,O=Example`)
    return { subject, roles: roles as readonly string[] }
  })
}

function permissionsFrom(pick: Reader): AuthSettings['permissions'] {
  const entries = PERMISSIONS.flatMap((name): [Permission, readonly string[]][] => {
    const roles = pick.texts(`permissions.${name}`)
    return roles === undefined ? [] : [[name, roles]]
  })
  return Object.fromEntries(entries)
}

function originsFrom(pick: Reader): readonly string[] {
  const origins = pick.texts('cors.origins') ?? []
  const bad = origins.find((each) => URL.parse(each)?.origin !== each || !/^https?:[^*]*$/.test(each))
  if (bad === undefined) return origins
  const name = pick.nameOf('cors.origins')
  throw new ConfigError(
    `${name}: ${bad} is no origin such as https://app.example.com; each must be written out`,
  )
}
