/** Turns an admitted request into a reply: reserves shared limits, reads the body, and selects the thread. */
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../base/errors.ts'
import { memoized } from '../base/memo.ts'
import { INLINE_STEPS, Work, during } from '../base/work/work.ts'
import { accountOf, charge, payerOf } from './admission.ts'
import { TOO_MANY_BODIES, checkBodyHeaders, parseBody, readBody } from './body.ts'
import { TRUSTED_MS, recheck, watchWork } from './caller-watch.ts'
import { wantsStream } from './routes/data/read-routes.ts'
import type { Exchange } from './exchange.ts'
import { type HeldKey, holdKey } from './idempotency-key.ts'
import type { Listener } from './listener.ts'
import { checkParameters } from './routes/parameters.ts'
import type { Idempotency } from '../service/idempotency.ts'
import type { AnyReply, Params, Route, Upload } from './routes/route.ts'
import { Holding, noRoom } from './share.ts'
import {
  MAX_STREAM_BODY_BYTES,
  MAX_STREAM_BODY_VALUES,
  type Request,
  handle,
  isLargeFor,
  isOffloadable,
} from './threads/offloading.ts'
import { UPLOAD_BYTES, openUpload } from './upload.ts'
import { hasMoreValues } from './threads/value-count.ts'

/** Rejects a request before its body is read, where its address and caller suffice for the decision. */
export function precheck(listener: Listener, exchange: Exchange, route: Route): void {
  checkParameters(route, exchange.search)
  const { caller, params } = exchange
  if (mayBeLarge(exchange)) route.precheck?.({ app: listener.app, caller, params })
}

/** Before a small body, the precheck is not worth its cost: the service checks the caller again anyway. */
function mayBeLarge({ request: { headers } }: Exchange): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > SMALL_BODY_BYTES
}

const SMALL_BODY_BYTES = 16 * 1024

/** Reserves shared limits for a response, or rejects the request. Disposing of the result releases them. */
export function occupy(
  { shares, auth }: Listener,
  exchange: Exchange,
  { tag, occupies, takesUpload = false }: Route,
): Disposable | undefined {
  const account = (exchange.account = accountOf(auth, exchange))
  if (tag !== 'service' && shares.unsent.isFullFor(account)) throw noRoom(UNREAD)
  const { request, search } = exchange
  const kind = occupies?.({ accept: request.headers.accept ?? '', search })
  if (kind === undefined) return undefined
  using stack = new DisposableStack()
  stack.use(new Holding(shares[kind], account)).take(1, `too many ${kind} are open`)
  if (takesUpload) stack.use(new Holding(shares.uploads, account)).take(UPLOAD_BYTES, TOO_MANY_BODIES)
  return stack.move()
}

const UNREAD = 'too many answers have not been read yet'
const NO_BODY = Buffer.alloc(0)
const NOTHING_PARSED = { value: undefined }

/** Not asynchronous itself, because most requests have no body: it may throw at once. */
export function replyTo(listener: Listener, exchange: Exchange, route: Route): Promise<AnyReply> {
  const work = workFor(listener, route)
  if (route.takesUpload === true) {
    const upload = openUpload(exchange, listener.limits, listener.threads !== undefined)
    return perform(listener, exchange, { route, bytes: NO_BODY, parsed: NOTHING_PARSED, work, upload })
  }
  if (route.body !== undefined) return replyToBody(listener, exchange, { route, work })
  return perform(listener, exchange, { route, bytes: NO_BODY, parsed: NOTHING_PARSED, work })
}

/** Counts the bytes of the body in the share of uploads until the reply exists. */
async function replyToBody(
  listener: Listener,
  exchange: Exchange,
  { route, work }: Pick<Performing, 'route' | 'work'>,
): Promise<AnyReply> {
  using held = new Holding(listener.shares.uploads, exchange.account)
  const bytes = await bodyOf(listener, exchange, held)
  if (isLargeFor(route, bytes, listener.inlineBodyBytes) && isLeftToThreads(listener, exchange, route))
    return await perform(listener, exchange, { route, bytes, parsed: undefined, work })
  const { maxBodyBytes = MAX_STREAM_BODY_BYTES } = route
  if (bytes.length > maxBodyBytes && listener.threads)
    throw tooLargeForMainThread(`${maxBodyBytes} bytes`, route)
  if (isLargeFor(route, bytes, undefined)) {
    if (listener.threads && hasMoreValues(bytes, MAX_STREAM_BODY_VALUES))
      throw tooLargeForMainThread(`${MAX_STREAM_BODY_VALUES} values`, route)
    await listener.ownIteration()
  }
  const value = during(work, () => parseBody(bytes, listener.limits))
  charge(listener, exchange, route.cost?.(value) ?? 1)
  return await perform(listener, exchange, { route, bytes, parsed: { value }, work })
}

function tooLargeForMainThread(limit: string, { maxBodyBytes }: Route): ServiceError {
  const place = maxBodyBytes === undefined ? 'this route and of streamed finds' : 'this route'
  return new ServiceError('crud:BodyTooLarge', `the body is larger than ${limit}, the limit of ${place}`)
}

/** Streams stay on the main thread, because worker threads return complete responses only. */
function isLeftToThreads({ threads }: Listener, exchange: Exchange, route: Route): boolean {
  if (!threads || !isOffloadable(route)) return false
  return !wantsStream({ accept: exchange.request.headers.accept ?? '', search: exchange.search })
}

/** With worker threads, the main thread spends at most a few milliseconds on an offloadable request. */
function workFor({ limits, threads }: Listener, route: Route): Work {
  const steps = threads && isOffloadable(route) ? { steps: INLINE_STEPS } : {}
  return new Work({ timeLimitMs: limits.queryTimeMs, responseBytes: limits.resultBytes, ...steps })
}

type Performing = Pick<Request, 'route' | 'bytes' | 'parsed'> & {
  readonly work: Work
  readonly upload?: Upload
}

function perform(listener: Listener, exchange: Exchange, performing: Performing): Promise<AnyReply> {
  const running = holdKey(listener, exchange, performing)
  return running
    ? performWithKey(listener, exchange, { performing, running })
    : performOnce(listener, exchange, performing)
}

async function performWithKey(
  listener: Listener,
  exchange: Exchange,
  { performing, running }: { readonly performing: Performing; readonly running: HeldKey },
): Promise<AnyReply> {
  using held = new DisposableStack()
  held.use(running)
  const reply = await performOnce(listener, exchange, performing, running.idempotency)
  if ('lines' in reply) holdUntilClosed(exchange, held.move())
  return reply
}

async function performOnce(
  listener: Listener,
  exchange: Exchange,
  performing: Performing,
  idempotency?: Idempotency,
): Promise<AnyReply> {
  const { params, search, caller, request } = exchange
  const { accept = '', 'last-event-id': lastEventId } = request.headers
  const { route, bytes, parsed, work, upload } = performing
  const { getSignal, end } = watchWork(listener.auth, exchange)
  let gone
  try {
    // without spreads, which every request would pay for
    const call = {
      app: listener.app,
      caller,
      params,
      search,
      accept,
      headers: headersFor(route, request),
      work,
      chargedTo: payerOf(listener, exchange),
      idempotency,
      upload,
      getSignal,
      ending: listener.ending.signal,
      lastEventId: lastEventId?.toString(),
    }
    const chargeMore = (cost: number): void => charge(listener, exchange, cost)
    const reply = await handle(listener.threads, { route, call, bytes, parsed, charge: chargeMore })
    gone = end()
    // completed work is reported even if the caller lost the right meanwhile, as is the done part of a bulk
    if (gone === undefined || !('status' in reply) || reply.status < 400) return reply
  } catch (error) {
    gone = end()
    if (gone === undefined) throw error
  }
  throw gone
}

/** A request that is answered line by line runs until its last line. */
function holdUntilClosed({ response }: Exchange, held: Disposable): void {
  if (response.closed) held[Symbol.dispose]()
  else response.once('close', () => held[Symbol.dispose]())
}

function headersFor(route: Route, { headers }: IncomingMessage): Params {
  if (!route.headers) return NO_HEADERS
  const read: Record<string, string | undefined> = {}
  for (const name of lowerCaseNames(route.headers)) read[name] = headers[name]?.toString()
  return read
}

const lowerCaseNames = memoized((headers: NonNullable<Route['headers']>) =>
  headers.map(({ name }) => name.toLowerCase()),
)

const NO_HEADERS: Params = {}

async function bodyOf({ limits, auth }: Listener, exchange: Exchange, held: Holding): Promise<Buffer> {
  const { request, response } = exchange
  checkBodyHeaders(request, limits)
  if (request.headers.expect !== undefined) response.writeContinue()
  const identifiedAt = performance.now()
  const bytes = await readBody(request, limits, held)
  if (performance.now() - identifiedAt > TRUSTED_MS) await recheck(auth, exchange)
  return bytes
}
