/** Writes one document at a time, inside a transaction. */
import type { Work } from '../../../base/work/work.ts'
import { type Change, type Outcome, type StoredDocument, unwritten } from '../../../plan/plan.ts'
import type { TypeName } from '../../../schema/types.ts'
import { type Fragment, param, raw, sql } from '../../sql/fragment.ts'
import type { Report } from '../../store.ts'
import type { Table } from '../schema/catalogue.ts'
import { indexOfClaim } from '../../layout/unique-claims.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { SequenceDraws } from './sequence-retry.ts'
import { following } from './history-rows.ts'
import { storedColumns, storedFrom } from '../read/reads.ts'
import { claimStatements, insertStatements, runAll, updateStatements } from './change-statements.ts'
import { claimedStatement, releaseStatement } from './row-statements.ts'
import { type ChangedRow, type NewRow, type Stamp, changedRow } from './rows.ts'
import { listParam, statementOf } from './statement.ts'
import type { Transaction } from '../connection/transaction.ts'

export interface WriteContext {
  readonly transaction: Transaction
  readonly table: Table
  readonly stamp: Stamp
  readonly report: Report
  readonly draw: SequenceDraws
  /** The budget to which tests of documents are charged. */
  readonly work?: Work | undefined
}

/** A stored document and the key of its row. */
export interface Held {
  readonly key: string
  readonly stored: StoredDocument
}

export async function readMany(
  keys: readonly string[],
  idType: TypeName,
  { transaction, table }: Pick<WriteContext, 'transaction' | 'table'>,
): Promise<readonly Held[]> {
  const found = sql`${columnsOf(idType, table)} where id = any(${listParam('text', keys)}) order by id`
  return await held(transaction, found)
}

/** Reads the document in its newest state and locks it until the transaction ends. */
export async function lockOne(
  key: string,
  idType: TypeName,
  { transaction, table }: Pick<WriteContext, 'transaction' | 'table'>,
): Promise<Held | undefined> {
  const found = sql`${columnsOf(idType, table)} where id = ${param(key)} for update`
  return (await held(transaction, found))[0]
}

export async function insertOne(draft: NewRow, { transaction, table }: WriteContext): Promise<Outcome> {
  const rows = await following([draft], table, transaction)
  const isDone = await transaction.attempt(async () => {
    await runAll(transaction, insertStatements(rows, table))
    return true
  })
  if (isDone) return { kind: 'inserted', document: rows[0]!.document }
  // without a claim that another document has, the key repeats
  return { kind: 'duplicate', fields: (await occupied(draft.claims, { transaction, table })) ?? ['_id'] }
}

/** The fields of the first unique index whose claim another document has. */
async function occupied(
  claims: ReadonlySet<string>,
  { transaction, table }: Pick<WriteContext, 'transaction' | 'table'>,
): Promise<readonly string[] | undefined> {
  if (claims.size === 0) return undefined
  const rows = await transaction.query(claimedStatement(claims, table))
  const [first] = rows.map(([key]) => indexOfClaim(key!)).sort((a, b) => a - b)
  return first === undefined ? undefined : table.unique.get(first)?.fields.map(({ path }) => path)
}

/** For a locked document; undefined if it is neither changed nor counted. */
export async function applyChange(
  change: Change,
  document: Held,
  context: WriteContext,
): Promise<Outcome | undefined> {
  if (change.kind !== 'write') return unwritten(change, document.stored)
  const row = changedRow(document, change, context)
  const isDone = await context.transaction.attempt(() => replace(row, context))
  if (isDone) return { kind: 'updated', document: row.document }
  const fields = await occupied(row.claimed, context)
  return { kind: 'duplicate', document: document.stored, ...(fields && { fields }) }
}

async function replace(row: ChangedRow, { transaction, table }: WriteContext): Promise<true> {
  if (row.released.size > 0) await transaction.query(releaseStatement(row.released, [row.key], table))
  if (row.claimed.size > 0) await runAll(transaction, claimStatements(row.claimed, row.key, table))
  await runAll(transaction, updateStatements(row, table))
  return true
}

function columnsOf(idType: TypeName, { name }: Table): Fragment {
  return raw(`select ${storedColumns(idType)}, id from ${name}`)
}

async function held(session: SqlSession, found: Fragment): Promise<readonly Held[]> {
  return (await session.query(statementOf(found))).map((row) => ({ key: row[4]!, stored: storedFrom(row) }))
}
