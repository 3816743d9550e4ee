/** Reads the header `Idempotency-Key`, and refuses a second request with a key while the first one is running. */
import { createHash } from 'node:crypto'
import { ServiceError } from '../base/errors.ts'
import type { Idempotency } from '../service/idempotency.ts'
import type { Exchange } from './exchange.ts'
import type { Listener } from './listener.ts'
import { type Route, isWrite } from './routes/route.ts'

export interface HeldKey extends Disposable {
  readonly idempotency: Idempotency
}

/** Visible characters of ASCII, as in the header `X-Request-Id`; a UUID is the usual choice. */
const KEY = /^[\x21-\x7e]{1,255}$/

/** Undefined for reads that can be repeated anyway, and for requests without the header. */
export function holdKey(
  { runningKeys, app }: Pick<Listener, 'runningKeys' | 'app'>,
  { request, caller, params, search }: Exchange,
  { route, bytes }: { readonly route: Route; readonly bytes: Uint8Array },
): HeldKey | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || (!isWrite(route) && route.refusesKey === undefined)) return undefined
  if (typeof key !== 'string' || !KEY.test(key)) {
    const message =
      'the header Idempotency-Key must be 1 to 255 visible ASCII characters without spaces, such as 7f9c2b0e-58a4-4c53-9d0f-1e6b7a3c2d10'
    throw new ServiceError('crud:InvalidRequest', message)
  }
  if (route.refusesKey !== undefined) {
    const message = `this request takes no Idempotency-Key: ${route.refusesKey}`
    throw new ServiceError('crud:InvalidRequest', message)
  }
  const claims = showsDocuments(route) ? app.service.once.decidingClaims(caller) : {}
  const name = `${key} ${caller.principal}`
  if (runningKeys.has(name)) {
    const message = 'the first request with this Idempotency-Key is still running; ask again in a moment'
    throw new ServiceError('crud:IdempotencyConflict', message)
  }
  runningKeys.add(name)
  const conditions = (route.headers ?? []).map(({ name }) => request.headers[name.toLowerCase()] ?? null)
  const identity = [route.method, route.path, params, search, [...caller.roles].sort()]
  const more =
    Object.keys(claims).length > 0 ? [conditions, claims] : conditions.length > 0 ? [conditions] : []
  const fingerprint = createHash('sha256')
    .update(JSON.stringify([...identity, ...more]))
    .update(bytes)
    .digest('base64')
  return {
    idempotency: { key, fingerprint },
    [Symbol.dispose]: () => void runningKeys.delete(name),
  }
}

/**
 * Row rules decide what its answer shows, so a repetition with other claims must not get it. A change of metadata is
 * different: it may add the rule that refers to a claim, and its own repetition must still be the same.
 */
function showsDocuments({ tag }: Route): boolean {
  return tag === 'data' || tag === 'documents'
}
