/** Executes write plans inside an open transaction. */
import { unreachable } from '../../../base/errors.ts'
import type { JsonObject } from '../../../base/json/json.ts'
import { memoized } from '../../../base/memo.ts'
import { spend } from '../../../base/work/work.ts'
import type { Query } from '../../../lang/query.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import {
  type Change,
  type DeletePlan,
  type Draw,
  type InsertPlan,
  type Outcome,
  type SavePlan,
  type StoredDocument,
  type UpdatePlan,
  type Write,
  type WritePlan,
  isFailure,
  unwritten,
} from '../../../plan/plan.ts'
import { type Changed, areSameMembers, columnsToWrite } from '../../layout/values.ts'
import { bind } from '../../sql/sqlite-dialect.ts'
import type { Table } from '../catalogue.ts'
import { columnChanges, columnValues, indexedColumns, insertStatement } from '../columns.ts'
import { isConstraintError, violatedIndex } from '../file/failures.ts'
import type { Enter, OutboxWriter } from './outbox.ts'
import { type Keeping, keepingIn } from './history.ts'
import { type Statements, matchStatement, storedColumns, versionsStatement } from '../read/reads.ts'
import type { Report } from '../../store.ts'
import type { Candidates } from '../read/slow-reads.ts'
import { noteRow } from '../read/table-size.ts'

interface WriteContext {
  readonly table: Table
  readonly statements: Statements
  /** The version of all documents that the plan writes. */
  readonly version: number
  readonly report: Report
  readonly draw: Draw
  /** When present, only these rows can match. */
  readonly candidates?: Candidates
  readonly outbox: OutboxWriter
  /** Absent when no hook watches. */
  readonly enter?: Enter
  /** Absent when history is off. */
  readonly keeping?: Keeping
}

/** Returns whether to commit. */
export function carryOut(plan: WritePlan, given: WriteContext): boolean {
  const keeping = keepingIn(given.table, given.statements, plan.principal)
  const context = {
    ...given,
    ...(plan.captureChange && { enter: given.outbox.entering(plan.captureChange) }),
    ...(keeping && { keeping }),
  }
  if (!plan.atomic) {
    perform(plan, context)
    return true
  }
  const { statements, report } = context
  let hasFailed = false
  statements.prepare('savepoint plan').run()
  perform(plan, {
    ...context,
    report(outcome, item) {
      hasFailed ||= isFailure(outcome)
      report(outcome, item)
    },
  })
  if (hasFailed) statements.prepare('rollback to plan').run()
  statements.prepare('release plan').run()
  return !hasFailed
}

function perform(plan: WritePlan, context: WriteContext): void {
  switch (plan.kind) {
    case 'insert':
      return insertAll(plan, context)
    case 'update':
      return updateAll(plan, context)
    case 'save':
      return saveAll(plan, context)
    case 'delete':
      return deleteAll(plan, context)
    default:
      return unreachable(plan)
  }
}

function insertAll(plan: InsertPlan, context: WriteContext): void {
  const insert = inserter(plan, context)
  for (const [i, document] of plan.documents.entries()) context.report(insert(document), i)
}

function inserter(plan: WritePlan, context: WriteContext): (document: JsonObject) => Outcome {
  const { table, statements, keeping } = context
  const insert = statements.prepare(insertStatement(table))
  return (document) => {
    const text = JSON.stringify(document)
    spendOnWrite(text, context)
    const _id = document['_id']!
    const key = bind(_id, plan.idType)
    const follows = keeping?.latest(key) ?? 0
    const version = Math.max(context.version, follows + 1)
    return unlessDuplicate(context, () => {
      const { lastInsertRowid } = insert.run(key, version, text, ...columnValues(document, table.columns))
      noteRow(table, Number(lastInsertRowid))
      enterElements(Number(lastInsertRowid), { arrays: table.arrays, statements })
      keeping?.inserted(key, { _id, follows, version })
      const id = idText(document)
      context.enter?.({ operation: 'insert', after: document }, { document: id, before: null, after: text })
      return { kind: 'inserted', document: { id, version, text } }
    })
  }
}

/** All matches are collected before the first change, so that a changed document is not matched again. */
function updateAll(plan: UpdatePlan, context: WriteContext): void {
  for (const no of matching(plan.query, context)) {
    const stored = readOne(no, plan, context)
    const outcome = applyChange(plan.change(stored, context.draw), stored, { no, context })
    if (outcome) context.report(outcome)
  }
}

function saveAll(plan: SavePlan, context: WriteContext): void {
  for (const [i, { query, change }] of plan.items.entries()) {
    const [no] = query ? matching(query, context) : []
    if (no !== undefined) {
      const stored = readOne(no, plan, context)
      const outcome = applyChange(change(stored, context.draw), stored, { no, context })
      if (outcome) context.report(outcome, i)
      continue
    }
    const made = change(undefined, context.draw)
    if (made.kind === 'write') context.report(inserter(plan, context)(made.document), i)
    else if (made.kind === 'refuse') context.report({ kind: 'refused', faults: made.faults }, i)
  }
}

function applyChange(
  change: Change,
  stored: StoredDocument,
  { no, context }: { readonly no: number; readonly context: WriteContext },
): Outcome | undefined {
  if (change.kind !== 'write') return unwritten(change, stored)
  const outcome = updateOne(no, change, { stored, context })
  return outcome.kind === 'duplicate' ? { ...outcome, document: stored } : outcome
}

function updateOne(
  no: number,
  { document, before }: Write,
  { stored, context }: { readonly stored: StoredDocument; readonly context: WriteContext },
): Outcome {
  const { table, statements } = context
  const text = JSON.stringify(document)
  spendOnWrite(text, context)
  // The version of a document increases even when the clock was set back since its last write.
  const version = Math.max(context.version, stored.version + 1)
  return unlessDuplicate(context, () => {
    const changed = { before, after: document }
    const { changes, values } = changedColumns(no, changed, context)
    const update = statements.prepare(`update ${table.name} set version = ?, doc = ?${changes} where no = ?`)
    update.run(version, text, ...values, no)
    const arrays = table.arrays.filter(({ paths }) => !areSameMembers(paths, changed))
    removeElements(no, { arrays, statements }, { isEnteredAgain: true })
    enterElements(no, { arrays, statements })
    context.keeping?.changed(no, { operation: 'update', before: stored, version })
    const change = { operation: 'update', before: stored, after: document } as const
    context.enter?.(change, { document: stored.id, before: stored.text, after: text })
    return { kind: 'updated', document: { id: stored.id, version, text } }
  })
}

/**
 * The columns to write: those of indexes only if their value changes, because SQLite replaces the entries of every index that
 * has a written column.
 */
function changedColumns(no: number, change: Changed, { table, statements }: WriteContext) {
  const columns = columnsToWrite(table.columns, [change])
  const values = columnValues(change.after, columns)
  const indexed = indexedIn(table)
  const compared = columns.flatMap((column, i) => (indexed.has(column) ? [i] : []))
  if (compared.length === 0) return { changes: columnChanges(columns), values }
  const tests = compared.map((i) => `${columns[i]!.name} is ?`).join(', ')
  const compare = statements.prepare(`select ${tests} from ${table.name} where no = ?`)
  const same = compare.get(...compared.map((i) => values[i]!), no) as unknown as readonly number[]
  const kept = new Set(compared.filter((_, i) => same[i] === 1))
  return {
    changes: columnChanges(columns.filter((_, i) => !kept.has(i))),
    values: values.filter((_, i) => !kept.has(i)),
  }
}

const indexedIn = memoized(({ columns, indexes }: Table) => indexedColumns(columns, indexes.values()))

function deleteAll(plan: DeletePlan, context: WriteContext): void {
  const remove = context.statements.prepare(`delete from ${context.table.name} where no = ?`)
  const isRead = plan.decide !== undefined || context.enter !== undefined || context.keeping !== undefined
  for (const no of matching(plan.query, context)) {
    spendOnWrite('', context)
    const stored = isRead ? readOne(no, plan, context) : undefined
    const decision = stored && plan.decide?.(stored)
    if (stored && decision && decision.kind !== 'delete') {
      const outcome = unwritten(decision, stored)
      if (outcome) context.report(outcome)
      continue
    }
    if (stored) enterDeleted(stored, no, context)
    remove.run(no)
    removeElements(no, { arrays: context.table.arrays, statements: context.statements })
    context.report(decision && stored ? { kind: 'deleted', document: stored } : { kind: 'deleted' })
  }
}

function enterDeleted(stored: StoredDocument, no: number, { enter, keeping, version }: WriteContext): void {
  const { id, text } = stored
  enter?.({ operation: 'delete', before: stored }, { document: id, before: text, after: null })
  keeping?.changed(no, {
    operation: 'delete',
    before: stored,
    version: Math.max(version, stored.version + 1),
  })
}

function matching(query: Query<FieldRef>, context: WriteContext): readonly number[] {
  const { table, statements, candidates } = context
  if (candidates) return stillMatching(query, candidates, context)
  const { text, values } = matchStatement(query, table)
  return (statements.prepare(text).all(...values) as unknown as [number][]).map(([no]) => no)
}

/** Candidates with an unchanged version still match; the others are matched again. */
function stillMatching(query: Query<FieldRef>, candidates: Candidates, { table, statements }: WriteContext) {
  const now = versionsStatement(JSON.stringify([...candidates.keys()]), table)
  const rows = statements.prepare(now.text).all(...now.values) as unknown as [no: number, version: number][]
  const changed = rows.filter(([no, version]) => candidates.get(no) !== version).map(([no]) => no)
  if (changed.length === 0) return rows.map(([no]) => no)
  const { text, values } = matchStatement(query, table, JSON.stringify(changed))
  const again = new Set((statements.prepare(text).all(...values) as unknown as [number][]).map(([no]) => no))
  return rows.filter(([no, version]) => candidates.get(no) === version || again.has(no)).map(([no]) => no)
}

function readOne(no: number, plan: WritePlan, { table, statements }: WriteContext): StoredDocument {
  const read = statements.prepare(`select ${storedColumns(plan.idType)} from ${table.name} where no = ?`)
  const [id, version, text] = read.get(no) as unknown as [string, number, string]
  return { id, version, text }
}

/** Indexes with tables of their own, into which a document is entered. */
interface Entering extends Pick<WriteContext, 'statements'> {
  readonly arrays: Table['arrays']
}

function enterElements(no: number, { arrays, statements }: Entering): void {
  for (const { enterOne } of arrays) statements.prepare(enterOne).run(no)
}

function removeElements(no: number, { arrays, statements }: Entering, { isEnteredAgain = false } = {}): void {
  for (const { removeOne, isReplaced } of arrays) {
    if (!isReplaced) statements.prepare(removeOne).run(no)
    else if (!isEnteredAgain) {
      // A delete from a full-text table leaves a row number of the engine's own as the last one inserted, which may be too
      // large for `run` to report, here or in the next statement. Any other insert resets it.
      statements.prepare(removeOne).all(no)
      statements.prepare(RESET_ROW_NUMBER).run()
    }
  }
}

/** Writes the only row again as it is. */
const RESET_ROW_NUMBER =
  'replace into smalt_epoch(rowid, epoch, layouts) select rowid, epoch, layouts from smalt_epoch'

/**
 * A failed statement leaves no changes. With indexes into arrays there are several statements, so a savepoint
 * undoes them.
 */
function unlessDuplicate({ table, statements }: WriteContext, work: () => Outcome): Outcome {
  const isGuarded = table.arrays.length > 0
  if (isGuarded) statements.prepare('savepoint document').run()
  try {
    const outcome = work()
    if (isGuarded) statements.prepare('release document').run()
    return outcome
  } catch (error) {
    if (!isConstraintError(error)) throw error
    if (isGuarded) {
      statements.prepare('rollback to document').run()
      statements.prepare('release document').run()
    }
    const fields = fieldsOf(violatedIndex(error), table)
    return { kind: 'duplicate', ...(fields && { fields }) }
  }
}

function fieldsOf(
  violated: ReturnType<typeof violatedIndex>,
  { indexes, columns }: Table,
): readonly string[] | undefined {
  if (typeof violated === 'number') return indexes.get(violated)?.fields.map(({ path }) => path)
  return violated?.map((name) => columns.find((column) => column.name === name)?.path ?? '_id')
}

/** Writing a row takes about ten microseconds, plus a few for each index. */
function spendOnWrite(text: string, { table }: WriteContext): void {
  spend(
    STEPS_PER_WRITE * (1 + table.indexes.size + table.wordIndexes.size) +
      text.length / CHARACTERS_WRITTEN_PER_STEP,
  )
}

const STEPS_PER_WRITE = 100
const CHARACTERS_WRITTEN_PER_STEP = 16

function idText(document: JsonObject): string {
  const id = document['_id']!
  return typeof id === 'string' ? id : JSON.stringify(id)
}
