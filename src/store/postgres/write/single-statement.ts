/**
 * Writes that need one statement, outside of any transaction. They are tried first. Undefined means that the
 * plan needs more, or that there was a conflict: nothing has happened, and the whole plan is executed in a
 * transaction. Outcomes are reported before the statement is sent, so that a report that throws and a
 * statement that fails leave nothing behind.
 */
import {
  type Change,
  type DeletePlan,
  type InsertPlan,
  type SavePlan,
  type StoredDocument,
  type UpdatePlan,
  type WritePlan,
  isFailure,
  unwritten,
} from '../../../plan/plan.ts'
import { requestedId } from '../../../plan/about.ts'
import { type Statement, param, raw, sql } from '../../sql/fragment.ts'
import type { Bounds } from '../../bounds.ts'
import type { Report } from '../../store.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Connections, Row, Session } from '../connection/connections.ts'
import type { SequenceDraws } from './sequence-retry.ts'
import { isCollision, isDuplicate, unlessUnknown } from '../connection/failures.ts'
import { areDistinct, newRows, reportInserted } from './inserts.ts'
import { following, keepsHistory } from './history-rows.ts'
import { storedFrom } from '../read/reads.ts'
import {
  deleteStatement,
  insertStatement,
  recordedDeleteStatement,
  updateStatement,
} from './row-statements.ts'
import { type Stamp, changedRow, newRow } from './rows.ts'
import { statementOf } from './statement.ts'

interface AtOnce {
  readonly connections: Connections
  readonly table: Table
  readonly stamp: Stamp
  readonly draw: SequenceDraws
  readonly begin: () => Report
  readonly bounds: Bounds
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
  return (await query(insertStatement(rows, table), context)) && true
}

async function updateAtOnce(plan: UpdatePlan, context: AtOnce): Promise<boolean | undefined> {
  const id = requestedId(plan)
  if (id === undefined) return undefined
  const stored = await readOne(id, context)
  if (!stored) return nothingToDo(context)
  const change = await context.draw((next) => plan.change(stored, next))
  return await replaceAtOnce(change, stored, { ...context, plan })
}

async function saveAtOnce(plan: SavePlan, context: AtOnce): Promise<boolean | undefined> {
  const [item, ...others] = plan.items
  const id = item && requestedId(item)
  if (id === undefined || others.length > 0) return undefined
  const stored = await readOne(id, context)
  const change = await context.draw((next) => item!.change(stored, next))
  if (stored) return await replaceAtOnce(change, stored, { ...context, plan })
  if (change.kind !== 'write') return undefined
  const { table } = context
  const rows = await following([newRow(change.document, context.stamp, table)], table, asking(context))
  reportInserted(rows, context.begin())
  return (await query(insertStatement(rows, table), context)) && true
}

/** A change of claims needs several statements, and is left to the transaction. */
async function replaceAtOnce(
  change: Change,
  stored: StoredDocument,
  context: AtOnce & { readonly plan: WritePlan },
): Promise<boolean | undefined> {
  const { plan, table, begin } = context
  if (change.kind !== 'write') {
    const outcome = unwritten(change, stored)
    const report = begin()
    if (outcome) report(outcome, 0)
    return !(plan.atomic && outcome && isFailure(outcome))
  }
  const row = changedRow({ key: stored.id, stored }, change.document, context)
  if (row.released.size + row.claimed.size > 0) return undefined
  begin()({ kind: 'updated', document: row.document }, 0)
  const written = await query(updateStatement(row, table), context)
  return written?.length === 1 ? true : undefined
}

async function deleteAtOnce(plan: DeletePlan, context: AtOnce): Promise<boolean | undefined> {
  const { table, stamp, begin } = context
  const id = requestedId(plan)
  if (id === undefined || table.unique.size > 0) return undefined
  const stored = await readOne(id, context)
  if (!stored) return nothingToDo(context)
  const outboxEntries = stamp.captureChange?.({ operation: 'delete', before: stored }) ?? []
  const { version } = stored
  const statement =
    outboxEntries.length === 0 && !keepsHistory(table)
      ? deleteStatement([{ key: id, version }], table)
      : recordedDeleteStatement({ key: id, document: stored.id, outboxEntries }, version, context)
  begin()({ kind: 'deleted' })
  const gone = await query(statement, context)
  return gone?.length === 1 ? true : undefined
}

async function readOne(
  id: string,
  { connections, table, bounds }: AtOnce,
): Promise<StoredDocument | undefined> {
  const read = sql`select id, version, doc, paths from ${raw(table.name)} where id = ${param(id)}`
  const [row] = await connections.query(statementOf(read), bounds)
  return row && storedFrom(row)
}

function asking({ connections, bounds }: AtOnce): Session {
  return { query: (statement) => connections.query(statement, bounds) }
}

function nothingToDo({ begin }: AtOnce): true {
  begin()
  return true
}

/** Undefined when a key repeats, or after a collision. */
async function query(
  statement: Statement,
  { connections, bounds }: AtOnce,
): Promise<readonly Row[] | undefined> {
  try {
    return await connections.query(statement, bounds)
  } catch (error) {
    if (isDuplicate(error) || isCollision(error)) return undefined
    throw unlessUnknown(error)
  }
}
