/**
 * Decides which reads are slow. Reads without an index and large reads run on another thread, so that they do
 * not block the event loop.
 */
import { memoized } from '../../../base/memo.ts'
import { type Query, childrenOf, isClause, isFieldPair, nodesOf, opensScope } from '../../../lang/query.ts'
import { type FieldRef, linksIn } from '../../../lang/resolve/scope.ts'
import type {
  DeletePlan,
  JoinPlan,
  ReadPlan,
  StoredDocument,
  UpdatePlan,
  WritePlan,
} from '../../../plan/plan.ts'
import { endsHere } from '../../../plan/plan-properties.ts'
import type { Collection } from '../../../schema/schema.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { BoundRead } from '../../sql/prepared-statement.ts'
import { collectionsBeside } from '../../sql/joining.ts'
import type { Bounds } from '../../bounds.ts'
import type { Explanation, Found } from '../../store.ts'
import type { Table } from '../catalogue.ts'
import { isOutdated } from '../file/failures.ts'
import type { Explaining } from './explain.ts'
import type { Readers } from './readers.ts'
import { areSmallTogether, isSmall } from './table-size.ts'
import {
  type Statements,
  type StoredRow,
  matchStatement,
  readStatements,
  storedFrom,
  watchedMatchStatement,
} from './reads.ts'

interface Elsewhere {
  readonly table: Table
  readonly readers: Readers
  readonly bounds: Bounds
}

const LARGE_PAGE = 2_000

/** Nested loops, large results, and full scans are slow; SQLite's query plan for the text shows the scans. */
export function isSlow(plan: ReadPlan, pageText: string, { table, statements }: Near): boolean {
  // History may be far larger than the current documents.
  if (plan.asOf !== undefined || (plan.query && loops(plan.query))) return true
  // A pattern may take 250 ms for a thousand characters, and blocks the event loop meanwhile. A common word leads to
  // very many documents.
  if (matchesText(plan)) return true
  const scans = (): Scans => scansOf(pageText, table, statements)
  const terms = termsOf(plan)
  if (terms > MANY_TERMS) return true
  if (!isSmall(table, statements, terms)) {
    const isLarge = plan.to === undefined || plan.to - plan.from >= LARGE_PAGE
    if (isLarge || (scans().ofTable && !isWalk(plan, scans()))) return true
    if (!scans().ofOthers) return false
  }
  const others = beside(plan).flatMap((collection) => table.beside(collection) ?? [])
  return others.length > 0 && !areSmallTogether(table, others, statements) && scans().ofOthers
}

/** Without a query, a page in the order of an index ends with its last row: nothing behind it is visited. */
function isWalk({ query, counted, to = Infinity }: ReadPlan, { areSorted }: Scans): boolean {
  return !query && !counted && to < LARGE_PAGE && !areSorted
}

/** Cached by the query object, which all requests of a prepared find share. */
const loops = memoized((query: Query<FieldRef>) => loopsInLoops(query))
const termsIn = memoized(countTerms)
const textIn = memoized(looksIntoText)
const besideQuery = memoized((query: Query<FieldRef>) => collectionsBeside({ query }))
const besideJoins = memoized((joins: readonly JoinPlan[]) => collectionsBeside({ joins }))
const besideSort = memoized((sort: ReadPlan['sort']) => collectionsBeside({ sort }))

function beside({ query, sort, joins }: ReadPlan): readonly Collection[] {
  return [...(query ? besideQuery(query) : []), ...besideSort(sort), ...(joins ? besideJoins(joins) : [])]
}

/** Each term may scan an array of each document again. */
function termsOf({ query, sort }: ReadPlan): number {
  return (query ? termsIn(query) : 0) + sort.length + 1
}

const MANY_TERMS = 100

function countTerms(query: Query<FieldRef>): number {
  return nodesOf(query).reduce((sum, node) => sum + (isClause(node) ? 1 : 0), 0)
}

function matchesText({ query, sort, joins = [] }: ReadPlan): boolean {
  const sorted = linksIn(sort).map((link) => link.query)
  return [...(query ? [query] : []), ...sorted, ...joins.flatMap(queriesIn)].some(textIn)
}

function queriesIn({ query, joins }: JoinPlan): readonly Query<FieldRef>[] {
  return [query, ...joins.flatMap(queriesIn)]
}

function looksIntoText(query: Query<FieldRef>): boolean {
  return nodesOf(query).some(({ kind }) => kind === 'regex' || kind === 'text')
}

interface Near {
  readonly table: Table
  readonly statements: Statements
}

/** Rows that matched before the transaction, with their versions at that time. */
export type Candidates = ReadonlyMap<number, number>

/**
 * The rows that an update or delete will change, searched before its transaction begins when that takes long.
 * Rows that change meanwhile are matched again inside the transaction. Rows that start to match meanwhile are
 * not included, as if they had been written after it.
 */
export async function candidatesFor(
  plan: WritePlan,
  statements: Statements,
  { table, readers, bounds }: Elsewhere,
): Promise<Candidates | undefined> {
  if (plan.kind !== 'update' && plan.kind !== 'delete') return undefined
  if (findsQuickly(plan, { table, statements })) return undefined
  const found = new Map<number, number>()
  const statement = watchedMatchStatement(plan.query, table)
  await readers.read({ statement, bounds }, (rows: readonly (readonly [no: number, version: number])[]) => {
    for (const [no, version] of rows) found.set(no, version)
  })
  return found
}

/** Whether the documents of a write are found within milliseconds. */
export function findsQuickly(plan: WritePlan, { table, statements }: Near): boolean {
  if (plan.kind !== 'update' && plan.kind !== 'delete') return true
  if (loopsInLoops(plan.query) || looksIntoText(plan.query)) return false
  const terms = countTerms(plan.query)
  if (terms > MANY_TERMS) return false
  return (
    isSmall(table, statements, terms) ||
    !scansOf(matchStatement(plan.query, table).text, table, statements).ofTable
  )
}

/** The same rows, searched on this thread. */
export function candidatesHere(
  plan: WritePlan,
  table: Table,
  statements: Statements,
): Candidates | undefined {
  if (findsQuickly(plan, { table, statements })) return undefined
  const { text, values } = watchedMatchStatement((plan as UpdatePlan | DeletePlan).query, table)
  return new Map(statements.prepare(text).all(...values) as unknown as [no: number, version: number][])
}

export async function readElsewhere(
  plan: ReadPlan,
  take: (document: StoredDocument) => void,
  { tableNow, readers, bounds }: Omit<Elsewhere, 'table'> & { readonly tableNow: TableNow },
): Promise<Found> {
  const written = (): BoundRead | undefined => {
    const table = tableNow()
    return table && readStatements(plan, table, true)
  }
  let taken = 0
  await untilCurrent(async () => {
    const statement = written()?.page
    if (!statement) return
    await readers.read({ statement, bounds }, (rows: readonly StoredRow[]) => {
      taken += rows.length
      for (const row of rows) take(storedFrom(row))
    })
  })
  if (!plan.counted) return { matchCount: 0 }
  if (endsHere(plan, taken)) return { matchCount: plan.from + taken }
  const matchCount = await untilCurrent(async () => {
    const statement = written()?.count()
    return statement ? await countElsewhere(statement, readers, bounds) : plan.from + taken
  })
  return { matchCount }
}

/** The table as the catalogue has it; undefined once it is dropped. */
export type TableNow = () => Table | undefined

/**
 * A statement waits for a reader thread, and metadata may change meanwhile. Then it is written again, for the tables that
 * there are now.
 */
export async function untilCurrent<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read()
    } catch (error) {
      if (!isOutdated(error) || attempt === MAX_ATTEMPTS) throw error
    }
  }
}

const MAX_ATTEMPTS = 5

export async function explainElsewhere(
  { count, finish }: Explaining,
  { readers, bounds }: Omit<Elsewhere, 'table'>,
): Promise<Explanation> {
  const start = performance.now()
  const matchCount = await countElsewhere(count(), readers, bounds)
  return finish(matchCount, Math.round(performance.now() - start))
}

async function countElsewhere(count: Statement, readers: Readers, bounds: Bounds): Promise<number> {
  let counted = 0
  await readers.read({ statement: count, bounds }, ([row]: readonly (readonly [number])[]) => {
    counted = row?.[0] ?? counted
  })
  return counted
}

/**
 * Whether a single document could keep the engine busy: arrays compared with arrays, elements inside
 * elements, or references nested three deep, where a few documents form very many combinations.
 */
function loopsInLoops(query: Query<FieldRef>, nesting: Nesting = {}): boolean {
  const { isInside = false, crossed = 0 } = nesting
  if (isFieldPair(query)) return isInside || (isMany(query.field) && isMany(query.rfield))
  if (!opensScope(query)) return childrenOf(query).some((child) => loopsInLoops(child, nesting))
  const within = query.kind === 'related' ? { crossed: crossed + 1 } : { isInside: true, crossed }
  if (isInside || within.crossed > MAX_CROSSED) return true
  return childrenOf(query).some((child) => loopsInLoops(child, within))
}

interface Nesting {
  /** Whether the query is inside an element. */
  readonly isInside?: boolean
  /** The number of references on the way to the query. */
  readonly crossed?: number
}

const MAX_CROSSED = 2

function isMany({ field, steps }: FieldRef): boolean {
  return field.kind === 'array' || steps.includes('*')
}

/** Cached by statement text. A change of indexes creates a new table object, which invalidates the cache. */
const knownScans = memoized((_table: Table) => new Map<string, Scans>())

/** Whether the query plan scans the table, or other tables of the statement. */
interface Scans {
  readonly ofTable: boolean
  readonly ofOthers: boolean
  /** Whether rows are sorted, if only those with the same first keys. */
  readonly areSorted: boolean
}

function scansOf(text: string, table: Table, statements: Statements): Scans {
  const known = knownScans(table)
  const answer = known.get(text)
  if (answer !== undefined) return answer
  if (known.size >= 1000) known.clear()
  const steps = statements.prepare(`explain query plan ${text}`).all() as unknown as Step[]
  const details = steps.map(([, , , detail]) => detail)
  const scans = {
    ofTable: details.some((detail) => detail.startsWith(`SCAN ${table.name}`)),
    // SQLite scans a table to build an automatic index, too.
    ofOthers: details.some((detail) => /^SCAN r\d|\bAUTOMATIC\b/.test(detail)),
    areSorted: details.some((detail) => detail.includes('TEMP B-TREE')),
  }
  known.set(text, scans)
  return scans
}

type Step = readonly [id: number, parent: number, unused: number, detail: string]
