/** JSON Web Tokens of one issuer. A verified one is remembered for a while, so that repeating it costs no signature. */
import { Buffer } from 'node:buffer'
import { errors, jwtVerify } from 'jose'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../base/json/json.ts'
import { parseJson } from '../base/json/parse-json.ts'
import { keySource } from './jwks.ts'
import { remember } from './loopback.ts'
import type { MakeCaller } from './make-caller.ts'
import type { JwtSettings } from './settings.ts'
import { unauthenticated } from './unauthenticated.ts'

interface JwtOptions {
  readonly settings: JwtSettings
  readonly makeCaller: MakeCaller
  /** Told of keys that cannot be had. */
  readonly onProblem: (error: unknown) => void
}

/** From the text of a token to its caller. */
export function jwtMode({ settings, makeCaller, onProblem }: JwtOptions): (token: string) => JwtAnswer {
  const keyOf = keySource(settings, onProblem)
  const known = new Map<string, { readonly caller: Caller; readonly until: number }>()
  const verify = async (token: string): Promise<Caller> => {
    const { claims, expires } = await verified(token, settings, keyOf)
    const caller = makeCaller({
      principal: principalIn(claims, settings.principalClaim),
      roles: rolesIn(claims, settings.rolesClaim),
      claims,
    })
    const expiresAt = (expires + settings.leewaySeconds) * 1_000
    remember(known, token, { caller, until: Math.min(expiresAt, Date.now() + REMEMBERED_MS) })
    return caller
  }
  return (token) => {
    if (token.length > MAX_LENGTH) throw unauthenticated(`the token is longer than ${MAX_LENGTH} bytes`)
    if (!COMPACT.test(token)) throw unauthenticated('the token is not valid')
    const found = known.get(token)
    return found !== undefined && found.until > Date.now() ? found.caller : verify(token)
  }
}

type JwtAnswer = Caller | Promise<Caller>

const MAX_LENGTH = 8 * 1_024
const COMPACT = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
/** Not until it expires: a key that the issuer takes back must stop counting some time. */
const REMEMBERED_MS = 60_000

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

/** Refuses members that stand twice, which others on the way may read differently. */
function strictObject(part: string): JsonObject {
  const value = parseJson(Buffer.from(part, 'base64url').toString('utf8'), 32)
  if (isObject(value)) return value
  throw unauthenticated('the token is not valid')
}

/** Says what is wrong, but no more than whoever holds the token can read in it. */
function refusal(error: unknown): unknown {
  if (error instanceof ServiceError && error.code === 'crud:Unavailable') return error
  if (error instanceof errors.JWTExpired) return unauthenticated('the token has expired')
  if (error instanceof errors.JWTClaimValidationFailed)
    return unauthenticated(`the claim "${error.claim}" of the token does not fit`)
  // whatever else a token makes the library throw, it is the token that is at fault
  return unauthenticated('the token is not valid')
}

function principalIn(claims: JsonObject, name: string): string {
  const principal = member(claims, name)
  if (typeof principal === 'string' && principal.trim() !== '') return principal
  throw unauthenticated(`the claim "${name}" of the token must be a text`)
}

/** An array of texts, or one text with spaces between; none when absent. */
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
