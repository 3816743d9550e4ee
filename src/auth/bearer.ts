/** The header `Authorization`. The form of a token determines its kind, so that a wrong token is never tried as another kind. */
import type { Caller } from '../access/caller.ts'
import type { Mode } from './authentication.ts'
import { soleHeader } from './header.ts'
import { unauthenticated } from './unauthenticated.ts'

type FromToken = (token: string) => Caller | Promise<Caller>

type TokenMode = (token: string) => Caller

interface BearerModes {
  readonly tokens: TokenMode | undefined
  readonly jwt: FromToken | undefined
  /** Whether a token may be the password of HTTP Basic. */
  readonly acceptsBasic?: boolean
}

export function bearerMode({ tokens, jwt, acceptsBasic = false }: BearerModes): Mode {
  return (request) => {
    if (request.headers.authorization === undefined) return undefined
    const [, basic] = BASIC.exec(soleHeader(request, 'authorization') ?? '') ?? []
    if (basic !== undefined && acceptsBasic && tokens) return basicCaller(basic, tokens)
    const [, token] = BEARER.exec(soleHeader(request, 'authorization') ?? '') ?? []
    if (token === undefined) throw unauthenticated('the header Authorization must be "Bearer" and a token')
    const mode = token.startsWith('smalt_') ? tokens : jwt
    if (!mode) {
      const accepted = tokens
        ? 'tokens of smalt token add are, which begin with smalt_'
        : 'JSON Web Tokens are'
      throw unauthenticated(`tokens of this kind are not accepted here; ${accepted}`)
    }
    return mode(token)
  }
}

/** User and password are principal and token, for clients that know HTTP Basic only. */
function basicCaller(encoded: string, tokens: TokenMode): Caller {
  const text = Buffer.from(encoded, 'base64').toString('utf8')
  const colon = text.indexOf(':')
  if (colon === -1) throw unauthenticated('HTTP Basic needs a user and a token as the password')
  const caller = tokens(text.slice(colon + 1))
  if (caller.principal !== text.slice(0, colon)) throw unauthenticated('the token belongs to another user')
  return caller
}

const BASIC = /^Basic ([A-Za-z0-9+/]+={0,2})$/i
const BEARER = /^Bearer ([\x21-\x7e]+)$/i
