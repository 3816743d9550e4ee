/** A small OpenID Connect provider: discovery, authorization code with PKCE (S256), tokens as JWT. */
import { createHash, randomUUID } from 'node:crypto'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Authentication } from '../../../src/auth/authentication.ts'
import { createAuthentication } from '../../../src/auth/create.ts'
import { AUDIENCE, type SigningKey, makeKey, sign } from '../../service/auth/issuer.ts'

export const CLIENT = 'smalt-page'

export interface OidcProvider extends AsyncDisposable {
  readonly url: string
  /** Of the tokens that it issues next. */
  lifetimeSeconds: number
  /** Whether users are refused. */
  isRefusing: boolean
  /** Tokens issued so far. */
  issued: number
  /** Whether tokens come with one that renews them. */
  isRenewing: boolean
  /** Accepts its tokens. */
  readonly authentication: () => Promise<Authentication>
}

interface Grant {
  readonly challenge: string
  readonly redirectUri: string
}

export async function startOidcProvider(): Promise<OidcProvider> {
  const key = await makeKey('page')
  const grants = new Map<string, Grant>()
  const refreshes = new Set<string>()
  const server = createServer((request, response) => void answer(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const provider: OidcProvider = {
    url,
    lifetimeSeconds: 600,
    isRefusing: false,
    issued: 0,
    isRenewing: false,
    authentication: () => authenticationBy(url),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', url)
    response.setHeader('Access-Control-Allow-Origin', request.headers.origin ?? 'null')
    if (pathname === '/.well-known/openid-configuration') sendJson(response, 200, discovery(url))
    else if (pathname === '/keys') sendJson(response, 200, { keys: [key.publicJwk] })
    else if (pathname === '/authorize') authorize(provider, grants, searchParams, response)
    else if (pathname === '/token') {
      const form = new URLSearchParams(await text(request))
      const isSound =
        form.get('grant_type') === 'refresh_token' ? isRenewal(form, refreshes) : isExchange(grants, form)
      const answer = isSound ? await issue(provider, key, refreshes) : { error: 'invalid_grant' }
      sendJson(response, isSound ? 200 : 400, answer)
    } else sendJson(response, 404, {})
  }
  return provider
}

function discovery(url: string): object {
  return {
    issuer: url,
    jwks_uri: `${url}/keys`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
  }
}

/** The user is signed in already, and agrees: the browser goes back at once. */
function authorize(
  provider: OidcProvider,
  grants: Map<string, Grant>,
  asked: URLSearchParams,
  response: ServerResponse,
): void {
  const [challenge, redirectUri] = [asked.get('code_challenge'), asked.get('redirect_uri')]
  const isSound =
    asked.get('response_type') === 'code' &&
    asked.get('client_id') === CLIENT &&
    asked.get('code_challenge_method') === 'S256' &&
    asked.get('scope')?.split(' ').includes('openid') === true
  if (!isSound || challenge === null || redirectUri === null) return sendJson(response, 400, {})
  const target = new URL(redirectUri)
  target.searchParams.set('state', asked.get('state') ?? '')
  target.searchParams.set('iss', provider.url)
  if (provider.isRefusing) {
    target.searchParams.set('error', 'access_denied')
    target.searchParams.set('error_description', 'not today')
  } else {
    const code = randomUUID()
    grants.set(code, { challenge, redirectUri })
    target.searchParams.set('code', code)
  }
  response.writeHead(302, { Location: target.href }).end()
}

/** A code is good for one exchange, by whoever has the verifier of its challenge. */
function isExchange(grants: Map<string, Grant>, form: URLSearchParams): boolean {
  const code = form.get('code') ?? ''
  const grant = grants.get(code)
  grants.delete(code)
  const challenge = createHash('sha256')
    .update(form.get('code_verifier') ?? '')
    .digest('base64url')
  return (
    form.get('grant_type') === 'authorization_code' &&
    form.get('client_id') === CLIENT &&
    form.get('redirect_uri') === grant?.redirectUri &&
    challenge === grant?.challenge
  )
}

/** A refresh token is good for one renewal. */
function isRenewal(form: URLSearchParams, refreshes: Set<string>): boolean {
  return form.get('client_id') === CLIENT && refreshes.delete(form.get('refresh_token') ?? '')
}

async function issue(provider: OidcProvider, key: SigningKey, refreshes: Set<string>): Promise<object> {
  const { lifetimeSeconds: seconds, isRenewing } = provider
  provider.issued++
  const token = await sign(provider, key, { exp: Math.floor(Date.now() / 1_000) + seconds })
  const answer = { access_token: token, token_type: 'Bearer' }
  if (!isRenewing) return answer
  const refresh = randomUUID()
  refreshes.add(refresh)
  return { ...answer, refresh_token: refresh, expires_in: seconds }
}

function sendJson(response: ServerResponse, status: number, value: object): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value))
}

function authenticationBy(issuer: string): Promise<Authentication> {
  const jwt = {
    issuer,
    audience: [AUDIENCE],
    algorithms: ['ES256'],
    leewaySeconds: 0,
    rolesClaim: ['roles'],
    principalClaim: 'sub',
    cooldownSeconds: 1,
  }
  const permissions = { 'metadata.find': ['hr'], 'metadata.insert': ['hr'] }
  const settings = { isOpen: false, hasCertificates: false, permissions, origins: [], jwt }
  return createAuthentication(settings, (error) => {
    throw error
  })
}
