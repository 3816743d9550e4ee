/**
 * Signs in by OpenID Connect: authorization code with PKCE. The issuer sends the user back with a code, which only this tab
 * can exchange for a token: it has the verifier.
 */
import { asObject } from '../client/data-client.ts'
import { type Json, parseJson, printJson, textOf } from '../client/json.ts'
import { arrive } from './place.ts'
import { client } from './session.ts'

export interface Oidc {
  readonly issuer: string
  readonly clientId: string
  readonly scope: string
}

/** Kept in this tab while the user is at the issuer. */
interface Pending {
  readonly state: string
  readonly verifier: string
  readonly issuer: string
  readonly clientId: string
  readonly tokenEndpoint: string
  /** Where the user was. */
  readonly hash: string
}

const KEY = 'smalt.oidc'

export async function oidcSettings(): Promise<Oidc | undefined> {
  const { oidc } = asObject(await client.send('GET', '/ui/settings'))
  return oidc === undefined ? undefined : (oidc as unknown as Oidc)
}

/** Leaves the page for the issuer. */
export async function beginSignIn({ issuer, clientId, scope }: Oidc): Promise<void> {
  if (!isSecureContext) throw new Error('signing in needs HTTPS, or a page on this machine')
  const endpoints = await discover(issuer)
  const [state, verifier] = [randomText(), randomText()]
  const { hash } = location
  const tokenEndpoint = endpoints.token
  sessionStorage.setItem(KEY, printJson({ state, verifier, issuer, clientId, tokenEndpoint, hash }))
  const target = new URL(endpoints.authorization)
  const challenge = base64Url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)))
  for (const [name, value] of Object.entries({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri(),
    scope,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  }))
    target.searchParams.set(name, value)
  location.assign(target)
}

/** Where the user comes back from the issuer, the token; undefined on any other visit. */
export async function finishSignIn(): Promise<Tokens | undefined> {
  const answer = new URLSearchParams(location.search)
  const pending = takePending()
  if (!pending || !answer.has('state')) return undefined
  // neither the code nor the state stays in the address and the history of the browser
  arrive(pending.hash)
  if (answer.get('state') !== pending.state)
    throw new Error('the answer of the issuer belongs to another sign-in')
  const issuer = answer.get('iss')
  if (issuer !== null && issuer !== pending.issuer) throw new Error('the answer comes from another issuer')
  const problem = answer.get('error')
  if (problem !== null)
    throw new Error(`the issuer refused to sign in: ${answer.get('error_description') ?? problem}`)
  return await tokensFor(pending, {
    grant_type: 'authorization_code',
    code: answer.get('code') ?? '',
    redirect_uri: redirectUri(),
    code_verifier: pending.verifier,
  })
}

export interface Tokens {
  readonly access: string
  /** Gets the next tokens. Undefined where the issuer gave no refresh token, or no time of expiry. */
  readonly renewal?: { readonly inMs: number; readonly renew: () => Promise<Tokens> }
}

/** The refresh token stays in memory: whoever reads the storage of the tab later finds a token that expires soon. */
async function tokensFor(
  client: Pick<Pending, 'clientId' | 'tokenEndpoint'>,
  grant: Readonly<Record<string, string>>,
): Promise<Tokens> {
  const { clientId, tokenEndpoint } = client
  const body = new URLSearchParams({ ...grant, client_id: clientId })
  const response = await reach(tokenEndpoint, { method: 'POST', body })
  const answer = asObject(await jsonOf(response))
  const {
    access_token: access,
    refresh_token: refresh = grant['refresh_token'],
    expires_in: seconds,
  } = answer
  if (typeof access !== 'string' || access === '') {
    const reason = textOf(answer['error_description'] ?? answer['error'] ?? `status ${response.status}`)
    throw new Error(`the issuer gave no token: ${reason}`)
  }
  if (typeof refresh !== 'string' || typeof seconds !== 'number') return { access }
  const renew = (): Promise<Tokens> =>
    tokensFor(client, { grant_type: 'refresh_token', refresh_token: refresh })
  return { access, renewal: { inMs: seconds * 1_000 * RENEWED_AFTER, renew } }
}

/** The part of its life after which a token is replaced. */
const RENEWED_AFTER = 0.8

interface Endpoints {
  readonly authorization: string
  readonly token: string
}

async function discover(issuer: string): Promise<Endpoints> {
  const response = await reach(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`)
  const document = asObject(await jsonOf(response))
  if (document['issuer'] !== issuer) throw new Error(`${issuer} is no OpenID Connect issuer of this name`)
  const [authorization, token] = ['authorization_endpoint', 'token_endpoint'].map((name) =>
    textOf(document[name]),
  )
  if (!URL.canParse(authorization!) || !URL.canParse(token!))
    throw new Error('the issuer names no endpoints to sign in')
  // the policy of the page admits the issuer only
  if (new URL(token!).origin !== new URL(issuer).origin)
    throw new Error('the token endpoint of the issuer has another origin than the issuer')
  return { authorization: authorization!, token: token! }
}

async function reach(url: string, init: RequestInit = {}): Promise<Response> {
  try {
    return await fetch(url, { ...init, credentials: 'omit' })
  } catch {
    throw new Error(
      `${new URL(url).origin} cannot be reached from this page; does it allow ${location.origin}?`,
    )
  }
}

async function jsonOf(response: Response): Promise<Json> {
  try {
    return parseJson(await response.text())
  } catch {
    throw new Error(`the issuer answered ${response.status} without JSON`)
  }
}

/** A sign-in is finished once, or not at all. */
function takePending(): Pending | undefined {
  const text = sessionStorage.getItem(KEY)
  if (text === null || location.search === '') return undefined
  sessionStorage.removeItem(KEY)
  return parseJson(text) as unknown as Pending
}

function redirectUri(): string {
  return `${location.origin}/ui`
}

function randomText(): string {
  return base64Url(crypto.getRandomValues(new Uint8Array(32)).buffer)
}

function base64Url(bytes: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
