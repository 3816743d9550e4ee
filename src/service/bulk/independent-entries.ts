/** Runs the entries of a bulk independently: an entry that fails does not stop the others. */
import type { Caller } from '../../access/caller.ts'
import { ServiceError, internalError } from '../../base/errors.ts'
import { isObject } from '../../base/json/json.ts'
import { INLINE_STEPS, TooMuchForThisThread, type Work } from '../../base/work/work.ts'
import { yieldEvery } from '../../base/work/yield-every.ts'
import { type Answer, type Idempotency, partOf } from '../idempotency.ts'
import type { BulkEntry } from '../request/bulk-request.ts'
import { type DataResponse, failed, httpStatusOf, printResponse } from '../response.ts'
import type { KeyedOperation, RequestContext } from '../service.ts'
import {
  type Asking,
  type BulkRunner,
  type KeyedBulkRunner,
  type RunningBulk,
  generates,
  isWrite,
  runEntry,
  withdrawal,
} from './entries.ts'
import { overtakenError } from './overtaken-entries.ts'

type IndependentBulk = RunningBulk & {
  /**
   * The `seq` of entries that may not be carried out any more. Each is a dry run, so that its own error is answered if it has
   * one, as to any other repetition.
   */
  readonly overtaken?: ReadonlySet<number>
}

/**
 * Which entries fit into the response depends only on their order, never on which of them finishes first.
 * Therefore concurrent entries get equal slices of the response. An entry that exceeds its slice runs again
 * with the remaining bytes once all entries before it are done.
 */
export async function runIndependently(
  runner: BulkRunner,
  caller: Caller,
  { entries: given, ordered, context, isDryRun, overtaken }: IndependentBulk,
): Promise<readonly Answer[]> {
  const entries = isDryRun ? given.map(asDryRun) : given
  const { maxResponseBytes } = context.work
  const slice = Math.floor(maxResponseBytes / SIDE_BY_SIDE)
  const run = async (entry: BulkEntry, responseBytes: number): Promise<Result> => {
    const asking = { runner, caller, responseBytes }
    if (!overtaken?.has(entry.seq)) return await runOne(entry, { ...asking, context })
    const { idempotency: _, ...unkeyed } = context
    const result = await runOne(asDryRun(entry), { ...asking, context: unkeyed })
    return result.status < 400 ? failure(overtakenError(), runner) : result
  }
  const rest = yieldEvery(SLICE_MS)
  const answers: Answer[] = []
  let left = maxResponseBytes
  for (const group of groupsOf(entries, ordered)) {
    const responseBytes = group.length === 1 ? left : Math.min(slice, left)
    const running: Promise<Result>[] = []
    for (const entry of group) {
      await rest()
      running.push(left === 0 ? notBegun(maxResponseBytes, runner) : run(entry, responseBytes))
    }
    for (const [i, result] of (await Promise.all(running)).entries()) {
      const isCut = result.isTooLarge && responseBytes < left
      const final = isCut ? await run(group[i]!, left) : result
      // The result of a write is always reported, because the write has happened.
      const fits = final.text.length <= left || final.isTooLarge || isWrite(group[i]!)
      answers.push(fits ? final : await notBegun(maxResponseBytes, runner))
      if (fits) left = Math.max(0, left - final.text.length)
    }
  }
  return answers
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

interface Independently {
  readonly runner: BulkRunner
  readonly caller: Caller
  readonly context: RunningBulk['context']
  /** Maximum size of the entry's response. */
  readonly responseBytes: number
}

/** The status is that of the entry as a request of its own. */
interface Result extends Answer {
  readonly isTooLarge: boolean
}

async function runOne(
  entry: BulkEntry,
  { runner, caller, context, responseBytes }: Independently,
): Promise<Result> {
  // Each entry gets the same step budget on this thread as a request of its own.
  const steps = context.work.isInline ? { steps: INLINE_STEPS } : {}
  const work = context.work.part({ ...steps, responseBytes })
  try {
    const own = partContext(context, entry, work)
    if (own.idempotency && isKeyed(runner)) return await runKeyed(entry, runner, { caller, context: own })
    const response = await runEntry(entry, runner.operations, { caller, context: own })
    return printed(runner.respond(response), work.hasExceededResponse)
  } catch (error) {
    const isElsewhere = error instanceof TooMuchForThisThread && context.offload
    const result = isElsewhere
      ? runElsewhere(entry, partContext(context, entry, work))
      : Promise.reject(error)
    return await result.catch((problem: unknown) => failure(problem, runner))
  }
}

/**
 * A printed response is a tree of its parts until it is copied. Copied entry by entry, the responses of a bulk take no
 * long pause at its end.
 */
function printed(response: DataResponse, isTooLarge: boolean): Result {
  const text = Buffer.from(printResponse(response)).toString()
  return { status: httpStatusOf(response), text, isTooLarge }
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
  const { status, text } = await runner.once(
    caller,
    { operation, target: { ...own, ...target }, body },
    idempotency as Idempotency,
  )
  return { status, text, isTooLarge: context.work?.hasExceededResponse ?? false }
}

async function runElsewhere(
  { task }: BulkEntry,
  { offload, work, idempotency }: RequestContext,
): Promise<Result> {
  if (task instanceof ServiceError) throw task
  const target = { ...task.target, ...(work && { work }), ...(idempotency && { idempotency }) }
  const { status, text, hasExceededResponse } = await offload!(task.operation, target, task.request)
  return { status, text, isTooLarge: hasExceededResponse }
}

function failure(error: unknown, { onInternalError, respond }: BulkRunner): Result {
  const isForeseen = error instanceof ServiceError
  if (!isForeseen) onInternalError(error)
  const problem = isForeseen ? error : internalError()
  return printed(respond(failed(problem.within('bulk'))), false)
}

async function notBegun(maxBytes: number, { respond }: BulkRunner): Promise<Result> {
  return printed(respond(failed(tooLarge(maxBytes).within('bulk'))), true)
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the answers of the bulk together are larger than ${maxBytes} bytes; send fewer requests in one, or ask for less`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}
