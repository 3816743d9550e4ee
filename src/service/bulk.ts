/** Bulk: many requests in one, each answered as if it had been sent alone, or all of them together or not at all. */
import type { Caller } from '../access/caller.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import type { Json } from '../base/json/json.ts'
import { yieldEvery } from '../base/work/rest.ts'
import { INLINE_STEPS, TooMuchForThisThread, type Work } from '../base/work/work.ts'
import type { Bulk, BulkEntry, BulkOperation } from './request/bulk-request.ts'
import { type DataResponse, type JsonText, failed, printResponse } from './response.ts'
import type { RequestContext, Target } from './service.ts'

export type Operations = Readonly<
  Record<BulkOperation, (caller: Caller, target: Target, body: Json) => Promise<DataResponse>>
>

interface BulkRunner {
  readonly operations: Operations
  /** Where the documents are that a request is about; throws where there is no such entity. */
  readonly datasourceOf: (target: Target) => string
  /** Runs work with operations that share one transaction, which is taken back when the work throws. */
  readonly transact: <T>(transaction: Transaction, work: (operations: Operations) => Promise<T>) => Promise<T>
  /** Told of what is our fault: the entry fails, the others go on. */
  readonly onInternalError: (error: unknown) => void
}

export interface Transaction {
  readonly datasource: string | undefined
  /** Nobody who writes has to wait for it. */
  readonly isReadOnly: boolean
}

type RunningBulk = Bulk & { readonly context: RequestContext & { readonly work: Work } }

/** All answers together are held to the size that one answer may have. */
export async function bulk(runner: BulkRunner, caller: Caller, request: RunningBulk): Promise<JsonText> {
  const { entries } = request
  const texts = request.atomic
    ? (await runTogether(runner, caller, request)).map(printResponse)
    : await runSeparately(runner, caller, request)
  const listed = texts.map((text, i) => `{"seq":${entries[i]!.seq},"response":${text}}`)
  return `{"responses":[${listed.join(',')}]}`
}

/**
 * Which entries find room in the answer depends on their order alone, never on which of them is done first. So entries
 * that run side by side have equal slices of the answer, and one that needs more runs once more when all before it are
 * done, with what is left.
 */
async function runSeparately(
  runner: BulkRunner,
  caller: Caller,
  { entries, ordered, context }: RunningBulk,
): Promise<readonly JsonText[]> {
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
        left === 0 ? notBegun(maxResponseBytes) : runOne(entry, { runner, caller, context, responseBytes }),
      )
    }
    for (const [i, result] of (await Promise.all(running)).entries()) {
      const isCut = result.isTooLarge && responseBytes < left
      const final = isCut ? await runOne(group[i]!, { runner, caller, context, responseBytes: left }) : result
      // What was written is told of in any case.
      const fits = final.text.length <= left || final.isTooLarge || isWrite(group[i]!)
      texts.push(fits ? final.text : (await notBegun(maxResponseBytes)).text)
      if (fits) left = Math.max(0, left - final.text.length)
    }
  }
  return texts
}

/** Entries that wait for each other without a turn of the event loop would keep it all the same. */
const SLICE_MS = 10

/** Some at a time: a bulk is one of many requests. */
const SIDE_BY_SIDE = 16

/** In order, writes run one after the other, and the reads between two writes side by side. */
function* groupsOf(entries: readonly BulkEntry[], ordered: boolean): Generator<readonly BulkEntry[]> {
  let group: BulkEntry[] = []
  for (const entry of entries) {
    const isAlone = ordered && isWrite(entry)
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
  /** What its answer may have. */
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
  // Each entry may keep this thread for as long as a request that is sent alone.
  const steps = context.work.isInline ? { steps: INLINE_STEPS } : {}
  const work = context.work.part({ ...steps, responseBytes })
  try {
    const response = await runEntry(entry, runner.operations, { caller, context: { ...context, work } })
    return { text: printResponse(response), isTooLarge: work.hasExceededResponse }
  } catch (error) {
    const isElsewhere = error instanceof TooMuchForThisThread && context.offload
    const result = isElsewhere ? runElsewhere(entry, { ...context, work }) : Promise.reject(error)
    return await result.catch((problem: unknown) => failure(problem, runner))
  }
}

async function runElsewhere({ task }: BulkEntry, { offload, work }: RequestContext): Promise<Result> {
  if (task instanceof ServiceError) throw task
  const target = { ...task.target, ...(work && { work }) }
  const { text, hasExceededResponse } = await offload!(task.operation, target, task.request)
  return { text, isTooLarge: hasExceededResponse }
}

function failure(error: unknown, { onInternalError }: BulkRunner): Result {
  const isForeseen = error instanceof ServiceError
  if (!isForeseen) onInternalError(error)
  const problem = isForeseen ? error : internalError()
  return { text: printResponse(failed(problem.within('bulk'))), isTooLarge: false }
}

async function notBegun(maxBytes: number): Promise<Result> {
  return { text: printResponse(failed(tooLarge(maxBytes).within('bulk'))), isTooLarge: true }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the answers of the bulk together are larger than ${maxBytes} bytes; send fewer requests in one, or ask for less`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

function isWrite({ task }: BulkEntry): boolean {
  if (task instanceof ServiceError) return false
  return task.operation !== 'find' && task.operation !== 'explain' && task.operation !== 'generate'
}

/** Thrown to take everything back; carries what the entries have to say then. */
class RolledBack extends Error {
  readonly responses: readonly DataResponse[]

  constructor(responses: readonly DataResponse[]) {
    super('an entry of an atomic bulk failed')
    this.responses = responses
  }
}

/** What is too much for this thread takes the transaction back; another thread then runs all of the bulk. */
async function runTogether(
  runner: BulkRunner,
  caller: Caller,
  { entries, context }: RunningBulk,
): Promise<readonly DataResponse[]> {
  const datasources = entries.map((entry) => datasourceOf(runner, entry))
  const datasource = datasources.find((each) => each !== undefined)
  const allBut = (i: number, response: DataResponse): readonly DataResponse[] =>
    entries.map((_, k) => (k === i ? response : rolledBack()))
  // one transaction cannot span two databases, so nothing is begun
  const stray = datasources.findIndex((each) => each !== undefined && each !== datasource)
  if (stray >= 0) return allBut(stray, failed(elsewhere().within('bulk')))
  try {
    const isReadOnly = !entries.some(isWrite)
    return await runner.transact({ datasource, isReadOnly }, async (operations) => {
      const responses: DataResponse[] = []
      for (const [i, entry] of entries.entries()) {
        const response = await runEntry(entry, operations, { caller, context })
        if (response.status !== 'COMPLETE') throw new RolledBack(allBut(i, response))
        responses.push(response)
      }
      return responses
    })
  } catch (error) {
    if (error instanceof RolledBack) return error.responses
    throw error
  }
}

/** Undefined where the entry cannot be run at all; it says why when its turn comes. */
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

/** Why the caller may no longer ask. One who merely hung up gives no such reason, and what was asked is done. */
function withdrawal({ getSignal }: RequestContext): ServiceError | undefined {
  const signal = getSignal?.()
  return signal?.aborted && signal.reason instanceof ServiceError ? signal.reason : undefined
}
