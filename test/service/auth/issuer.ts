/** A local identity provider: keys, discovery, and tokens with any claims and key. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, type JWK, SignJWT, exportJWK, exportSPKI, generateKeyPair } from 'jose'
import type { JwtSettings } from '../../../src/auth/settings.ts'

export interface SigningKey {
  readonly kid: string
  readonly algorithm: string
  readonly privateKey: CryptoKey
  readonly publicJwk: JWK
  /** PEM, which is public, so that attackers have it. */
  readonly publicPem: string
}

export async function makeKey(kid: string, algorithm = 'ES256'): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
  const publicJwk = { ...(await exportJWK(publicKey)), kid, alg: algorithm }
  return { kid, algorithm, privateKey, publicJwk, publicPem: await exportSPKI(publicKey) }
}

export interface Issuer extends AsyncDisposable {
  readonly url: string
  readonly jwksUrl: string
  /** The keys in the response to the next request for keys. */
  keys: readonly SigningKey[]
  /** The response to requests for keys; undefined to send the keys. */
  answer:
    | { readonly status: number; readonly headers?: Record<string, string>; readonly text: string }
    | undefined
  /** Members that replace those of the discovery document. */
  discovery: Record<string, string>
  /** The number of requests for keys. */
  fetches: number
}

export async function startIssuer(...keys: readonly SigningKey[]): Promise<Issuer> {
  const server = createServer((request, response) => {
    if (request.url === '/.well-known/openid-configuration') {
      response.end(JSON.stringify({ issuer: issuer.url, jwks_uri: issuer.jwksUrl, ...issuer.discovery }))
      return
    }
    issuer.fetches++
    if (issuer.answer) response.writeHead(issuer.answer.status, issuer.answer.headers)
    response.end(
      issuer.answer?.text ?? JSON.stringify({ keys: issuer.keys.map(({ publicJwk }) => publicJwk) }),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const issuer: Issuer = {
    url,
    jwksUrl: `${url}/keys`,
    keys,
    answer: undefined,
    discovery: {},
    fetches: 0,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return issuer
}

export const AUDIENCE = 'smalt-test'

/** The settings with which a service accepts its tokens. */
export function settingsFor({ url, jwksUrl }: Issuer, more: Partial<JwtSettings> = {}): JwtSettings {
  return {
    issuer: url,
    audience: [AUDIENCE],
    jwksUrl,
    algorithms: ['RS256', 'ES256', 'PS256', 'EdDSA'],
    leewaySeconds: 5,
    rolesClaim: ['roles'],
    principalClaim: 'sub',
    cooldownSeconds: 3_600,
    ...more,
  }
}

/** A valid token, except for the given claims; undefined removes a claim. */
export function sign(
  issuer: Pick<Issuer, 'url'>,
  key: SigningKey,
  claims: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1_000)
  const all = { iss: issuer.url, aud: AUDIENCE, sub: 'ann', exp: now + 600, roles: ['hr'], ...claims }
  const present = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
  return new SignJWT(present).setProtectedHeader({ alg: key.algorithm, kid: key.kid }).sign(key.privateKey)
}

export function encoded(value: unknown): string {
  return Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
}
