/** Sends a batch of an import, and finds out which of its records failed and why. */
import { type Json, type JsonObject, isArray, member } from '../../base/json/json.ts'
import type { GoodRecord, SourceRecord } from '../../records/record.ts'
import type { Client } from '../client/client.ts'
import { RefusedRequest, textIn } from '../client/failure.ts'
import { dataPath } from '../client/request-parts.ts'
import { Exit } from '../exit.ts'

export interface Sender {
  readonly client: Client
  readonly entity: string
  readonly version: string | undefined
  readonly upsert: boolean
  /** Whether a batch with a failure is not stored at all. */
  readonly isAtomic: boolean
}

export interface Failure {
  readonly record: SourceRecord
  readonly errors: readonly Json[]
}

export async function sendBatch(
  sender: Sender,
  records: readonly SourceRecord[],
  key: string,
): Promise<readonly Failure[]> {
  const unreadable = records.flatMap((record): readonly Failure[] =>
    'problem' in record
      ? [{ record, errors: [{ errorCode: 'crud:InvalidRequest', msg: record.problem }] }]
      : [],
  )
  const good = records.filter((record): record is GoodRecord => 'document' in record)
  if (good.length === 0 || (sender.isAtomic && unreadable.length > 0)) return unreadable
  const failures = await store(sender, good, key)
  return [...unreadable, ...failures].sort((a, b) => a.record.line - b.record.line)
}

async function store(sender: Sender, good: readonly GoodRecord[], key: string): Promise<readonly Failure[]> {
  try {
    return await ask(sender, good, { key })
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error
    if (error.errorCode === 'crud:BodyTooLarge') return [tooLarge(error, good)]
    if (error.errorCode === 'crud:ResultSizeTooLarge')
      return await storeOtherwise(sender, good, { key, error })
    throw error
  }
}

interface Refusal {
  readonly key: string
  readonly error: RefusedRequest
}

/**
 * The errors are more than the service stores with a key, so it has written nothing. Where nothing is to be written, a
 * dry run, whose answer may be larger, tells the failures. Otherwise each half is sent: under a key of its own, so that
 * a repetition of the whole batch, which is refused again, does not store them twice.
 */
async function storeOtherwise(
  sender: Sender,
  good: readonly GoodRecord[],
  { key, error }: Refusal,
): Promise<readonly Failure[]> {
  const [first] = good as readonly [GoodRecord]
  if (sender.isAtomic || good.length === 1) {
    const failures = await ask(sender, good, { isDryRun: true })
    if (failures.length > 0) return failures
    if (good.length > 1) throw error
    return [failureOf(first, error.errorCode, error.message)]
  }
  const middle = Math.ceil(good.length / 2)
  return [
    ...(await store(sender, good.slice(0, middle), `${key}.0`)),
    ...(await store(sender, good.slice(middle), `${key}.1`)),
  ]
}

interface Asking {
  readonly key?: string
  readonly isDryRun?: boolean
}

async function ask(
  { client, entity, version, upsert, isAtomic }: Sender,
  good: readonly GoodRecord[],
  { key, isDryRun = false }: Asking,
): Promise<readonly Failure[]> {
  const body: JsonObject = {
    data: good.map(({ document }) => document),
    ...(upsert && { upsert }),
    execution: { positions: true, atomic: isAtomic, ...(isDryRun && { dryRun: true }) },
  }
  const [method, operation] = upsert ? (['POST', 'save'] as const) : (['PUT', 'insert'] as const)
  const headers = key === undefined ? {} : { 'idempotency-key': key }
  return failuresIn(await client.ask(method, dataPath(operation, entity, version), { body, headers }), good)
}

/** The failure of the document, if it is the only one of the request. */
function tooLarge({ code, message }: RefusedRequest, good: readonly GoodRecord[]): Failure {
  const [first, second] = good
  if (second)
    throw new Exit(code, `${message}; use a smaller --batch, or raise limits.bodyBytes of the service`)
  const msg = 'the document is larger than the service takes in one request; limits.bodyBytes is the limit'
  return failureOf(first!, 'crud:BodyTooLarge', msg)
}

function failureOf(record: GoodRecord, errorCode: string, msg: string): Failure {
  return { record, errors: [{ errorCode, msg }] }
}

/** What only shares the fate of a document that failed is left out. */
function failuresIn(answer: Json, good: readonly GoodRecord[]): readonly Failure[] {
  const failed = member(answer, 'dataErrors')
  if (!isArray(failed)) return []
  return failed.flatMap((each) => {
    const own = member(each, 'errors')
    const errors = (isArray(own) ? own : []).filter(
      (error) => textIn(error, 'errorCode') !== 'crud:Rolledback',
    )
    return errors.length === 0 ? [] : [{ record: good[Number(member(each, 'position'))]!, errors }]
  })
}
