/** Bulk: many requests in one, each answered as if it had been sent alone, or all of them together or not at all. */
import type { Caller } from '../access/caller.ts'
import { ServiceError, internalError } from '../base/errors.ts'
import type { Json } from '../base/json.ts'
import type { Bulk, BulkEntry, BulkOperation } from './read-bulk.ts'
import { type DataResponse, type JsonText, failed, printResponse } from './response.ts'
import type { Target } from './service.ts'

export type Operations = Readonly<
  Record<BulkOperation, (caller: Caller, target: Target, body: Json) => Promise<DataResponse>>
>

interface BulkRunner {
  readonly operations: Operations
  /** Where the documents are that a request is about; throws where there is no such entity. */
  readonly datasourceOf: (target: Target) => string
  /** Runs work with operations that share one transaction, which is taken back when the work throws. */
  readonly transact: <T>(
    datasource: string | undefined,
    work: (operations: Operations) => Promise<T>,
  ) => Promise<T>
  /** How large all answers together may become; entries whose turn comes after that are not begun. */
  readonly maxBytes: number
  /** Told of what is our fault: the entry fails, the others go on. */
  readonly onInternalError: (error: unknown) => void
}

export async function bulk(runner: BulkRunner, caller: Caller, request: Bulk): Promise<JsonText> {
  const { entries } = request
  const responses = request.atomic
    ? await runTogether(runner, caller, entries)
    : await runApart(runner, caller, request)
  const texts = responses.map(
    (response, i) => `{"seq":${entries[i]!.seq},"response":${printResponse(response)}}`,
  )
  return `{"responses":[${texts.join(',')}]}`
}

/** Counts what the answers hold. Sizes of single answers have a limit of their own. */
function measuring(maxBytes: number) {
  let size = 0
  return async (run: () => Promise<DataResponse>): Promise<DataResponse> => {
    if (size > maxBytes) return failed(tooLarge(maxBytes).within('bulk'))
    const response = await run()
    for (const text of response.processed ?? []) size += text.length
    return response
  }
}

function tooLarge(maxBytes: number): ServiceError {
  const message = `the answers before this one are larger than ${maxBytes} bytes; it was not begun: send fewer requests in one`
  return new ServiceError('crud:ResultSizeTooLarge', message)
}

async function runApart(runner: BulkRunner, caller: Caller, { entries, ordered }: Bulk) {
  const measured = measuring(runner.maxBytes)
  const run = (entry: BulkEntry): Promise<DataResponse> =>
    measured(() => runOne(entry, runner.operations, caller)).catch((error: unknown) => {
      runner.onInternalError(error)
      return failed(internalError().within('bulk'))
    })
  return ordered ? await runInOrder(entries, run) : await sideBySide(entries, run)
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
  run: (entry: BulkEntry) => Promise<DataResponse>,
): Promise<readonly DataResponse[]> {
  const responses: DataResponse[] = []
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

async function runTogether(runner: BulkRunner, caller: Caller, entries: readonly BulkEntry[]) {
  const datasources = entries.map((entry) => datasourceOf(runner, entry))
  const datasource = datasources.find((each) => each !== undefined)
  const allBut = (i: number, response: DataResponse): readonly DataResponse[] =>
    entries.map((_, k) => (k === i ? response : rolledBack()))
  // one transaction cannot span two databases, so nothing is begun
  const stray = datasources.findIndex((each) => each !== undefined && each !== datasource)
  if (stray >= 0) return allBut(stray, failed(elsewhere().within('bulk')))
  try {
    return await runner.transact(datasource, async (operations) => {
      const responses: DataResponse[] = []
      const measured = measuring(runner.maxBytes)
      for (const [i, entry] of entries.entries()) {
        const response = await measured(() => runOne(entry, operations, caller))
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

async function runOne({ task }: BulkEntry, operations: Operations, caller: Caller): Promise<DataResponse> {
  if (task instanceof ServiceError) return failed(task)
  const reason = withdrawal(task.target)
  if (reason) return failed(reason.within('bulk'))
  return await operations[task.operation](caller, task.target, task.request)
}

/** Why the caller may no longer ask. One who merely hung up gives no such reason, and what was asked is done. */
function withdrawal({ hangUp }: Target): ServiceError | undefined {
  const signal = hangUp?.()
  return signal?.aborted && signal.reason instanceof ServiceError ? signal.reason : undefined
}
