/** What pages of other origins may do: nothing, unless their origin is listed. Credentials of the browser never count. */
import type { IncomingMessage } from 'node:http'
import type { Reply } from './routes/route.ts'

/** Headers for the answer to a request of a listed origin, names and values in turn. */
export type Cors = (request: IncomingMessage) => readonly string[]

export function allowOrigins(origins: readonly string[]): Cors {
  const known = new Map(origins.map((origin) => [origin, headersFor(origin)]))
  if (known.size === 0) return () => []
  return ({ headers: { origin } }) => known.get(origin ?? '') ?? UNKNOWN
}

export function isPreflight({ method, headers }: IncomingMessage): boolean {
  return method === 'OPTIONS' && headers['access-control-request-method'] !== undefined
}

export function preflightReply(allow: string): Reply {
  return {
    status: 204,
    text: '',
    headers: [
      'Access-Control-Allow-Methods',
      allow,
      'Access-Control-Allow-Headers',
      'Authorization, Content-Type, X-Request-Id, Smalt-Roles, Smalt-Principal',
      'Access-Control-Max-Age',
      '600',
    ],
  }
}

/** Says to caches that another origin would be answered otherwise. */
const UNKNOWN: readonly string[] = ['Vary', 'Origin']

function headersFor(origin: string): readonly string[] {
  return [
    ...UNKNOWN,
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Expose-Headers',
    'X-Request-Id, Retry-After',
  ]
}
