/** Bulk: runs many requests as one. Entries run independently, or atomically in one transaction. */
import type { Caller } from '../access/caller.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import { type Json, isObject } from '../base/json/json.ts'
import { yieldEvery } from '../base/work/yield-every.ts'
import { INLINE_STEPS, TooMuchForThisThread, type Work } from '../base/work/work.ts'
import type { Limits } from '../base/limits.ts'
import type { Database } from '../store/database.ts'
import type { TransactionSession } from '../store/store.ts'
import { type Idempotency, type OnceAnswer, partOf, runInParts, runOnce } from './idempotency.ts'
import type { Bulk, BulkEntry, BulkOperation } from './request/bulk-request.ts'
import { type DataResponse, type JsonText, failed, printResponse } from './response.ts'
import type { KeyedOperation, OnceService, RequestContext, Target } from './service.ts'

export type Operations = Readonly<
  Record<BulkOperation, (caller: Caller, target: Target, body: Json) => Promise<DataResponse>>
>

export interface BulkRunner {
  readonly operations: Operations
  /** Datasource of the entity that a request names; throws if the entity does not exist. */
  readonly datasourceOf: (target: Target) => string
  /** Runs operations in one shared transaction, which is rolled back when the work throws. */
  readonly transact: <T>(transaction: Transaction, work: (operations: Operations) => Promise<T>) => Promise<T>
  /** Receives internal errors: the entry fails, the other entries continue. */
  readonly onInternalError: (error: unknown) => void
  /** A response in the form in which it is printed. */
  readonly respond: (response: DataResponse) => DataResponse
}

/** For bulks with an idempotency key. */
export interface KeyedBulkRunner extends BulkRunner {
  /** The operations on the session of an open transaction. */
  readonly operationsIn: (session: TransactionSession, store: Database) => Operations
  readonly once: OnceService['data']
  /** Without a name the default one. */
  readonly storeIn: (datasource: string | undefined) => Database
  readonly limits: Limits
  readonly now: () => Date
}

export interface Transaction {
  readonly datasource: string | undefined
  /** A read-only transaction does not block writers. */
  readonly isReadOnly: boolean
  /** Rolled back in the end. */
  readonly isDryRun?: boolean
  readonly chargedTo?: string | undefined
}

type RunningBulk = Bulk & { readonly context: RequestContext & { readonly work: Work } }

/** The responses of all entries together are limited to the size of one response. */
export async function bulk(runner: BulkRunner, caller: Caller, request: RunningBulk): Promise<JsonText> {
  const { entries } = request
  const texts = request.atomic
    ? printAll(runner, await runTogether(runner, caller, request))
    : await runSeparately(runner, caller, request)
  return listed(entries, texts)
}

/** The context has an idempotency key. */
export async function bulkOnce(
  runner: KeyedBulkRunner,
  caller: Caller,
  request: RunningBulk,
): Promise<OnceAnswer> {
  const { entries, context } = request
  // A dry run writes nothing, so there is nothing to keep.
  if (request.isDryRun) return { status: 200, text: await bulk(runner, caller, request), isRepeated: false }
  const asked = { ...context.idempotency!, caller: caller.principal, chargedTo: context.chargedTo }
  const { storeIn, limits, now } = runner
  if (!request.atomic) {
    return await runInParts({ store: storeIn(undefined), limits, now }, asked, async () => ({
      status: 200,
      text: listed(entries, await runSeparately(runner, caller, request)),
    }))
  }
  const datasource = entries.map((entry) => datasourceOf(runner, entry)).find((each) => each !== undefined)
  const store = storeIn(datasource)
  try {
    return await runOnce({ store, limits, now }, asked, async (session) => {
      const transact: BulkRunner['transact'] = (_, work) => work(runner.operationsIn(session, store))
      const responses = await runTogether({ ...runner, transact }, caller, request)
      if (responses.some(({ status }) => status !== 'COMPLETE')) throw new RolledBack(responses)
      return { status: 200, text: listed(entries, printAll(runner, responses)) }
    })
  } catch (error) {
    if (!(error instanceof RolledBack)) throw error
    return { status: 200, text: listed(entries, printAll(runner, error.responses)), isRepeated: false }
  }
}

function printAll(runner: BulkRunner, responses: readonly DataResponse[]): readonly JsonText[] {
  return responses.map((each) => printResponse(runner.respond(each)))
}

function listed(entries: readonly BulkEntry[], texts: readonly JsonText[]): JsonText {
  const responses = texts.map((text, i) => `{"seq":${entries[i]!.seq},"response":${text}}`)
  return `{"responses":[${responses.join(',')}]}`
}

/**
 * Which entries fit into the response depends only on their order, never on which of them finishes first.
 * Therefore concurrent entries get equal slices of the response. An entry that exceeds its slice runs again
 * with the remaining bytes once all entries before it are done.
 */
async function runSeparately(
  runner: BulkRunner,
  caller: Caller,
  { entries: given, ordered, context, isDryRun }: RunningBulk,
): Promise<readonly JsonText[]> {
  const entries = isDryRun ? given.map(asDryRun) : given
  const { maxResponseBytes } = context.work
  const slice = Math.floor(maxResponseBytes / SIDE_BY_SIDE)
  const rest = yieldEvery(SLICE_MS)
  const texts: JsonText[] = []
  let left = maxResponseBytes
  for (const group of groupsOf(entries, ordered)) {
    const responseBytes = group.length === 1 ? left : Math.min(slice, left)
    const running: Promise<Result>[] = []
    for (const entry of group) {
      await rest()
      running.push(
        left === 0
          ? notBegun(maxResponseBytes, runner)
          : runOne(entry, { runner, caller, context, responseBytes }),
      )
    }
    for (const [i, result] of (await Promise.all(running)).entries()) {
      const isCut = result.isTooLarge && responseBytes < left
      const final = isCut ? await runOne(group[i]!, { runner, caller, context, responseBytes: left }) : result
      // The result of a write is always reported, because the write has happened.
      const fits = final.text.length <= left || final.isTooLarge || isWrite(group[i]!)
      texts.push(fits ? final.text : (await notBegun(maxResponseBytes, runner)).text)
      if (fits) left = Math.max(0, left - final.text.length)
    }
  }
  return texts
}

/** Each entry is a dry run of its own, so no entry sees what another one would write. */
function asDryRun({ seq, task }: BulkEntry): BulkEntry {
  if (task instanceof ServiceError || task.operation === 'find' || task.operation === 'explain')
    return { seq, task }
  const { request } = task
  const { execution } = request
  // The entry itself reports an execution that is none.
  if (execution !== undefined && execution !== null && !isObject(execution)) return { seq, task }
  const dry = { ...execution, dryRun: true }
  return { seq, task: { ...task, request: { ...request, execution: dry } } }
}

/** Entries that only await each other never yield to the event loop, so starting them does. */
const SLICE_MS = 10

/** Limits concurrent entries, because a bulk is one request among many. */
const SIDE_BY_SIDE = 16

/** In an ordered bulk, writes and generated values run one after the other; reads between them run concurrently. */
function* groupsOf(entries: readonly BulkEntry[], ordered: boolean): Generator<readonly BulkEntry[]> {
  let group: BulkEntry[] = []
  for (const entry of entries) {
    const isAlone = ordered && (isWrite(entry) || generates(entry))
    if (group.length > 0 && (isAlone || group.length === SIDE_BY_SIDE)) {
      yield group
      group = []
    }
    group.push(entry)
    if (!isAlone) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}

interface Separately {
  readonly runner: BulkRunner
  readonly caller: Caller
  readonly context: RunningBulk['context']
  /** Maximum size of the entry's response. */
  readonly responseBytes: number
}

interface Result {
  readonly text: JsonText
  readonly isTooLarge: boolean
}

async function runOne(
  entry: BulkEntry,
  { runner, caller, context, responseBytes }: Separately,
): Promise<Result> {
  // Each entry gets the same step budget on this thread as a request of its own.
  const steps = context.work.isInline ? { steps: INLINE_STEPS } : {}
  const work = context.work.part({ ...steps, responseBytes })
  try {
    const own = partContext(context, entry, work)
    if (own.idempotency && isKeyed(runner)) return await runKeyed(entry, runner, { caller, context: own })
    const response = await runEntry(entry, runner.operations, { caller, context: own })
    return { text: printResponse(runner.respond(response)), isTooLarge: work.hasExceededResponse }
  } catch (error) {
    const isElsewhere = error instanceof TooMuchForThisThread && context.offload
    const result = isElsewhere
      ? runElsewhere(entry, partContext(context, entry, work))
      : Promise.reject(error)
    return await result.catch((problem: unknown) => failure(problem, runner))
  }
}

/** Each write of a bulk has a part of its key. */
function partContext(
  { idempotency, ...context }: RunningBulk['context'],
  entry: BulkEntry,
  work: Work,
): RunningBulk['context'] {
  const own = idempotency && isWrite(entry) ? { idempotency: partOf(idempotency, entry.seq) } : {}
  return { ...context, work, ...own }
}

function isKeyed(runner: BulkRunner): runner is KeyedBulkRunner {
  return 'once' in runner
}

async function runKeyed({ task }: BulkEntry, runner: KeyedBulkRunner, asking: Asking): Promise<Result> {
  if (task instanceof ServiceError) throw task
  const { caller, context } = asking
  const reason = withdrawal(context)
  if (reason) throw reason
  const { offload: _, idempotency, ...own } = context
  const { target, request: body } = task
  const operation = task.operation as KeyedOperation
  const { text } = await runner.once(
    caller,
    { operation, target: { ...own, ...target }, body },
    idempotency as Idempotency,
  )
  return { text, isTooLarge: context.work?.hasExceededResponse ?? false }
}

async function runElsewhere(
  { task }: BulkEntry,
  { offload, work, idempotency }: RequestContext,
): Promise<Result> {
  if (task instanceof ServiceError) throw task
  const target = { ...task.target, ...(work && { work }), ...(idempotency && { idempotency }) }
  const { text, hasExceededResponse } = await offload!(task.operation, target, task.request)
  return { text, isTooLarge: hasExceededResponse }
}

function failure(error: unknown, { onInternalError, respond }: BulkRunner): Result {
  const isForeseen = error instanceof ServiceError
  if (!isForeseen) onInternalError(error)
  const problem = isForeseen ? error : internalError()
  return { text: printResponse(respond(failed(problem.within('bulk')))), isTooLarge: false }
}

async function notBegun(maxBytes: number, { respond }: BulkRunner): Promise<Result> {
  return { text: printResponse(respond(failed(tooLarge(maxBytes).within('bulk')))), isTooLarge: true }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the answers of the bulk together are larger than ${maxBytes} bytes; send fewer requests in one, or ask for less`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

function isWrite({ task }: BulkEntry): boolean {
  if (task instanceof ServiceError) return false
  return !READS.has(task.operation)
}

/** It writes no document, but moves a sequence on. */
function generates({ task }: BulkEntry): boolean {
  return !(task instanceof ServiceError) && task.operation === 'generate'
}

const READS: ReadonlySet<BulkOperation> = new Set(['find', 'aggregate', 'explain', 'generate'])

/** Thrown to roll back the transaction; carries the responses of the entries. */
class RolledBack extends Error {
  readonly responses: readonly DataResponse[]

  constructor(responses: readonly DataResponse[]) {
    super('an entry of an atomic bulk failed')
    this.responses = responses
  }
}

/** Work that is too much for this thread rolls back the transaction; a worker thread then runs the whole bulk. */
async function runTogether(
  runner: BulkRunner,
  caller: Caller,
  { entries, context, isDryRun }: RunningBulk,
): Promise<readonly DataResponse[]> {
  const datasources = entries.map((entry) => datasourceOf(runner, entry))
  const datasource = datasources.find((each) => each !== undefined)
  const allBut = (i: number, response: DataResponse): readonly DataResponse[] =>
    entries.map((_, k) => (k === i ? response : rolledBack()))
  // One transaction cannot span two databases, so the bulk fails before it begins.
  const stray = datasources.findIndex((each) => each !== undefined && each !== datasource)
  if (stray >= 0) return allBut(stray, failed(elsewhere().within('bulk')))
  try {
    const isReadOnly = !entries.some(isWrite)
    const { chargedTo } = context
    return await runner.transact({ datasource, isReadOnly, isDryRun, chargedTo }, async (operations) => {
      const responses: DataResponse[] = []
      for (const [i, entry] of entries.entries()) {
        const response = await runEntry(entry, operations, { caller, context })
        if (response.status !== 'COMPLETE') throw new RolledBack(allBut(i, withoutEffect(response)))
        responses.push(response)
      }
      return responses
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.responses
    throw error
  }
}

/** Undefined if the entry cannot run at all; the entry reports the reason when it is run. */
function datasourceOf(runner: BulkRunner, { task }: BulkEntry): string | undefined {
  if (task instanceof ServiceError) return undefined
  try {
    return runner.datasourceOf(task.target)
  } catch (error) {
    if (error instanceof ServiceError) return undefined
    throw error
  }
}

export function elsewhere(): ServiceError {
  const message = 'an atomic bulk must stay within one datasource, and this entity is in another one'
  return new ServiceError('crud:InvalidRequest', message)
}

/** The entry that failed keeps its status and its errors; its documents that did not fail are not stored either. */
function withoutEffect(response: DataResponse): DataResponse {
  const { dryRun: _, ...rest } = response
  return {
    ...rest,
    modifiedCount: 0,
    ...(response.processed && { processed: [] }),
    ...(response.resultMetadata && { resultMetadata: [] }),
  }
}

function rolledBack(): DataResponse {
  const message = 'taken back, or not begun, because another entry of the bulk failed'
  return failed(new ServiceError('crud:Rolledback', message, { context: 'bulk' }))
}

interface Asking {
  readonly caller: Caller
  readonly context: RequestContext
}

async function runEntry(
  { task }: BulkEntry,
  operations: Operations,
  { caller, context }: Asking,
): Promise<DataResponse> {
  if (task instanceof ServiceError) return failed(task)
  const reason = withdrawal(context)
  if (reason) return failed(reason.within('bulk'))
  const { offload: _, ...own } = context
  return await operations[task.operation](caller, { ...own, ...task.target }, task.request)
}

/**
 * The reason why the request was revoked, if any. A mere disconnect has no such reason: the bulk then runs to
 * its end.
 */
function withdrawal({ getSignal }: RequestContext): ServiceError | undefined {
  const signal = getSignal?.()
  return signal?.aborted && signal.reason instanceof ServiceError ? signal.reason : undefined
}
