/** Finds: the page in one statement and, where the page does not determine it, the count in another. */
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import { endsHere } from '../../../plan/plan-properties.ts'
import type { Found, OnDocument } from '../../store.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Row } from '../connection/connections.ts'
import { ResultTooLarge, repeatingLost } from '../connection/failures.ts'
import { FIRST_PIECE, pieces } from '../connection/cursor.ts'
import { MAX_AT_ONCE } from '../connection/collect-rows.ts'
import { type ReadStatements, type Residual, pageDocument } from './reads.ts'

/** The page of a plan that requests one document by its `_id`. */
export function pageOf(document: StoredDocument | undefined, plan: ReadPlan, take: OnDocument): Found {
  const isOnPage = plan.from === 0 && (plan.to ?? 0) >= 0
  if (document && isOnPage) take(document)
  return { matchCount: document && plan.counted ? 1 : 0 }
}

/** A connection may have died while idle in the pool. Repeating is safe as long as no document was passed on. */
export async function repeatingUntaken<T>(
  take: OnDocument,
  work: (take: OnDocument) => Promise<T>,
): Promise<T> {
  let hasTaken = false
  const noting: OnDocument = (document) => {
    hasTaken = true
    take(document)
  }
  return await repeatingLost(
    () => work(noting),
    () => !hasTaken,
  )
}

interface Finding {
  readonly read: ReadStatements
  readonly take: OnDocument
  /** The maximum per piece, where some rows are known to be large. */
  readonly maxRows?: number
}

/**
 * Collects the page in memory, outside of any transaction. Undefined when it is too large; then no document
 * was passed on.
 */
export async function findAtOnce(
  connection: Connection,
  plan: ReadPlan,
  finding: Finding,
): Promise<Found | undefined> {
  const session: SqlSession = { query: (statement) => connection.queryAtMost(MAX_AT_ONCE, statement) }
  try {
    return await findPage(session, plan, finding)
  } catch (error) {
    if (!(error instanceof ResultTooLarge)) throw error
    return undefined
  }
}

/**
 * Inside a transaction, which a cancelled attempt would abort: a page that may be large is read in pieces
 * from the start.
 */
export async function findWithin(session: SqlSession, plan: ReadPlan, finding: Finding): Promise<Found> {
  if (finding.read.residual) return await findByLooking(session, plan, finding)
  const { from, to, joins = [] } = plan
  const isFew = to !== undefined && to - from < FIRST_PIECE && joins.length === 0
  return await (isFew ? findPage : findByPieces)(session, plan, finding)
}

/** Inside a transaction: passes on the documents of the page piece by piece, so that few are in memory at a time. */
export async function findByPieces(
  session: SqlSession,
  plan: ReadPlan,
  { read, take, maxRows }: Finding,
): Promise<Found> {
  let taken = 0
  for await (const rows of pieces(session, read.page, maxRows)) {
    for (const row of rows) take(pageDocument(row))
    taken += rows.length
  }
  if (!plan.counted) return { matchCount: 0 }
  if (endsHere(plan, taken)) return { matchCount: plan.from + taken }
  const [counted] = await session.query(read.count())
  return { matchCount: Number(counted![0]) }
}

/** Page and count in one statement each. */
export async function findPage(session: SqlSession, plan: ReadPlan, { read, take }: Finding): Promise<Found> {
  const { rows, matchCount } = await pageAndCount(session, plan, read)
  // Documents are passed on only after both statements have succeeded: until then, a failed find is repeated.
  for (const row of rows) take(pageDocument(row))
  return { matchCount }
}

interface Counted {
  readonly rows: readonly Row[]
  readonly matchCount: number
}

async function pageAndCount(session: SqlSession, plan: ReadPlan, read: ReadStatements): Promise<Counted> {
  const { text } = read.page
  if (!plan.counted) return { rows: await session.query(read.page), matchCount: 0 }
  const asking = session.query(read.page)
  const counting = lastFull.has(text) ? session.query(read.count()) : undefined
  // The connection is free only when both have ended, even if one fails.
  if (counting) await Promise.allSettled([asking, counting])
  const rows = await asking
  if (endsHere(plan, rows.length)) {
    lastFull.delete(text)
    return { rows, matchCount: plan.from + rows.length }
  }
  if (lastFull.size >= MAX_TEXTS) lastFull.clear()
  lastFull.add(text)
  const [counted] = await (counting ?? session.query(read.count()))
  return { rows, matchCount: Number(counted![0]) }
}

/**
 * Texts of pages that needed a count the last time. For these, page and count are sent together, which saves
 * a round trip.
 */
const lastFull = new Set<string>()
const MAX_TEXTS = 1_000

/** Inside a transaction: evaluates the residual on every candidate, and cuts the page out of the matches. */
async function findByLooking(session: SqlSession, plan: ReadPlan, { read, take }: Finding): Promise<Found> {
  let matchCount = 0
  for await (const document of documentsOf(session, read)) {
    const isOnPage = matchCount >= plan.from && matchCount <= (plan.to ?? Infinity)
    matchCount++
    if (isOnPage) take(document)
    if (!plan.counted && plan.to !== undefined && matchCount > plan.to) break
  }
  return { matchCount: plan.counted ? matchCount : 0 }
}

async function* documentsOf(
  session: SqlSession,
  { page, residual = matchesAll }: { readonly page: ReadStatements['page']; readonly residual?: Residual },
): AsyncGenerator<StoredDocument> {
  for await (const rows of pieces(session, page)) {
    for (const row of rows) {
      const document = pageDocument(row)
      if (residual(document)) yield document
    }
  }
}

const matchesAll: Residual = () => true
