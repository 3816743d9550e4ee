/**
 * Writes that need one statement, outside of any transaction; on a cluster, where the records of a change are statements
 * of their own, one round of them. They are tried first. Undefined means that the plan needs more, or that there was a
 * conflict: nothing has happened, and the whole plan is executed in a transaction. Outcomes are reported before the
 * statement is sent, so that a report that throws and a statement that fails leave nothing behind.
 */
import {
  type Change,
  type DeletePlan,
  type InsertPlan,
  type SavePlan,
  type StoredDocument,
  type Unwritten,
  type UpdatePlan,
  type WritePlan,
  isFailure,
  unwritten,
} from '../../../plan/plan.ts'
import { requestedId } from '../../../plan/plan-properties.ts'
import type { Statement } from '../../sql/fragment.ts'
import type { Bounds } from '../../bounds.ts'
import type { Report } from '../../store.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'
import type { SequenceDraws } from './sequence-retry.ts'
import { isCollision, isDuplicate, unlessUnknown } from '../connection/failures.ts'
import { areDistinct, newRows, reportInserted } from './inserts.ts'
import { deleteStatements, insertStatements, runAll, updateStatements } from './change-statements.ts'
import { deletedRow, following } from './history-rows.ts'
import type { RecentDocuments } from './recent-documents.ts'
import { type NewRow, type Stamp, changedRow, newRow } from './rows.ts'
import type { SharedReads } from '../read/shared-reads.ts'
import { type SharedWrites, isPlain } from './shared-writes.ts'
import { inTransaction } from '../connection/transaction.ts'

interface AtOnce {
  readonly connections: Connections
  readonly table: Table
  readonly stamp: Stamp
  readonly draw: SequenceDraws
  readonly begin: () => Report
  readonly bounds: Bounds
  readonly shared: Shared
}

/** What the writes of a store have in common. */
export interface Shared {
  readonly reads: SharedReads
  readonly writes: SharedWrites
  readonly recent: RecentDocuments
}

/** Returns whether the plan was committed. */
export async function writeAtOnce(plan: WritePlan, context: AtOnce): Promise<boolean | undefined> {
  switch (plan.kind) {
    case 'insert':
      return await insertAtOnce(plan, context)
    case 'update':
      return await updateAtOnce(plan, context)
    case 'save':
      return await saveAtOnce(plan, context)
    case 'delete':
      return await deleteAtOnce(plan, context)
  }
}

async function insertAtOnce(plan: InsertPlan, context: AtOnce): Promise<true | undefined> {
  const { table, stamp, begin } = context
  const drafts = newRows(plan, stamp, table)
  if (drafts.length === 0 || !areDistinct(drafts)) return undefined
  const rows = await following(drafts, table, asking(context))
  reportInserted(rows, begin())
  return await insertRows(rows, context)
}

async function insertRows(rows: readonly NewRow[], context: AtOnce): Promise<true | undefined> {
  const { table, shared, bounds } = context
  const [row, ...others] = rows as readonly [NewRow, ...NewRow[]]
  if (others.length > 0 || !isPlain(row, table)) {
    return await perform(insertStatements(rows, table), 0, context)
  }
  return await undefinedOnConflict(() => shared.writes.insert(table, row, bounds))
}

async function updateAtOnce(plan: UpdatePlan, context: AtOnce): Promise<boolean | undefined> {
  const id = requestedId(plan)
  if (id === undefined) return undefined
  if (await replaceRecent(id, plan.change, { ...context, plan })) return true
  const stored = await context.shared.reads.find(context.table, id, context.bounds)
  if (!stored) return nothingToDo(context)
  const change = await context.draw((next) => plan.change(stored, next))
  return await replaceAtOnce(change, stored, { ...context, plan })
}

/**
 * Makes the change of the document as this process wrote it last, in one round trip. Returns whether it was written: whatever
 * else comes of an outdated document is not an answer.
 */
async function replaceRecent(
  id: string,
  decide: UpdatePlan['change'],
  context: AtOnce & { readonly plan: WritePlan },
): Promise<boolean> {
  const { table, shared, draw } = context
  const stored = shared.recent.take(table, id)
  if (!stored) return false
  const change = await draw((next) => decide(stored, next))
  return change.kind === 'write' && (await replaceAtOnce(change, stored, context)) === true
}

async function saveAtOnce(plan: SavePlan, context: AtOnce): Promise<boolean | undefined> {
  const [item, ...others] = plan.items
  const id = item && requestedId(item)
  if (id === undefined || others.length > 0) return undefined
  if (await replaceRecent(id, item!.change, { ...context, plan })) return true
  const stored = await context.shared.reads.find(context.table, id, context.bounds)
  const change = await context.draw((next) => item!.change(stored, next))
  if (stored) return await replaceAtOnce(change, stored, { ...context, plan })
  if (change.kind !== 'write') return undefined
  const { table } = context
  const rows = await following([newRow(change.document, context.stamp, table)], table, asking(context))
  reportInserted(rows, context.begin())
  return await insertRows(rows, context)
}

/** A change of claims needs several statements, and is left to the transaction. */
async function replaceAtOnce(
  change: Change,
  stored: StoredDocument,
  context: AtOnce & { readonly plan: WritePlan },
): Promise<boolean | undefined> {
  const { plan, table, begin } = context
  if (change.kind !== 'write') return leave(change, stored, { plan, begin })
  const row = changedRow({ key: stored.id, stored }, change, context)
  if (row.released.size + row.claimed.size > 0) return undefined
  begin()({ kind: 'updated', document: row.document }, 0)
  const { writes, recent } = context.shared
  const isDone = isPlain(row, table)
    ? await undefinedOnConflict(() => writes.replace(table, row, context.bounds))
    : await perform(updateStatements(row, table), 1, context)
  if (isDone) recent.put(table, row.key, row.document)
  return isDone
}

function leave(
  change: Unwritten,
  stored: StoredDocument,
  { plan, begin }: { readonly plan: WritePlan; readonly begin: () => Report },
): boolean {
  const outcome = unwritten(change, stored)
  const report = begin()
  if (outcome) report(outcome, 0)
  return !(plan.atomic && outcome && isFailure(outcome))
}

async function deleteAtOnce(plan: DeletePlan, context: AtOnce): Promise<boolean | undefined> {
  const { table, stamp, begin } = context
  const id = requestedId(plan)
  if (id === undefined || table.unique.size > 0) return undefined
  const stored = await context.shared.reads.find(context.table, id, context.bounds)
  if (!stored) return nothingToDo(context)
  const decision = plan.decide?.(stored)
  if (decision && decision.kind !== 'delete') return leave(decision, stored, { plan, begin })
  const outboxEntries = stamp.captureChange?.({ operation: 'delete', before: stored }) ?? []
  const captured = { key: id, document: stored.id, outboxEntries }
  const statements = deleteStatements(captured, deletedRow(id, stored, stamp), context)
  begin()(decision ? { kind: 'deleted', document: stored } : { kind: 'deleted' })
  return await perform(statements, 1, context)
}

function asking({ connections, bounds }: AtOnce): SqlSession {
  return { query: (statement) => connections.query(statement, bounds) }
}

function nothingToDo({ begin }: AtOnce): true {
  begin()
  return true
}

/**
 * Undefined when a key repeats, after a collision, or when the first statement does not change the expected number of
 * documents: then nothing has happened.
 */
async function perform(
  statements: readonly Statement[],
  expected: number,
  { connections, bounds, table }: AtOnce,
): Promise<true | undefined> {
  const [first, ...others] = statements as readonly [Statement, ...Statement[]]
  return await undefinedOnConflict(async () => {
    const changed =
      others.length === 0
        ? (await performOne(first, { connections, bounds, table })).length
        : await inTransaction(
            connections,
            async (transaction) => {
              const { length } = await transaction.within(bounds, () => runAll(transaction, statements))
              if (length !== expected) transaction.undo()
              return length
            },
            { holder: bounds, kind: 'single document', isDistributed: table.isDistributed },
          )
    return changed === expected
  })
}

async function undefinedOnConflict(work: () => Promise<boolean>): Promise<true | undefined> {
  try {
    return (await work()) ? true : undefined
  } catch (error) {
    if (isDuplicate(error) || isCollision(error)) return undefined
    throw error
  }
}

/** The statement commits itself. */
async function performOne(
  statement: Statement,
  { connections, bounds, table }: Pick<AtOnce, 'connections' | 'bounds' | 'table'>,
): Promise<readonly Row[]> {
  const work = (connection: Connection): Promise<readonly Row[]> =>
    // Inside the bounds, which report a statement that they have cancelled as one that has not happened.
    connection.query(statement).catch((error: unknown) => {
      throw unlessUnknown(error, table)
    })
  return await connections.with(work, { bounds })
}
