/** The settings of authentication. */
import type { CertificateRole } from './certificate-roles.ts'
import type { PermissionRoles } from './make-caller.ts'

export interface AuthSettings {
  readonly isOpen: boolean
  readonly tokens?: TokenSettings
  readonly jwt?: JwtSettings
  readonly proxy?: ProxySettings
  /** Whether client certificates that TLS has verified are accepted as credentials. */
  readonly hasCertificates: boolean
  /** Roles of subjects of certificates, besides the roles that the subjects name. */
  readonly certificateRoles?: readonly CertificateRole[]
  readonly permissions: PermissionRoles
  /** Origins of web pages that may send requests. */
  readonly origins: readonly string[]
}

export interface TokenSettings {
  readonly file: string
  /** Whether HTTP Basic is accepted, with the principal as user and the token as password. */
  readonly acceptsBasic?: boolean
}

export const JWT_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const

export interface JwtSettings {
  readonly issuer: string
  readonly audience: readonly string[]
  /** URL of the keys. Without URL and file, the discovery document of the issuer names it. */
  readonly jwksUrl?: string
  readonly jwksFile?: string
  readonly algorithms: readonly string[]
  readonly leewaySeconds: number
  /** Path of the roles in the claims. */
  readonly rolesClaim: readonly string[]
  readonly principalClaim: string
  /** Minimum time between two requests for keys, whatever tokens arrive. */
  readonly cooldownSeconds: number
}

/** How the users of the page sign in: OpenID Connect, authorization code with PKCE. */
export interface OidcSettings {
  readonly issuer: string
  readonly clientId: string
  /** Names by spaces. */
  readonly scope: string
}

export interface ProxySettings {
  readonly secret?: string
  /** Addresses and networks such as `10.0.0.0/8`. */
  readonly addresses: readonly string[]
  /** Allowed names in `Host`, besides loopback ones, when a proxy on this machine is trusted by its address. */
  readonly hosts?: readonly string[]
  /** Names in lower case; the proxy sets or removes each of them on every request. */
  readonly headers: ProxyHeaders
}

/** The header of the secret, unless the configuration names another one. */
export const SECRET_HEADER = 'Smalt-Proxy-Secret'

export interface ProxyHeaders {
  readonly secret: string
  readonly principal?: string
  readonly roles?: string
  readonly claims?: string
  /** The subject of the client certificate, as a distinguished name. */
  readonly certificate?: string
}
