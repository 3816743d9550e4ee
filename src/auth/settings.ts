/** What can be configured about authentication. */
import type { PermissionRoles } from './make-caller.ts'

export interface AuthSettings {
  readonly isOpen: boolean
  readonly tokens?: TokenSettings
  readonly jwt?: JwtSettings
  readonly proxy?: ProxySettings
  /** Whether the subject of a client certificate is believed that the TLS of this service has verified. */
  readonly hasCertificates: boolean
  readonly permissions: PermissionRoles
  /** Origins of web pages that may ask. */
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
  /** Where the keys are; absent, with no file either: where the issuer's discovery document says. */
  readonly jwksUrl?: string
  readonly jwksFile?: string
  readonly algorithms: readonly string[]
  readonly leewaySeconds: number
  /** Names of members from the top of the claims down to the roles. */
  readonly rolesClaim: readonly string[]
  readonly principalClaim: string
  /** Keys are asked for again at most so often, whatever tokens come. */
  readonly cooldownSeconds: number
}

export interface ProxySettings {
  readonly secret?: string
  /** Addresses and networks such as `10.0.0.0/8`. */
  readonly addresses: readonly string[]
  /** Names in `Host` besides loopback ones, where a proxy on this machine is trusted by its address. */
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
