/** CORS: pages of listed origins may send requests, other pages may not. Credentials of the browser are never allowed. */
import type { IncomingMessage } from 'node:http'
import type { Reply } from './routes/route.ts'

/** Response headers for the origin of a request, names and values in turn. */
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
      'Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, Prefer, X-Request-Id, Smalt-Roles, Smalt-Principal, Smalt-Claims',
      'Access-Control-Max-Age',
      '600',
    ],
  }
}

/** Prevents caches from serving the response for one origin to another. */
const UNKNOWN: readonly string[] = ['Vary', 'Origin']

function headersFor(origin: string): readonly string[] {
  return [
    ...UNKNOWN,
    'Access-Control-Allow-Origin',
    origin,
    'Access-Control-Expose-Headers',
    'ETag, Location, Preference-Applied, X-Request-Id, Retry-After, Idempotency-Replayed',
  ]
}
