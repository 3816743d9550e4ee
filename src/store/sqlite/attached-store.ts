/** The store of a worker thread, on the file that the main thread owns. */
import type { DatabaseSync } from 'node:sqlite'
import type { Borrow } from '../../base/work/loan.ts'
import { microseconds, risingFrom } from '../clock.ts'
import type { Database } from '../database.ts'
import { openCatalogue } from './catalogue.ts'
import { type OnTiming, bookkeepingOn, commonParts, timing, transactOn } from './common-parts.ts'
import { attachConnection } from './file/connection.ts'
import { type SqliteMemory, USUAL_MEMORY } from './file/memory.ts'
import { createReaders } from './read/readers.ts'
import { createStatements } from './read/reads.ts'
import { candidatesHere } from './read/slow-reads.ts'
import { streamFrom } from './read/stream.ts'
import { directSession, inOneSnapshot, promised, requireTable } from './session.ts'
import { createBorrowingWriter } from './write/borrowing-writer.ts'
import { createOutboxWriter } from './write/outbox.ts'

interface AttachedOptions {
  readonly directory: string
  readonly onTiming?: OnTiming
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
  const outbox = createOutboxWriter(statements)
  const writer = createBorrowingWriter(database, { borrow, version, takeHasEvents: outbox.takeHasEntered })
  const readers = createReaders({ file: connection.file, memory, threads: 1 })
  const session = { within: connection.within, catalogue, statements, outbox, version: () => version() }
  const direct = directSession(session)
  const timed = timing(onTiming)
  const bookkeeping = bookkeepingOn(statements, writer)
  const inSnapshot = snapshotsOf(database)
  return {
    ...commonParts({ connection, catalogue, statements, outbox, writer, readers, direct, timed }),
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
        return await writer.run(() => direct.write(plan, begin, bounds, candidates), bounds)
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

/** Other threads change tables meanwhile: within a snapshot, all statements and the catalogue are of one moment. */
function snapshotsOf(database: DatabaseSync): <T>(read: () => T) => T {
  return (read) => {
    if (database.isTransaction) return read()
    database.exec('begin')
    try {
      return read()
    } finally {
      // a failure of the disk ends the transaction by itself
      if (database.isTransaction) database.exec('commit')
    }
  }
}
