/**
 * Selects the thread of a request. The main thread processes small requests. A request with a large body, or one that
 * exceeds the step budget of the main thread, is started again in a worker thread; it has written and sent nothing before.
 */
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import type { Limits } from '../../base/limits.ts'
import { INLINE_STEPS, TooMuchForThisThread, Work, during } from '../../base/work/work.ts'
import type { Idempotency } from '../../service/idempotency.ts'
import type { Offload, RenderEvent, Target } from '../../service/service.ts'
import type { RenderForSink } from '../../service/sink-service.ts'
import type { ImportOutcome, OffloadRecord } from '../routes/import-record.ts'
import type { AnyReply, Call, Reply, Route } from '../routes/route.ts'
import type { CallerMessage, ReplyMessage, Task } from './messages.ts'
import type { Job, Threads } from './pool.ts'

/**
 * Bodies up to this size are parsed and checked within a few milliseconds, whatever their content. The limit of metadata
 * is lower, because metadata is also compiled and compared with other versions.
 */
const INLINE_BODY_BYTES = { data: 128 * 1024, metadata: 16 * 1024 }

/** The main thread reads streams, so it also parses their requests. */
export const MAX_STREAM_BODY_BYTES = 1024 * 1024
/** So many values are parsed and collected as garbage within a few milliseconds; a find needs far fewer. */
export const MAX_STREAM_BODY_VALUES = 50_000

/** `maxBytes` replaces the default limits where it is given. */
export function isLargeFor({ tag }: Route, bytes: Uint8Array, maxBytes: number | undefined): boolean {
  return bytes.length > (maxBytes ?? INLINE_BODY_BYTES[tag === 'metadata' ? 'metadata' : 'data'])
}

export interface Request {
  readonly route: Route
  readonly call: Omit<Call, 'body' | 'offload' | 'offloadRecord'> & { readonly chargedTo: string }
  /** The raw body. */
  readonly bytes: Uint8Array
  /** The parsed body; absent where it is too large for the main thread. */
  readonly parsed: { readonly value: Json | undefined } | undefined
  readonly charge: (cost: number) => void
}

/** Whether worker threads can process it: they serve documents, metadata and dead letters, in complete responses only. */
export function isOffloadable({ tag, operationId }: Route): boolean {
  if (tag === 'data') return operationId !== 'lock'
  return tag === 'metadata' || tag === 'documents' || DEAD_LETTERS.has(operationId)
}

const DEAD_LETTERS: ReadonlySet<string> = new Set(['deadLetters', 'deadLetter'])

export async function handle(threads: Threads | undefined, request: Request): Promise<AnyReply> {
  const { route, call, parsed } = request
  const isAlone = !threads || !isOffloadable(route)
  const elsewhere = (): Promise<Reply> => offloadRoute(threads!, request)
  if (!parsed) return await elsewhere()
  const offload = isAlone ? undefined : offloadOperation(threads, request)
  const ofRecord = isAlone ? undefined : offloadRecord(threads, request)
  const attempt = (work: Work): AnyReply | Promise<AnyReply> =>
    during(work, () => route.handle({ ...call, work, offload, offloadRecord: ofRecord, body: parsed.value }))
  try {
    return await attempt(call.work)
  } catch (error) {
    if (!(error instanceof TooMuchForThisThread) || isAlone) throw error
    return route.occupies?.(call) === 'streams' ? await streamAgain(call.work, attempt) : await elsewhere()
  }
}

/** Parts of the language take long when they are first used, such as patterns that ignore case, and only then. */
async function streamAgain(
  work: Work,
  attempt: (work: Work) => AnyReply | Promise<AnyReply>,
): Promise<AnyReply> {
  await new Promise(setImmediate)
  try {
    return await attempt(work.part({ steps: INLINE_STEPS }))
  } catch (error) {
    throw error instanceof TooMuchForThisThread ? tooMuchToStream() : error
  }
}

/** The main thread reads streams, so the work before the first document must fit its step budget. */
function tooMuchToStream(): ServiceError {
  const message =
    'the request is too expensive for a stream; ask for it without "stream", or for something simpler'
  return new ServiceError('store-crud:Timeout', message)
}

async function offloadRoute(threads: Threads, request: Request): Promise<Reply> {
  const { route, call, bytes } = request
  const { params, search, accept, headers, app, idempotency } = call
  const { method, path } = route
  const own = idempotency && { idempotency }
  const task: Task = { kind: 'route', method, path, params, search, accept, headers, ...own }
  const reply = await run(threads, request, { task, body: bytes, work: call.work })
  // makes the change of the worker thread visible to later requests of the main thread
  if (route.tag === 'metadata' && method !== 'GET') await app.service.refresh()
  return replyFrom(reply)
}

/** Offloads a part of a request in progress, such as an entry of a bulk or a document of a stream. */
function offloadOperation(threads: Threads, request: Request): Offload {
  return async (operation, target, body) => {
    const task: Task = { kind: 'operation', operation, ...addressOf(target) }
    const part = { task, body: Buffer.from(JSON.stringify(body)), work: target.work ?? request.call.work }
    const { status, bytes, hasExceededResponse } = await run(threads, request, part)
    return { status, text: textOf(bytes), hasExceededResponse }
  }
}

function offloadRecord(threads: Threads, request: Request): OffloadRecord {
  return async (target, text, { format, upsert, stopsOnError }) => {
    const task: Task = { kind: 'record', write: { format, upsert, stopsOnError }, ...addressOf(target) }
    const { bytes } = await run(threads, request, {
      task,
      body: text,
      work: target.work ?? request.call.work,
    })
    return parseTrusted(textOf(bytes)) as unknown as ImportOutcome
  }
}

/** The part of a target that a thread needs; the rest of it stays with the request. */
function addressOf({
  entity,
  version,
  idempotency,
}: Target): Pick<Target, 'entity' | 'version'> & { readonly idempotency?: Idempotency } {
  return { entity, ...(version !== undefined && { version }), ...(idempotency && { idempotency }) }
}

/** Renders events in worker threads. One that still waits for a thread when its last reader leaves is never rendered. */
export function offloadEvents(threads: Threads, { queryTimeMs }: Limits): RenderEvent {
  return async (event, caller, signal = NEVER) => {
    const task: Task = { kind: 'event', ...event }
    const chargedTo = `reader ${caller.principal}`
    const { bytes, epoch } = await threads.run(
      rendering(task, caller, { chargedTo, signal, timeLimitMs: queryTimeMs }),
    )
    return { text: textOf(bytes), epoch: epoch! }
  }
}

/**
 * Renders events for sinks in worker threads. No caller waits for them: all sinks share one account, and a low time limit
 * for requests is none for them.
 */
export function offloadSinkEvents(threads: Threads, { queryTimeMs }: Limits): RenderForSink {
  const timeLimitMs = Math.max(queryTimeMs, SINK_TIME_LIMIT_MS)
  return async (event, caller, signal) => {
    const task: Task = { kind: 'sink event', event }
    const job = rendering(task, caller, { chargedTo: 'sinks', signal, timeLimitMs })
    return textOf((await threads.run(job)).bytes)
  }
}

/** While the threads end. */
export const renderLater: RenderForSink = () =>
  Promise.reject(new ServiceError('crud:Unavailable', 'the server ends'))

const SINK_TIME_LIMIT_MS = 60_000
const NEVER = new AbortController().signal

interface RenderingOptions extends Pick<Job, 'chargedTo' | 'signal'> {
  readonly timeLimitMs: number
}

function rendering(task: Task, caller: Caller, { timeLimitMs, ...options }: RenderingOptions): Job {
  return {
    task,
    body: new Uint8Array(),
    work: new Work({ timeLimitMs }),
    caller: callerMessage(caller),
    mayWrite: false,
    charge: () => undefined,
    ...options,
  }
}

function textOf({ buffer, byteOffset, length }: Uint8Array): string {
  return Buffer.from(buffer, byteOffset, length).toString('utf8')
}

interface Part {
  readonly task: Task
  readonly body: Uint8Array
  readonly work: Work
}

const READS = new Set(['find', 'aggregate', 'explain', 'line'])

function run(
  threads: Threads,
  { call, charge, route }: Request,
  { task, body, work }: Part,
): Promise<ReplyMessage> {
  return threads.run({
    task,
    body,
    work,
    caller: callerMessage(call.caller),
    chargedTo: call.chargedTo,
    signal: call.getSignal(),
    mayWrite: task.kind === 'operation' ? !READS.has(task.operation) : !route.isRead,
    charge,
  })
}

function callerMessage({ principal, roles, permissions, claims }: Caller): CallerMessage {
  return { principal, roles: [...roles], permissions: [...permissions], claims: JSON.stringify(claims) }
}

function replyFrom({ status, bytes, type, headers }: ReplyMessage): Reply {
  return { status, text: bytes, ...(type !== undefined && { type }), ...(headers && { headers }) }
}
