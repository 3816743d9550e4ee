/** JSON Web Tokens of one issuer. Verified tokens are cached for a while, because checking a signature is expensive. */
import { Buffer } from 'node:buffer'
import { errors, jwtVerify } from 'jose'
import { setOrClear } from '../base/memo.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { keySource } from './jwks.ts'
import { MAX_CACHED } from './loopback.ts'
import type { MakeCaller } from './make-caller.ts'
import type { JwtSettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

interface JwtOptions {
  readonly settings: JwtSettings
  readonly makeCaller: MakeCaller
  /** Called when keys cannot be loaded. */
  readonly onProblem: (error: unknown) => void
}

/** Token → caller. */
export function jwtMode({ settings, makeCaller, onProblem }: JwtOptions): (token: string) => CallerResult {
  const keyOf = keySource(settings, onProblem)
  const cache = new Map<string, { readonly caller: Caller; readonly until: number }>()
  const verify = async (token: string): Promise<Caller> => {
    const { claims, expires } = await verified(token, settings, keyOf)
    const caller = makeCaller({
      principal: principalIn(claims, settings.principalClaim),
      roles: rolesIn(claims, settings.rolesClaim),
      claims,
    })
    const expiresAt = (expires + settings.leewaySeconds) * 1_000
    setOrClear(cache, token, { caller, until: Math.min(expiresAt, Date.now() + MAX_CACHED_MS) }, MAX_CACHED)
    return caller
  }
  return (token) => {
    if (token.length > MAX_LENGTH) throw unauthenticated(`the token is longer than ${MAX_LENGTH} bytes`)
    if (!COMPACT.test(token)) throw unauthenticated('the token is not valid')
    const found = cache.get(token)
    return found !== undefined && found.until > Date.now() ? found.caller : verify(token)
  }
}

type CallerResult = Caller | Promise<Caller>

const MAX_LENGTH = 8 * 1_024
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
/** Shorter than the lifetime of tokens, so that withdrawing a key of the issuer takes effect. */
const MAX_CACHED_MS = 60_000

interface Verified {
  readonly claims: JsonObject
  /** Seconds since 1970. */
  readonly expires: number
}

async function verified(
  token: string,
  settings: JwtSettings,
  keyOf: ReturnType<typeof keySource>,
): Promise<Verified> {
  const [header, payload] = token.split('.')
  try {
    strictObject(header!)
    const { payload: checked } = await jwtVerify(token, keyOf, {
      algorithms: [...settings.algorithms],
      issuer: settings.issuer,
      audience: [...settings.audience],
      clockTolerance: settings.leewaySeconds,
      requiredClaims: ['iss', 'aud', 'exp'],
    })
    return { claims: strictObject(payload!), expires: checked.exp! }
  } catch (error) {
    throw refusal(error)
  }
}

/** Refuses duplicate members, which other parsers may read differently. */
function strictObject(part: string): JsonObject {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'), 32)
  if (isObject(value)) return value
  throw unauthenticated('the token is not valid')
}

/** The error for the caller. It reveals nothing that is not in the token itself. */
function refusal(error: unknown): unknown {
  if (error instanceof ServiceError && error.code === 'crud:Unavailable') return error
  if (error instanceof errors.JWTExpired) return unauthenticated('the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthenticated(`the claim "${error.claim}" of the token is not accepted`)
  // any other error of the library is caused by the token
  return unauthenticated('the token is not valid')
}

function principalIn(claims: JsonObject, name: string): string {
  const principal = member(claims, name)
  if (typeof principal === 'string' && principal.trim() !== '') return principal
  throw unauthenticated(`the claim "${name}" of the token must be a text`)
}

/** The claim is an array of texts, or one text with spaces between roles; no roles when it is absent. */
function rolesIn(claims: JsonObject, path: readonly string[]): readonly string[] {
  let found: Json | undefined = claims
  for (const name of path) {
    if (found !== undefined && !isObject(found)) throw badRoles(path)
    found = member(found, name)
  }
  if (found === undefined) return []
  if (typeof found === 'string') return found.split(' ').filter((role) => role !== '')
  if (isArray(found) && found.every((role) => typeof role === 'string' && role !== ''))
    return found as readonly string[]
  throw badRoles(path)
}

function badRoles(path: readonly string[]): ServiceError {
  return unauthenticated(`the claim "${path.join('.')}" of the token must be an array of texts`)
}
