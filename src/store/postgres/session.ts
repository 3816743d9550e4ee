/** Operations on documents inside an open transaction. */
import type { Query } from '../../lang/query.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import type { ReadPlan, WritePlan } from '../../plan/plan.ts'
import type { Collection } from '../../schema/schema.ts'
import type { Bounds } from '../bounds.ts'
import type { Explanation, Found, OnDocument, Store, TransactionSession } from '../store.ts'
import type { Table } from './schema/catalogue.ts'
import { type SequenceDraws, createSequenceDraws } from './write/sequence-retry.ts'
import { aggregateByPieces, canAggregate, explainGroups } from './read/aggregate.ts'
import { NOTHING_STORED, explainPage } from './read/explain.ts'
import { findWithin } from './read/find.ts'
import { pushdownTo } from './read/pushdown.ts'
import { readStatements, readStatementsFor } from './read/reads.ts'
import { noteRefusal } from './read/refused.ts'
import type { Stamp } from './write/rows.ts'
import { MissingTableError } from './connection/failures.ts'
import type { Engine } from '../engine.ts'
import { bookkeepingIn } from '../tables/bookkeeping.ts'
import { nextValues } from '../tables/sequences.ts'
import { sessionOf } from './engine.ts'
import type { Transaction } from './connection/transaction.ts'
import { carryOut } from './write/writes.ts'

export interface SessionContext {
  readonly engine: Engine
  readonly tableOf: (collection: Collection) => Table | undefined
  readonly version: (table: Table) => number
  readonly isCluster: () => boolean
  /** Draws the values of sequences; absent: from the database, outside of the transaction. */
  readonly next?: Store['nextValues']
}

/**
 * All writes of a transaction to collections with history use the same timestamp as version, so that `asOf`
 * does not split them.
 */
export function inOneSnapshot(context: SessionContext): SessionContext {
  let moment: number | undefined
  const { version } = context
  return { ...context, version: (table) => (table.past ? (moment ??= version(table)) : version(table)) }
}

export function sessionIn(transaction: Transaction, context: SessionContext): TransactionSession {
  const { engine, tableOf, version, isCluster } = context
  // Outside of the transaction: a value is never given back, and other transactions do not wait for the
  // next one. On quick connections, because all others may belong to transactions that wait for values
  // themselves.
  const next: Store['nextValues'] =
    context.next ??
    ((sequence, count, bounds) => nextValues(engine, sequence, { count, isUrgent: true, bounds }))
  return {
    kind: 'postgres',
    get bookkeeping() {
      return bookkeepingIn(engine, sessionOf(transaction))
    },
    answers: (query, asOf) => pushdownTo({ isDistributed: isCluster() }, asOf).answers(query),
    canJoin: () => pushdownTo({ isDistributed: isCluster() }).canJoin,
    find: (plan, take, bounds) =>
      noteRefusal([plan.query], () =>
        transaction.within(bounds, () =>
          findIn(transaction, plan, { table: tableOf(plan.collection), take, bounds }),
        ),
      ),
    explain: (plan, bounds) =>
      noteRefusal([plan.query], () =>
        transaction.within(bounds, () =>
          explainIn(transaction, plan, { table: tableOf(plan.collection), bounds }),
        ),
      ),
    canAggregate: (plan) => canAggregate(plan, isCluster()),
    aggregate: (plan, begin, bounds) =>
      transaction.within(bounds, () =>
        aggregateByPieces(transaction, plan, { table: tableOf(plan.collection), begin }),
      ),
    explainAggregate: (plan, bounds) =>
      transaction.within(bounds, () => explainGroups(transaction, plan, tableOf(plan.collection))),
    write: (plan, begin, bounds) =>
      noteRefusal(queriesOf(plan), () =>
        transaction.within(bounds, () => {
          const table = requireTable(tableOf(plan.collection), plan.collection)
          const draw = createSequenceDraws((sequence, count) => next(sequence, count, bounds))
          const stamp = stampFor(plan, version(table))
          return carryOut(plan, { transaction, table, stamp, report: begin(), draw, work: bounds.work })
        }),
      ),
    nextValues: next,
  }
}

function queriesOf(plan: WritePlan): readonly (Query<FieldRef> | undefined)[] {
  if (plan.kind === 'insert') return []
  return plan.kind === 'save' ? plan.items.map(({ query }) => query) : [plan.query]
}

/** Sequence values for one write. */
export function sequenceDrawsOn(engine: Engine, bounds: Bounds): SequenceDraws {
  return createSequenceDraws((sequence, count) =>
    nextValues(engine, sequence, { count, isUrgent: true, bounds }),
  )
}

async function findIn(
  transaction: Transaction,
  plan: ReadPlan,
  {
    table,
    take,
    bounds,
  }: { readonly table: Table | undefined; readonly take: OnDocument; readonly bounds: Bounds },
): Promise<Found> {
  if (!table) return { matchCount: 0 }
  const read = readStatementsFor(bounds, readStatements(plan, table))
  return await findWithin(transaction, plan, { read, take })
}

export async function explainIn(
  transaction: Transaction,
  plan: ReadPlan,
  { table, bounds }: { readonly table: Table | undefined; readonly bounds: Bounds },
): Promise<Explanation> {
  if (!table) return NOTHING_STORED
  const { after: _, ...whole } = plan
  const counting = { ...whole, from: 0, to: -1, counted: true }
  const count = async (): Promise<number> => {
    const { matchCount } = await findIn(transaction, counting, { table, take: () => undefined, bounds })
    return matchCount
  }
  return await explainPage(transaction, plan, { table, read: readStatements(plan, table), count })
}

/**
 * Metadata creates the table of a collection before any document is written, so the cache is outdated if it has none, or the
 * entity was removed.
 */
export function requireTable(table: Table | undefined, collection: Collection): Table {
  if (!table) throw new MissingTableError(collection)
  return table
}

export function stampFor({ collection, captureChange, principal = '' }: WritePlan, version: number): Stamp {
  return { version, paths: collection.paths ?? 0, principal, ...(captureChange && { captureChange }) }
}
