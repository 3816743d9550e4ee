/** The header `Authorization`. The form of a token determines its kind, so that a wrong token is never tried as another kind. */
import type { Caller } from '../access/caller.ts'
import type { Mode } from './authentication.ts'
import { soleHeader } from './header.ts'
import { unauthenticated } from './unauthenticated.ts'

type FromToken = (token: string) => Caller | Promise<Caller>

interface BearerModes {
  readonly tokens: FromToken | undefined
  readonly jwt: FromToken | undefined
}

export function bearerMode({ tokens, jwt }: BearerModes): Mode {
  return (request) => {
    if (request.headers.authorization === undefined) return undefined
    const [, token] = BEARER.exec(soleHeader(request, 'authorization') ?? '') ?? []
    if (token === undefined) throw unauthenticated('the header Authorization must be "Bearer" and a token')
    const mode = token.startsWith('smalt_') ? tokens : jwt
    if (!mode) throw unauthenticated('tokens of this kind are not accepted here')
    return mode(token)
  }
}

const BEARER = /^Bearer ([\x21-\x7e]+)$/i
