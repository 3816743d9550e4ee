/** Finds: a page in one statement and, where it does not tell, the count in another. */
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import { endsHere } from '../../../plan/about.ts'
import type { Found } from '../../store.ts'
import type { Connection, Row, Session } from '../connection/connections.ts'
import { ResultTooLarge, mayBeStale } from '../connection/failures.ts'
import { FIRST_PIECE, pieces } from '../connection/cursor.ts'
import { MAX_AT_ONCE } from '../connection/collect-rows.ts'
import { type ReadStatements, type Residual, pageDocument } from './reads.ts'

export type OnDocument = (document: StoredDocument) => void

/** The page of a plan that asks for one document by its `_id`. */
export function pageOf(document: StoredDocument | undefined, plan: ReadPlan, take: OnDocument): Found {
  const isOnPage = plan.from === 0 && (plan.to ?? 0) >= 0
  if (document && isOnPage) take(document)
  return { matchCount: document && plan.counted ? 1 : 0 }
}

/** A connection may have died while it waited in the pool; as long as nothing was taken, asking again is safe. */
export async function repeatingUntaken<T>(
  take: OnDocument,
  work: (take: OnDocument) => Promise<T>,
): Promise<T> {
  let hasTaken = false
  const noting: OnDocument = (document) => {
    hasTaken = true
    take(document)
  }
  try {
    return await work(noting)
  } catch (error) {
    if (hasTaken || !mayBeStale(error)) throw error
    return await work(noting)
  }
}

interface Finding {
  readonly read: ReadStatements
  readonly take: OnDocument
  /** At a time, where some of them are known to be large. */
  readonly maxRows?: number
}

/** The page at once, outside of any transaction; undefined when it is too much for that, and nothing was taken. */
export async function findAtOnce(
  connection: Connection,
  plan: ReadPlan,
  finding: Finding,
): Promise<Found | undefined> {
  const session: Session = { query: (statement) => connection.queryAtMost(MAX_AT_ONCE, statement) }
  try {
    return await findPage(session, plan, finding)
  } catch (error) {
    if (!(error instanceof ResultTooLarge)) throw error
    return undefined
  }
}

/** Inside a transaction, where nothing can be tried: what may be large is read piece by piece from the beginning. */
export async function findWithin(session: Session, plan: ReadPlan, finding: Finding): Promise<Found> {
  if (finding.read.residual) return await findByLooking(session, plan, finding)
  const { from, to, joins = [] } = plan
  const isFew = to !== undefined && to - from < FIRST_PIECE && joins.length === 0
  return await (isFew ? findPage : findByPieces)(session, plan, finding)
}

/** Inside a transaction: the documents of the page one after the other, a few of them here at a time. */
export async function findByPieces(
  session: Session,
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

/** Page and count in a statement each. */
export async function findPage(session: Session, plan: ReadPlan, { read, take }: Finding): Promise<Found> {
  const { rows, matchCount } = await pageAndCount(session, plan, read)
  // Nothing is handed over before all is known: what fails until then is asked once more.
  for (const row of rows) take(pageDocument(row))
  return { matchCount }
}

interface Counted {
  readonly rows: readonly Row[]
  readonly matchCount: number
}

async function pageAndCount(session: Session, plan: ReadPlan, read: ReadStatements): Promise<Counted> {
  const { text } = read.page
  if (!plan.counted) return { rows: await session.query(read.page), matchCount: 0 }
  const asking = session.query(read.page)
  const counting = lastFull.has(text) ? session.query(read.count()) : undefined
  // The connection is not free before both are answered.
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

/** Pages that did not tell how many there are, the last time: with these the count is asked for at once. */
const lastFull = new Set<string>()
const MAX_TEXTS = 1_000

/** Inside a transaction: every document that may match is looked at, and the page is cut out of those that do. */
async function findByLooking(session: Session, plan: ReadPlan, { read, take }: Finding): Promise<Found> {
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
  session: Session,
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
