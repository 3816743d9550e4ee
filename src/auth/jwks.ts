/** The public keys of an issuer: fetched when needed, cached, and fetched again for unknown keys, with a cooldown. */
import {
  type FlattenedJWSInput,
  type JSONWebKeySet,
  type JWSHeaderParameters,
  createLocalJWKSet,
  errors,
} from 'jose'
import { ServiceError } from '../base/errors.ts'
import { isObject, member } from '../base/json/json.ts'
import { fetchJson, isSafeUrl } from './fetch-json.ts'
import { fileKeys } from './jwks-file.ts'
import { isLoopback } from './loopback.ts'
import type { JwtSettings } from './settings.ts'

type KeySet = ReturnType<typeof createLocalJWKSet>
type KeyOf = (header: JWSHeaderParameters, token: FlattenedJWSInput) => ReturnType<KeySet>

type KeySettings = Pick<JwtSettings, 'issuer' | 'jwksUrl' | 'jwksFile' | 'cooldownSeconds'>

/** A function that returns the key for a token. */
export function keySource(settings: KeySettings, onProblem: (error: unknown) => void): KeyOf {
  if (settings.jwksFile !== undefined) {
    const current = fileKeys(settings.jwksFile, onProblem)
    return async (header, token) => {
      const set = current()
      if (set === undefined) throw unavailable()
      return await set(header, token)
    }
  }
  const keys = new Keys(settings, onProblem)
  return async (header, token) => {
    const before = await keys.current()
    try {
      return await before(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      const after = await keys.newerThan(before)
      if (after === before) throw error
      return await after(header, token)
    }
  }
}

/** Cached keys older than this are fetched again in the background. */
const MAX_AGE_MS = 10 * 60_000
/** Pause after a failure: shorter than the cooldown, because callers may be locked out until the next attempt. */
const RETRY_MS = 5_000

class Keys {
  readonly #settings: KeySettings
  readonly #onProblem: (error: unknown) => void
  #set: KeySet | undefined
  #triedAt = -Infinity
  #hasFailed = false
  #loading: Promise<void> | undefined

  constructor(settings: KeySettings, onProblem: (error: unknown) => void) {
    this.#settings = settings
    this.#onProblem = onProblem
  }

  async current(): Promise<KeySet> {
    // a refresh of cached keys runs in the background
    if (this.#set !== undefined && performance.now() - this.#triedAt > MAX_AGE_MS) void this.#load()
    if (this.#set === undefined) await this.#load()
    if (this.#set === undefined) throw unavailable()
    return this.#set
  }

  /** A newer set than this one, fetched if the cooldown permits; else the same set. */
  async newerThan(set: KeySet): Promise<KeySet> {
    if (this.#set === set) await this.#load()
    // the key may be a new one, so the token cannot be called invalid
    if (this.#set === set && this.#hasFailed) throw unavailable()
    return this.#set!
  }

  async #load(): Promise<void> {
    const cooldownMs = this.#settings.cooldownSeconds * 1_000
    const pauseMs = this.#hasFailed ? Math.min(RETRY_MS, cooldownMs) : cooldownMs
    if (!this.#loading && performance.now() - this.#triedAt < pauseMs) return
    await (this.#loading ??= this.#reload().finally(() => (this.#loading = undefined)))
  }

  async #reload(): Promise<void> {
    this.#triedAt = performance.now()
    try {
      this.#set = await loadKeys(this.#settings)
      this.#hasFailed = false
    } catch (error) {
      this.#hasFailed = true
      this.#onProblem(error)
    }
  }
}

async function loadKeys({ jwksUrl, issuer }: KeySettings): Promise<KeySet> {
  const keys = await fetchJson(jwksUrl ?? (await discoveredUrl(issuer)))
  return createLocalJWKSet(keys as unknown as JSONWebKeySet)
}

async function discoveredUrl(issuer: string): Promise<string> {
  const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const document = await fetchJson(address)
  const url = member(document, 'jwks_uri')
  if (!isObject(document) || document['issuer'] !== issuer)
    throw new Error(`${address} names another issuer than ${issuer}`)
  if (typeof url !== 'string' || !isSafeUrl(url) || leadsToLoopback(url, issuer))
    throw new Error(`${address} names no usable jwks_uri`)
  return url
}

/** SSRF protection: a remote issuer must not make the service send requests to its own machine. */
function leadsToLoopback(url: string, issuer: string): boolean {
  return isLoopback(new URL(url).hostname) && !isLoopback(new URL(issuer).hostname)
}

function unavailable(): ServiceError {
  return new ServiceError('crud:Unavailable', 'the keys of the issuer are not available at the moment')
}
