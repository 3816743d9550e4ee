/** Operations on documents on one connection, inside or outside of a transaction. */
import { during } from '../../base/work/work.ts'
import type { Sequence } from '../../schema/field.ts'
import type { Collection } from '../../schema/schema.ts'
import type { Bounds } from '../bounds.ts'
import { removedMeanwhile } from '../removed.ts'
import type { Bookkeeping, StoreSession, TransactionSession } from '../store.ts'
import { advance, valuesFrom } from '../tables/sequences.ts'
import type { Catalogue, Table } from './catalogue.ts'
import { queryIn } from './engine.ts'
import type { Connection } from './file/connection.ts'
import { aggregateExplanation, aggregateHere, isSlowAggregate } from './read/aggregate.ts'
import { NOTHING_STORED, explainHere, explainRead } from './read/explain.ts'
import { readPage } from './read/page.ts'
import { type Statements, readStatements } from './read/reads.ts'
import { type Candidates, findsQuickly, isSlow } from './read/slow-reads.ts'
import type { OutboxWriter } from './write/outbox.ts'
import { carryOut } from './write/writes.ts'

/** Charges the request for the work of statements and their functions in this thread. */
export function paidBy<T>({ work }: Bounds, run: () => T): T {
  return work ? during(work, run) : run()
}

/** A session whose operations are synchronous; a write may be given the only rows that can match. */
export type DirectSession = {
  readonly [K in Exclude<keyof StoreSession, 'kind'>]: (
    ...args: K extends 'write'
      ? [...Parameters<StoreSession[K]>, candidates?: Candidates]
      : Parameters<StoreSession[K]>
  ) => Awaited<ReturnType<StoreSession[K]>>
}

interface SqliteSession {
  readonly within: Connection['within']
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly outbox: OutboxWriter
  readonly version: (table: Table) => number
}

/** All writes of a transaction to collections with history get the same version, so that `asOf` sees all or none. */
export function inOneSnapshot(session: SqliteSession): SqliteSession {
  let stamp: number | undefined
  return {
    ...session,
    version: (table) => (table.past ? (stamp ??= session.version(table)) : session.version(table)),
  }
}

/**
 * Operations on the current connection. The owning thread shares its transaction with all reads, so nothing else runs
 * before it ends, and nothing in it may take long: a statement that could be slow, or many quick ones, move the whole
 * transaction to another thread.
 */
export function directSession(
  { within, catalogue, statements, outbox, version }: SqliteSession,
  isShared: boolean = false,
): DirectSession {
  const startedMs = performance.now()
  const requireQuick = ({ work }: Bounds, isSlowHere: () => boolean): void => {
    if (!isShared || !work?.isInline) return
    if (performance.now() - startedMs > MAX_SHARED_MS || isSlowHere()) work.requireAnotherThread()
  }
  const drawn = (sequence: Sequence, count: number): readonly bigint[] =>
    valuesFrom(queryIn(statements, advance(sequence, count)), sequence, count)
  return {
    // SQLite can evaluate everything: regular expressions run in our SQL functions.
    answers: () => true,
    canJoin: () => true,
    find: (plan, take, bounds) => {
      const table = catalogue.tableOf(plan.collection)
      if (!table) return { matchCount: 0 }
      const read = readStatements(plan, table, true)
      requireQuick(bounds, () => isSlow(plan, read.page.text, { table, statements }))
      return paidBy(bounds, () =>
        within(bounds.timeLimitMs, () => readPage(plan, take, { read, statements })),
      )
    },
    explain: (plan, bounds) => {
      const table = catalogue.tableOf(plan.collection)
      const isSlowHere = (): boolean =>
        table !== undefined &&
        isSlow(plan, readStatements(plan, table, true).page.text, { table, statements })
      requireQuick(bounds, isSlowHere)
      return paidBy(bounds, () => within(bounds.timeLimitMs, () => explainRead(plan, table, statements)))
    },
    canAggregate: () => true,
    aggregate: (plan, begin, bounds) => {
      const table = catalogue.tableOf(plan.collection)
      if (!table) return { matchCount: 0 }
      requireQuick(bounds, () => isSlowAggregate(plan, { table, statements }))
      return paidBy(bounds, () =>
        within(bounds.timeLimitMs, () => aggregateHere(plan, table, { begin, statements })),
      )
    },
    explainAggregate: (plan, bounds) => {
      const table = catalogue.tableOf(plan.collection)
      if (!table) return NOTHING_STORED
      requireQuick(bounds, () => isSlowAggregate(plan, { table, statements }))
      return paidBy(bounds, () =>
        within(bounds.timeLimitMs, () =>
          explainHere(aggregateExplanation(plan, table, statements), statements),
        ),
      )
    },
    write: (plan, begin, bounds, candidates) => {
      const table = requireTable(catalogue, plan.collection)
      const draw = (sequence: Sequence): bigint => drawn(sequence, 1)[0]!
      const given = candidates === undefined ? {} : { candidates }
      const stamp = version(table)
      requireQuick(bounds, () => !findsQuickly(plan, { table, statements }))
      const context = { table, statements, outbox, version: stamp, report: begin(), draw, ...given }
      return paidBy(bounds, () => within(bounds.timeLimitMs, () => carryOut(plan, context)))
    },
    nextValues: drawn,
  }
}

/** After this time, the next statement moves the transaction to another thread. */
const MAX_SHARED_MS = 20

export function promised(direct: DirectSession, bookkeeping: Bookkeeping): TransactionSession {
  return {
    bookkeeping,
    kind: 'sqlite',
    answers: direct.answers,
    canJoin: direct.canJoin,
    find: async (plan, take, bounds) => direct.find(plan, take, bounds),
    explain: async (plan, bounds) => direct.explain(plan, bounds),
    canAggregate: direct.canAggregate,
    aggregate: async (plan, begin, bounds) => direct.aggregate(plan, begin, bounds),
    explainAggregate: async (plan, bounds) => direct.explainAggregate(plan, bounds),
    write: async (plan, begin, bounds) => direct.write(plan, begin, bounds),
    nextValues: async (sequence, count) => direct.nextValues(sequence, count),
  }
}

/** Metadata creates the table of a collection before any document can be written to it, and drops it with the entity. */
export function requireTable(catalogue: Catalogue, collection: Collection): Table {
  const table = catalogue.tableOf(collection)
  if (!table) throw removedMeanwhile(collection)
  return table
}
