/**
 * The entry point of a worker thread: a second copy of the service, which processes one request at a time. It runs the same
 * code on the same data, with a time limit but no step budget, and may be terminated at any time.
 */
import { getHeapStatistics } from 'node:v8'
import { parentPort, workerData } from 'node:worker_threads'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { lowerThreadPriority } from '../../base/work/thread-priority.ts'
import { Work, during } from '../../base/work/work.ts'
import { openThreadService } from '../../service/open.ts'
import type { Answer } from '../../service/idempotency.ts'
import { type DataResponse, httpStatusOf, printResponse } from '../../service/response.ts'
import type { Service, Target } from '../../service/service.ts'
import type { Loan } from '../../base/work/loan.ts'
import { parseRecord } from '../../records/read.ts'
import { parseBody } from '../body.ts'
import { formFor } from '../compatibility.ts'
import { type ImportOutcome, bodyOf, operationOf } from '../routes/import-record.ts'
import type { App, Reply, Route } from '../routes/route.ts'
import { ROUTES } from '../routes/routes.ts'
import {
  type CallerMessage,
  type FromThread,
  type JobMessage,
  type Refusal,
  type ReplyMessage,
  type Task,
  type ThreadData,
  type ToThread,
  errorFrom,
  refusalOf,
} from './messages.ts'

const { datasources, limits, compatibility } = workerData as ThreadData
const port = parentPort!
lowerThreadPriority(15)
const loans = new Map<number, (loan: Loan) => void>()
let loansMade = 0
let onCharged: ((refusal: Refusal | undefined) => void) | undefined

const service = openThreadService({
  datasources,
  limits,
  ...formFor(compatibility, (message) => post({ kind: 'warning', message })),
  borrow: (datasource) => borrow(datasource),
  onInternalError: (error) => post({ kind: 'internal error', error }),
  onStoreTiming: (operation, seconds) => post({ kind: 'timing', operation, seconds }),
  onSlow: (slow) => post({ kind: 'slow', slow }),
})

// Another thread may succeed later: the database may be out of reach only now.
service.catch(() => post({ kind: 'unusable' }))

port.on('message', (message: ToThread) => {
  switch (message.kind) {
    case 'job':
      void answer(message)
      break
    case 'lent':
      loans.get(message.loan)!({
        lastVersion: message.lastVersion,
        giveBack: (written) => post({ kind: 'give back', loan: message.loan, written }),
      })
      loans.delete(message.loan)
      break
    case 'charged':
      onCharged?.(message.refusal)
      break
  }
})

function borrow(datasource: string): Promise<Loan> {
  const loan = loansMade++
  const { promise, resolve } = Promise.withResolvers<Loan>()
  loans.set(loan, resolve)
  post({ kind: 'borrow', loan, datasource })
  return promise
}

async function answer(job: JobMessage): Promise<void> {
  try {
    const opened = await service
    await opened.refresh(job.epoch)
    const reply = await run(opened, job)
    post({ kind: 'reply', reply, heapBytes: heapBytes() }, [reply.bytes.buffer as ArrayBuffer])
  } catch (error) {
    if (error instanceof ServiceError) {
      post({ kind: 'refused', refusal: refusalOf(error), heapBytes: heapBytes() })
    } else post({ kind: 'failed', error })
  }
}

async function run(opened: Service, job: JobMessage): Promise<ReplyMessage> {
  const { task, cancelled, timeLimitMs, responseBytes, requestTime } = job
  const work = new Work({
    timeLimitMs,
    responseBytes,
    requestTime,
    isCancelled: () => Atomics.load(cancelled, 0) === 1,
    onTimeLimit: (ms) => post({ kind: 'time limit', timeLimitMs: ms }),
  })
  const caller = callerFrom(job.caller)
  if (task.kind === 'event') {
    const { text, epoch } = await opened.events.render(task, caller)
    return { ...replyMessage({ status: 200, text }, work), epoch }
  }
  if (task.kind === 'sink event') {
    const text = during(work, () => opened.sinks.render(task.event, caller))
    return replyMessage({ status: 200, text }, work)
  }
  if (task.kind === 'record') {
    const text = await importRecord(opened, { caller, target: targetOf(task, work), task, text: job.body })
    return replyMessage({ status: 200, text }, work)
  }
  const body = during(work, () => parseBody(job.body, limits))
  if (task.kind === 'route') {
    const route = routeOf(task)
    await charge(route, body)
    const reply = await route.handle({
      // offloadable routes use no other member
      app: { service: opened } as App,
      caller,
      params: task.params,
      search: task.search,
      body,
      accept: task.accept,
      headers: task.headers,
      work,
      getSignal: () => NEVER,
      ending: NEVER,
      lastEventId: undefined,
      ...(task.idempotency && { idempotency: task.idempotency }),
    })
    return replyMessage(reply as Reply, work)
  }
  const operation = { caller, target: targetOf(task, work), body }
  return replyMessage(await runOperation(opened, task.operation, operation), work)
}

function targetOf(
  { entity, version, idempotency }: Extract<Task, { readonly entity: string }>,
  work: Work,
): Target {
  return {
    entity,
    ...(version !== undefined && { version }),
    ...(idempotency && { idempotency }),
    work,
  }
}

interface Importing {
  readonly caller: Caller
  readonly target: Target
  readonly task: Extract<Task, { readonly kind: 'record' }>
  readonly text: Uint8Array
}

/** Parses within the limits of a record, and reports its faults as those of a record. */
async function importRecord(
  opened: Service,
  { caller, target, task: { write }, text }: Importing,
): Promise<string> {
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.length)
  const record = during(target.work!, () => parseRecord(write.format, bytes, { maxDepth: limits.nesting }))
  if ('problem' in record) {
    return JSON.stringify({ modifiedCount: 0, problem: record.problem } satisfies ImportOutcome)
  }
  const body = bodyOf([record.document], write)
  return (await runOperation(opened, operationOf(write), { caller, target, body })).text
}

interface Operation {
  readonly caller: Caller
  readonly target: Target
  readonly body: Json | undefined
}

async function runOperation({ data, once }: Service, name: string, operation: Operation): Promise<Answer> {
  const { caller, target, body } = operation
  switch (name) {
    case 'line':
      return { status: 200, text: await data.line(caller, target, body) }
    case 'generate': {
      const { field, n } = body as { readonly field: string; readonly n?: number }
      return answerOf(await data.generate(caller, target, field, n === undefined ? n : String(n)))
    }
    case 'insert':
    case 'save':
    case 'update':
    case 'delete': {
      const { idempotency } = target
      if (!idempotency) return answerOf(await data[name](caller, target, body))
      return await once.data(caller, { operation: name, target, body }, idempotency)
    }
    case 'find':
    case 'aggregate':
    case 'explain':
      return answerOf(await data[name](caller, target, body))
    default:
      throw new Error(`no thread knows the operation ${name}`)
  }
}

function answerOf(response: DataResponse): Answer {
  return { status: httpStatusOf(response), text: printResponse(response) }
}

/** Charges in the main thread, which counts all requests of the caller; the cost is available only after parsing. */
async function charge(route: Route, body: Json | undefined): Promise<void> {
  const cost = route.cost?.(body) ?? 1
  if (cost <= 1) return
  const { promise, resolve } = Promise.withResolvers<Refusal | undefined>()
  onCharged = resolve
  post({ kind: 'charge', cost })
  const refusal = await promise
  if (refusal) throw errorFrom(refusal)
}

const NEVER = new AbortController().signal

function routeOf({ method, path }: Task & { readonly kind: 'route' }): Route {
  return ROUTES.find((route) => route.method === method && route.path === path)!
}

function callerFrom({ principal, roles, permissions, claims }: CallerMessage): Caller {
  return {
    principal,
    roles: new Set(roles),
    permissions: new Set(permissions),
    claims: parseTrusted(claims) as JsonObject,
  }
}

function replyMessage({ status, text, type, headers }: Reply, { hasExceededResponse }: Work): ReplyMessage {
  const bytes = text instanceof Uint8Array ? text : bytesOf(typeof text === 'string' ? text : text.join(''))
  return {
    status,
    bytes,
    hasExceededResponse,
    ...(type !== undefined && { type }),
    ...(headers && { headers }),
  }
}

/** Allocates its own memory: buffers from node's shared pool cannot be transferred. */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array(Buffer.byteLength(text))
  Buffer.from(bytes.buffer).write(text)
  return bytes
}

function heapBytes(): number {
  return getHeapStatistics().total_heap_size
}

function post(message: FromThread, transfer: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, [...transfer])
}
