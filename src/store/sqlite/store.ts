/** The embedded store: one SQLite file, without setup. */
import type { ReadPlan } from '../../plan/plan.ts'
import { requestedId } from '../../plan/plan-properties.ts'
import { microseconds, risingFrom } from '../clock.ts'
import type { Database } from '../database.ts'
import type { Found, OnDocument } from '../store.ts'
import { freeAllSinks } from '../tables/sinks.ts'
import { type Catalogue, type Table, openCatalogue } from './catalogue.ts'
import { type OnTiming, type Timed, bookkeepingOn, commonParts, timing, transactOn } from './common-parts.ts'
import { queryIn } from './engine.ts'
import { openConnection } from './file/connection.ts'
import { type SqliteMemory, USUAL_MEMORY } from './file/memory.ts'
import { createFiller } from './filler.ts'
import { aggregateElsewhere, aggregateExplanation, isSlowAggregate } from './read/aggregate.ts'
import { explanation } from './read/explain.ts'
import { type Lookups, createLookups } from './read/lookups.ts'
import { readPage } from './read/page.ts'
import { type Readers, createReaders } from './read/readers.ts'
import { type Statements, createStatements, preparedStatements, readStatements } from './read/reads.ts'
import { candidatesFor, explainElsewhere, isSlow, readElsewhere, untilCurrent } from './read/slow-reads.ts'
import { streamFrom } from './read/stream.ts'
import { forgetSizes } from './read/table-size.ts'
import {
  type DirectSession,
  directSession,
  inOneSnapshot,
  paidBy,
  promised,
  requireTable,
} from './session.ts'
import { returnFreePages } from './write/free-pages.ts'
import { createOutboxWriter } from './write/outbox.ts'
import { keepLogSmall } from './write/wal-checkpoints.ts'
import { createWriter } from './write/writer.ts'

/** Limits concurrent slow reads, so that other cores of the machine stay free. */
const READER_THREADS = 3

interface SqliteOptions {
  readonly directory: string
  /** Microseconds since 1970; the source of document versions. */
  readonly now?: () => number
  readonly onTiming?: OnTiming
  readonly memory?: SqliteMemory
  /** Whether this thread may leave index builds to another one. */
  readonly offloads?: boolean
  /** Receives errors of background work. */
  readonly onError?: (error: unknown) => void
}

/** The store of the thread that owns the file and serves all requests: slow reads run on reader threads. */
export function openSqliteStore(options: SqliteOptions): Database {
  const { directory, now = microseconds, onTiming, offloads = false } = options
  const { memory = USUAL_MEMORY, onError = ignore } = options
  const connection = openConnection(directory, memory)
  const { database } = connection
  const version = risingFrom(now)
  const catalogue = openCatalogue(database, {
    now: version,
    maxInlineRows: offloads ? INLINE_ROWS : Infinity,
    onReload: () => filler.wake(),
  })
  const statements = createStatements(database)
  queryIn(statements, freeAllSinks())
  const outbox = createOutboxWriter(statements)
  const writer = createWriter(database, outbox.announce)
  const lookups = createLookups(statements)
  const readers = createReaders({ file: connection.file, memory, threads: READER_THREADS })
  const filler = createFiller({ database, catalogue, writer, readers, onError })
  filler.wake()
  const maintenance = new AsyncDisposableStack()
  maintenance.use(keepLogSmall({ file: connection.file, exec: (text) => database.exec(text), readers }))
  maintenance.use(returnFreePages({ database, writer }))
  const session = { within: connection.within, catalogue, statements, outbox, version: () => version() }
  const direct = directSession(session)
  const timed = timing(onTiming)
  const bookkeeping = bookkeepingOn(statements, writer)
  const onMetadata: (() => void)[] = []
  const own = { filler, maintenance, onMetadata }

  return {
    ...commonParts({ connection, catalogue, statements, outbox, writer, readers, direct, timed, ...own }),
    async lendWriter() {
      const takeBack = await writer.lend()
      return {
        lastVersion: version.last(),
        giveBack({ lastVersion, hasEvents }) {
          version.raiseTo(lastVersion)
          // This thread must know new columns before it writes again.
          catalogue.refresh()
          forgetSizes(catalogue.tables())
          takeBack()
          if (hasEvents) outbox.announceOthers()
          // The other thread may have changed metadata, and ended before it could say so.
          for (const listener of onMetadata) listener()
        },
      }
    },
    ...readOperations({ catalogue, statements, lookups, readers, direct, timed }),
    write: (plan, begin, bounds) =>
      timed(plan.kind, async () => {
        const candidates = await untilCurrent(() => {
          const table = requireTable(catalogue, plan.collection)
          return candidatesFor(plan, statements, { table, readers, bounds })
        })
        return await writer.run(() => direct.write(plan, begin, bounds, candidates), bounds)
      }),
    transact: (work, options) =>
      timed('transact', () =>
        transactOn(
          { writer, catalogue },
          () => work(promised(directSession(inOneSnapshot(session), true), bookkeeping)),
          options,
        ),
      ),
  }
}

interface ReadParts {
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly lookups: Lookups
  readonly readers: Readers
  readonly direct: DirectSession
  readonly timed: Timed
}

/** What an index serves is read in this thread; slow reads go to reader threads. */
function readOperations({ catalogue, statements, lookups, readers, direct, timed }: ReadParts) {
  const timedUntilCurrent = <T>(operation: string, work: () => Promise<T>): Promise<T> =>
    timed(operation, () => untilCurrent(work))
  return {
    find: (plan, take, bounds) =>
      timed('find', () => {
        const table = catalogue.tableOf(plan.collection)
        if (!table) return { matchCount: 0 }
        readers.noteCaller(bounds.caller)
        const found = lookedUp(plan, take, { table, lookups })
        if (found) return found
        const read = preparedStatements(plan, table)
        if (isSlow(plan, read.page.text, { table, statements })) {
          const tableNow = (): Table | undefined => catalogue.tableOf(plan.collection)
          return readElsewhere(plan, take, { tableNow, readers, bounds })
        }
        return paidBy(bounds, () => readPage(plan, take, { read, statements }))
      }),
    stream: (plan, bounds) => streamFrom(readers, () => catalogue.tableOf(plan.collection), { plan, bounds }),
    explain: (plan, bounds) =>
      timedUntilCurrent('explain', async () => {
        const table = catalogue.tableOf(plan.collection)
        if (!table) return direct.explain(plan, bounds)
        const { page } = readStatements(plan, table)
        if (!isSlow(plan, page.text, { table, statements })) return direct.explain(plan, bounds)
        return await explainElsewhere(explanation(plan, table, statements), { readers, bounds })
      }),
    aggregate: (plan, begin, bounds) =>
      timedUntilCurrent('aggregate', async () => {
        const table = catalogue.tableOf(plan.collection)
        if (!table || !isSlowAggregate(plan, { table, statements }))
          return direct.aggregate(plan, begin, bounds)
        return await aggregateElsewhere(plan, { table, statements }, { begin, readers, bounds })
      }),
    explainAggregate: (plan, bounds) =>
      timedUntilCurrent('explain', async () => {
        const table = catalogue.tableOf(plan.collection)
        if (!table || !isSlowAggregate(plan, { table, statements }))
          return direct.explainAggregate(plan, bounds)
        return await explainElsewhere(aggregateExplanation(plan, table, statements), { readers, bounds })
      }),
  } satisfies Partial<Database>
}

/** Batches a find by `_id` with others of the same turn; undefined for other plans. */
function lookedUp(
  plan: ReadPlan,
  take: OnDocument,
  { table, lookups }: { readonly table: Table; readonly lookups: Lookups },
): Promise<Found> | undefined {
  const id = requestedId(plan)
  if (id === undefined) return undefined
  return lookups.find(table, id).then((document) => {
    const isOnPage = plan.from === 0 && (plan.to ?? 0) >= 0
    if (document && isOnPage) take(document)
    return { matchCount: document && plan.counted ? 1 : 0 }
  })
}

/** An index over this many documents is built within milliseconds. */
const INLINE_ROWS = 500

function ignore(): void {}
