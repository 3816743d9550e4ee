/** The embedded store: one SQLite file, without setup. */
import type { ReadPlan } from '../../plan/plan.ts'
import { requestedId } from '../../plan/plan-properties.ts'
import { microseconds, risingFrom } from '../clock.ts'
import type { Borrow } from '../../base/work/loan.ts'
import { type Operation, ping } from '../engine.ts'
import type { Database } from '../database.ts'
import type { Bookkeeping, Found, OnDocument, TransactOptions } from '../store.ts'
import { createTransfer } from '../tables/export.ts'
import { collectionExport } from './transfer/export.ts'
import { collectionImport } from './transfer/import.ts'
import { type Catalogue, type Table, openCatalogue } from './catalogue.ts'
import { createBorrowingWriter } from './write/borrowing-writer.ts'
import { type Connection, attachConnection, openConnection } from './file/connection.ts'
import { type SqliteMemory, USUAL_MEMORY } from './file/memory.ts'
import { explanation } from './read/explain.ts'
import { isTooBig, tooBig } from './file/failures.ts'
import { createAnswers } from '../tables/answers.ts'
import { bookkeepingIn } from '../tables/bookkeeping.ts'
import { createLocks } from '../tables/locks.ts'
import { createSequences } from '../tables/sequences.ts'
import { returnFreePages } from './write/free-pages.ts'
import { keepLogSmall } from './write/wal-checkpoints.ts'
import { aggregateElsewhere, aggregateExplanation, isSlowAggregate } from './read/aggregate.ts'
import { type Lookups, createLookups } from './read/lookups.ts'
import { collectionsOf } from './collections.ts'
import { createFiller } from './filler.ts'
import { createMetadata } from '../tables/metadata.ts'
import { OUTBOX_TABLE, type Outbox, createOutbox as createEventLog } from './write/outbox.ts'
import { createOutbox } from '../tables/outbox.ts'
import { readHistory } from './write/history.ts'
import { type Statements, createStatements, readStatements, preparedStatements } from './read/reads.ts'
import { type Readers, createReaders } from './read/readers.ts'
import { createSinks, freeAllSinks } from '../tables/sinks.ts'
import { createSqliteEngine, queryIn } from './engine.ts'
import {
  candidatesFor,
  candidatesHere,
  explainElsewhere,
  isSlow,
  readElsewhere,
  untilCurrent,
} from './read/slow-reads.ts'
import { readPage } from './read/page.ts'
import {
  type DirectSession,
  directSession,
  inOneSnapshot,
  paidBy,
  promised,
  requireTable,
} from './session.ts'
import { streamFrom } from './read/stream.ts'
import { forgetSizes } from './read/table-size.ts'
import { type Writer, createWriter } from './write/writer.ts'

/** Limits concurrent slow reads, so that other cores of the machine stay free. */
const READER_THREADS = 3

interface SqliteOptions {
  readonly directory: string
  /** Microseconds since 1970; the source of document versions. */
  readonly now?: () => number
  readonly onTiming?: (operation: string, seconds: number) => void
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
  const outbox = createEventLog(statements)
  const writer = createWriter(database, outbox.announce)
  const lookups = createLookups(statements)
  const readers = createReaders({ file: connection.file, memory, threads: READER_THREADS })
  const filler = createFiller({ database, catalogue, writer, readers, onError })
  filler.wake()
  const upkeep = new AsyncDisposableStack()
  upkeep.use(keepLogSmall({ file: connection.file, exec: (text) => database.exec(text), readers }))
  upkeep.use(returnFreePages({ database, writer }))
  const session = { within: connection.within, catalogue, statements, outbox, version: () => version() }
  const direct = directSession(session)
  const timed = timing(onTiming)
  const timedUntilCurrent = <T>(operation: string, work: () => Promise<T>): Promise<T> =>
    timed(operation, () => untilCurrent(work))
  const bookkeeping = bookkeepingOn(statements, writer)
  const onMetadata: (() => void)[] = []
  const own = { filler, upkeep, onMetadata }

  return {
    ...common({ connection, catalogue, statements, outbox, writer, readers, direct, timed, ...own }),
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
    write: (plan, begin, bounds) =>
      timed(plan.kind, async () => {
        const candidates = await untilCurrent(() => {
          const table = requireTable(catalogue, plan.collection)
          return candidatesFor(plan, statements, { table, readers, bounds })
        })
        return await writer.run(() => direct.write(plan, begin, bounds, candidates))
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

interface AttachedOptions {
  readonly directory: string
  readonly onTiming?: (operation: string, seconds: number) => void
  readonly borrow: Borrow
  readonly memory?: SqliteMemory
}

/** The store of a worker thread, which serves one request at a time: everything runs on its own connection. */
export function attachSqliteStore(options: AttachedOptions): Database {
  const { directory, onTiming, borrow, memory = USUAL_MEMORY } = options
  const connection = attachConnection(directory, memory)
  const { database } = connection
  const version = risingFrom(microseconds)
  const catalogue = openCatalogue(database, { now: version, maxInlineRows: Infinity, isAttached: true })
  const statements = createStatements(database)
  const outbox = createEventLog(statements)
  const writer = createBorrowingWriter(database, { borrow, version, takeHasEvents: outbox.takeHasEntered })
  const readers = createReaders({ file: connection.file, memory, threads: 1 })
  const session = { within: connection.within, catalogue, statements, outbox, version: () => version() }
  const direct = directSession(session)
  const timed = timing(onTiming)
  const bookkeeping = bookkeepingOn(statements, writer)
  // Other threads change tables meanwhile: all statements of a read, and the catalogue, are of one moment.
  const inSnapshot = <T>(read: () => T): T => {
    if (database.isTransaction) return read()
    database.exec('begin')
    try {
      return read()
    } finally {
      // a failure of the disk ends the transaction by itself
      if (database.isTransaction) database.exec('commit')
    }
  }
  return {
    ...common({ connection, catalogue, statements, outbox, writer, readers, direct, timed }),
    find: (plan, take, bounds) => timed('find', () => inSnapshot(() => direct.find(plan, take, bounds))),
    stream: (plan, bounds) => streamFrom(readers, () => catalogue.tableOf(plan.collection), { plan, bounds }),
    explain: (plan, bounds) => timed('explain', () => inSnapshot(() => direct.explain(plan, bounds))),
    aggregate: (plan, begin, bounds) =>
      timed('aggregate', () => inSnapshot(() => direct.aggregate(plan, begin, bounds))),
    explainAggregate: (plan, bounds) =>
      timed('explain', () => inSnapshot(() => direct.explainAggregate(plan, bounds))),
    write: (plan, begin, bounds) =>
      timed(plan.kind, async () => {
        // Candidates are searched before the write lock is borrowed, so that other writes continue meanwhile.
        const candidates = inSnapshot(() => {
          const table = requireTable(catalogue, plan.collection)
          return connection.within(bounds.timeLimitMs, () => candidatesHere(plan, table, statements))
        })
        return await writer.run(() => direct.write(plan, begin, bounds, candidates))
      }),
    transact: (work, options) =>
      timed('transact', () =>
        transactOn(
          { writer, catalogue },
          () => work(promised(directSession(inOneSnapshot(session)), bookkeeping)),
          options,
        ),
      ),
  }
}

interface Parts {
  readonly connection: Connection
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly outbox: Outbox
  readonly writer: Writer
  readonly readers: Readers
  /** Present on the thread that owns the file. */
  readonly upkeep?: AsyncDisposable
  /** The same. */
  readonly filler?: AsyncDisposable
  /** The same. Called when another thread may have changed metadata. */
  readonly onMetadata?: (() => void)[]
  readonly direct: DirectSession
  readonly timed: Timed
}

/** The parts that are the same on every thread. */
function common(parts: Parts) {
  const { connection, catalogue, statements, outbox, writer, readers, direct, timed } = parts
  const { database } = connection
  const engine = createSqliteEngine({
    statements,
    writer,
    // One process owns the file, so no other process can change metadata, but its threads can.
    listen: (topic, listener) =>
      topic === 'events' ? outbox.onEvents(listener) : void parts.onMetadata?.push(listener),
    run: (operation, work) => (TIMED.has(operation) ? timed(operation, work) : work()),
  })
  const collections = collectionsOf(engine, catalogue)
  return {
    kind: 'sqlite',
    isShared: false,
    answers: direct.answers,
    canJoin: direct.canJoin,
    canAggregate: direct.canAggregate,
    description: 'SQLite, every write on disk before it is answered (WAL, synchronous=FULL)',
    nextValues: createSequences(engine).next,
    peekValues: createSequences(engine).peek,
    raiseSequence: createSequences(engine).raise,
    locks: createLocks(engine),
    kept: createAnswers(engine),
    readHistory: (request, bounds) =>
      readHistory(request, { tableNow: () => catalogue.tableOf(request.collection), readers, bounds }),
    metadata: createMetadata(engine, collections),
    events: createOutbox(engine, OUTBOX_TABLE),
    sinks: createSinks(engine),
    transfer: createTransfer({
      engine,
      collections,
      outbox: OUTBOX_TABLE,
      from: collectionExport(database, catalogue),
      openImport: () => collectionImport({ database, catalogue, writer }),
      // One process owns the file, so there is no concurrent move.
      claim: async () => ({ [Symbol.asyncDispose]: async () => undefined }),
    }),
    ping: () => ping(engine),
    async [Symbol.asyncDispose]() {
      await parts.filler?.[Symbol.asyncDispose]()
      await writer.drain()
      await readers[Symbol.asyncDispose]()
      await parts.upkeep?.[Symbol.asyncDispose]()
      connection[Symbol.dispose]()
    },
  } satisfies Partial<Database>
}

/** A dry run ends by an error, which rolls the transaction back; sequences are part of it. */
async function transactOn<T>(
  { writer, catalogue }: Pick<Parts, 'writer' | 'catalogue'>,
  work: () => Promise<T>,
  { isReadOnly = false, isDryRun = false }: TransactOptions = {},
): Promise<T> {
  if (!isDryRun) return await writer.transact(work, { isReadOnly })
  let done: { readonly result: T } | undefined
  try {
    await writer.transact(async () => {
      done = { result: await work() }
      throw new NotCommitted()
    })
  } catch (error) {
    if (!(error instanceof NotCommitted)) throw error
  } finally {
    forgetSizes(catalogue.tables())
  }
  return done!.result
}

class NotCommitted extends Error {}

/** Statements of one connection run in its open transaction, so the bookkeeping of all transactions is the same. */
function bookkeepingOn(statements: Statements, writer: Writer): Bookkeeping {
  const engine = createSqliteEngine({ statements, writer })
  return bookkeepingIn(engine, { query: engine.query })
}

/** Only bookkeeping that is part of requests is measured here. */
const TIMED: ReadonlySet<Operation> = new Set(['lock', 'sequence'])

type Timed = <T>(operation: string, work: () => Promise<T> | T) => Promise<T>

function timing(onTiming: SqliteOptions['onTiming']): Timed {
  return async (operation, work) => {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      throw isTooBig(error) ? tooBig() : error
    } finally {
      onTiming?.(operation, (performance.now() - start) / 1000)
    }
  }
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
