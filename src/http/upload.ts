/** The body of a request that is processed while it arrives, in constant memory, whatever its size. */
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../base/errors.ts'
import type { Limits } from '../base/limits.ts'
import { timerMs } from '../base/work/timer.ts'
import { INLINE_STEPS, Work } from '../base/work/work.ts'
import { Aborted, checkEncoding, tooSlow, MIN_BYTES } from './body.ts'
import type { Exchange } from './exchange.ts'
import type { Upload } from './routes/route.ts'

const uploads = new WeakSet<IncomingMessage>()

/** Whether a request is an upload in progress: it may take longer than requests may otherwise. */
export function isUpload(request: IncomingMessage): boolean {
  return uploads.has(request)
}

/** What one upload may have in memory: a chunk, a batch of documents, and its response. */
export const UPLOAD_BYTES = 4 * 1024 * 1024

/** How long the rest of a body is read after the response, so that the caller can receive it. */
const GRACE_MS = 1_000

export function openUpload({ request, response }: Exchange, limits: Limits, hasThreads: boolean): Upload {
  checkEncoding(request)
  uploads.add(request)
  if (request.headers.expect !== undefined) response.writeContinue()
  response.once('close', () => {
    uploads.delete(request)
    if (!request.complete) setTimeout(() => request.destroy(), GRACE_MS).unref()
  })
  const steps = hasThreads ? { steps: INLINE_STEPS } : {}
  return {
    type: (request.headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase(),
    chunks: chunksOf(request, limits.uploadStallMs),
    maxDepth: limits.nesting,
    startWork: () =>
      new Work({ timeLimitMs: limits.queryTimeMs, responseBytes: limits.resultBytes, ...steps }),
  }
}

/** Only the time in which this side waits for bytes counts: while documents are written, nothing is read. */
async function* chunksOf(request: IncomingMessage, stallMs: number): AsyncGenerator<Uint8Array> {
  const iterator = request[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  let waitedMs = 0
  let bytes = 0
  for (;;) {
    const began = performance.now()
    const next = await withLimit(iterator.next(), stallMs - waitedMs, stallMs)
    if (next.done === true) return
    waitedMs += performance.now() - began
    bytes += next.value.length
    if (bytes >= MIN_BYTES) {
      bytes = 0
      waitedMs = 0
    }
    yield next.value
  }
}

async function withLimit<T>(next: Promise<T>, ms: number, stallMs: number): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(tooSlow(stallMs)), timerMs(Math.max(1, ms))).unref()
  // when the time is over, nobody waits for the rest
  next.catch(() => undefined)
  try {
    return await Promise.race([next, promise])
  } catch (error) {
    throw error instanceof ServiceError ? error : new Aborted()
  } finally {
    clearTimeout(timer)
  }
}
