/** Bulk: many requests in one, each answered as if it had been sent alone, or all of them together or not at all. */
import type { Caller } from '../access/caller.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import { restEvery } from '../base/rest.ts'
import { INLINE_STEPS, TooMuchForThisThread, type Work } from '../base/work.ts'
import type { Bulk, BulkEntry, BulkOperation } from './read-bulk.ts'
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

/** All answers together are held to the size that one answer may have: they share the budget of the bulk. */
export async function bulk(runner: BulkRunner, caller: Caller, request: RunningBulk): Promise<JsonText> {
  const { entries } = request
  const responses = request.atomic
    ? await runTogether(runner, caller, request)
    : await runApart(runner, caller, request)
  const texts = responses.map((response, i) => `{"seq":${entries[i]!.seq},"response":${printed(response)}}`)
  return `{"responses":[${texts.join(',')}]}`
}

/** Of an entry that another thread has run there is only the text. */
type Answer = DataResponse | JsonText

function printed(answer: Answer): JsonText {
  return typeof answer === 'string' ? answer : printResponse(answer)
}

async function runApart(
  runner: BulkRunner,
  caller: Caller,
  request: RunningBulk,
): Promise<readonly Answer[]> {
  const { entries, ordered, context } = request
  const rest = restEvery(SLICE_MS)
  const run = async (entry: BulkEntry): Promise<Answer> => {
    await rest()
    try {
      return await runOne(entry, runner.operations, { caller, context: entryContext(context) })
    } catch (error) {
      if (error instanceof TooMuchForThisThread && context.offload) return await runElsewhere(entry, context)
      runner.onInternalError(error)
      return failed(internalError().within('bulk'))
    }
  }
  return ordered ? await runInOrder(entries, run) : await sideBySide(entries, run)
}

/** Entries that wait for each other without a turn of the event loop would keep it all the same. */
const SLICE_MS = 10

/** Each entry may keep this thread for as long as a request that is sent alone. */
function entryContext({ work, ...context }: RunningBulk['context']): RequestContext {
  return { ...context, work: work.part(work.isInline ? { steps: INLINE_STEPS } : {}) }
}

async function runElsewhere({ task }: BulkEntry, context: RunningBulk['context']): Promise<Answer> {
  if (task instanceof ServiceError) return failed(task)
  try {
    const text = await context.offload!(task.operation, task.target, task.request)
    context.work.reserveAnswer(text.length, tooLarge)
    return text
  } catch (error) {
    if (error instanceof ServiceError) return failed(error.within('bulk'))
    throw error
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the answers of the bulk together are larger than ${maxBytes} bytes; send fewer requests in one, or ask for less`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

/** Some at a time: a bulk is one of many requests. */
const SIDE_BY_SIDE = 16

async function sideBySide<T, R>(items: readonly T[], run: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const left = items.entries()
  const worker = async (): Promise<void> => {
    for (const [i, item] of left) results[i] = await run(item)
  }
  await Promise.all(Array.from({ length: Math.min(SIDE_BY_SIDE, items.length) }, worker))
  return results
}

/** Writes run one after the other, the reads between two writes side by side. */
async function runInOrder(
  entries: readonly BulkEntry[],
  run: (entry: BulkEntry) => Promise<Answer>,
): Promise<readonly Answer[]> {
  const responses: Answer[] = []
  let reads: BulkEntry[] = []
  for (const entry of entries) {
    if (!isWrite(entry)) reads.push(entry)
    else {
      responses.push(...(await sideBySide(reads, run)), await run(entry))
      reads = []
    }
  }
  return [...responses, ...(await sideBySide(reads, run))]
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
): Promise<readonly Answer[]> {
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
        const response = await runOne(entry, operations, { caller, context })
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

async function runOne(
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
function withdrawal({ hangUp }: RequestContext): ServiceError | undefined {
  const signal = hangUp?.()
  return signal?.aborted && signal.reason instanceof ServiceError ? signal.reason : undefined
}
