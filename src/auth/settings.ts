/** The settings of authentication. */
import type { PermissionRoles } from './make-caller.ts'

export interface AuthSettings {
  readonly isOpen: boolean
  readonly tokens?: TokenSettings
  readonly jwt?: JwtSettings
  readonly proxy?: ProxySettings
  /** Whether client certificates that TLS has verified are accepted as credentials. */
  readonly hasCertificates: boolean
  readonly permissions: PermissionRoles
  /** Origins of web pages that may send requests. */
  readonly origins: readonly string[]
}

export interface TokenSettings {
  readonly file: string
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

export interface ProxySettings {
  readonly secret?: string
  /** Addresses and networks such as `10.0.0.0/8`. */
  readonly addresses: readonly string[]
  /** Allowed names in `Host`, besides loopback ones, when a proxy on this machine is trusted by its address. */
  readonly hosts?: readonly string[]
  /** Names in lower case; the proxy sets or removes each of them on every request. */
  readonly headers: ProxyHeaders
}

export interface ProxyHeaders {
  readonly secret: string
  readonly principal?: string
  readonly roles?: string
  readonly claims?: string
  /** The subject of the client certificate, as a distinguished name. */
  readonly certificate?: string
}
