/** Outbox entries, as parts of the statements that make the changes: both are committed together or not at all. */
import type { OutboxEntry } from '../../../plan/plan.ts'
import { holderOf } from '../../events.ts'
import { type Fragment, type Statement, join, param, raw, sql } from '../../sql/fragment.ts'
import { type InsertParams, type UpdateParams, listParam, statementOf } from './statement.ts'

/** The outbox entries for the change of one document. */
export interface CapturedChange {
  /** The key of the document's row. */
  readonly key: string
  /** `_id` as text. */
  readonly document: string
  readonly outboxEntries: readonly OutboxEntry[]
}

export const OUTBOX_COLUMNS = `smalt_outbox(
  doc, id, entity, hook, operation, document, at, seen, version, details, before, after, holder)`

const INTO = raw(`insert into ${OUTBOX_COLUMNS}`)

const NULL = raw('null')

/** For one document that is inserted. */
export function outboxOfInsert(
  { document, outboxEntries }: CapturedChange,
  { keys, version, texts }: InsertParams,
): Fragment {
  const documentParam = param(document)
  const rows = outboxEntries.map((outboxEntry, i) => {
    const { id, entity, hook, operation, at, details } = paramsOf(outboxEntry)
    const holder = holderIn(outboxEntries, i)
    const [after, held] = holder === '' ? [texts, NULL] : [NULL, param(holder)]
    return sql`(${keys}, ${id}, ${entity}, ${hook}, ${operation}, ${documentParam}, ${at}, null, ${version}, ${details}, null, ${after}, ${held})`
  })
  return sql`entered as (${INTO} values ${join(rows, ', ')})`
}

/** For several documents that are inserted together. */
export function outboxOfInserts(
  captured: readonly CapturedChange[],
  { keys, version, texts }: InsertParams,
): Fragment {
  const states = { seen: NULL, version: sql`${version}::bigint`, before: NULL, after: raw('new.doc') }
  return sql`entered as (${selectEntries(states)}
    from ${listOf(captured)}, unnest(${keys}, ${texts}) as new(id, doc) where new.id = entry.doc)`
}

/** For the document whose key `written` returns. */
export function outboxOfUpdate(
  captured: CapturedChange,
  { params, text }: { readonly params: UpdateParams; readonly text: Fragment },
): Fragment {
  const states = {
    seen: sql`${params.seen}::bigint`,
    version: sql`${params.version}::bigint`,
    before: sql`${text}::text`,
    after: sql`${params.text}::text`,
  }
  return outboxOfOne(captured, states, raw('written'))
}

/** For the document that `gone` returns. */
export function outboxOfDelete(captured: CapturedChange): Fragment {
  const states = { seen: raw('gone.version'), version: NULL, before: raw('gone.doc'), after: NULL }
  return outboxOfOne(captured, states, raw('gone'))
}

/** The versions and texts of a document before and after the change, in SQL. */
interface States {
  readonly seen: Fragment
  readonly version: Fragment
  readonly before: Fragment
  readonly after: Fragment
}

/** A single entry is sent as values, which is faster than a list of one. */
function outboxOfOne(captured: CapturedChange, states: States, from: Fragment): Fragment {
  const { key, document, outboxEntries } = captured
  if (outboxEntries.length > 1)
    return sql`entered as (${selectEntries(states)} from ${from}, ${listOf([captured])})`
  const { seen, version, before, after } = states
  const { id, entity, hook, operation, at, details } = paramsOf(outboxEntries[0]!)
  return sql`entered as (${INTO}
    select ${param(key)}, ${id}, ${entity}, ${hook}, ${operation}, ${param(document)}, ${at}::bigint, ${seen}, ${version},
      ${details}, ${before}, ${after}, null
    from ${from})`
}

/** A document that an earlier statement deleted. */
export interface Gone extends CapturedChange {
  readonly version: number
  readonly text: string
}

export function goneStatement(gone: readonly Gone[]): Statement {
  const old = [
    listParam('text', gone, ({ key }) => key),
    listParam('bigint', gone, ({ version }) => String(version)),
    listParam('text', gone, ({ text }) => text),
  ]
  const states = { seen: raw('old.version'), version: NULL, before: raw('old.text'), after: NULL }
  return statementOf(sql`${selectEntries(states)}
    from ${listOf(gone)}, unnest(${join(old, ', ')}) as old(id, version, text) where old.id = entry.doc`)
}

/**
 * Selects entries from a list with the alias `entry`. Texts of documents go only into the entries that store
 * them for the others.
 */
function selectEntries({ seen, version, before, after }: States): Fragment {
  return sql`${INTO}
    select entry.doc, entry.id, entry.entity, entry.hook, entry.operation, entry.document, entry.at, ${seen}, ${version},
      entry.details, ${ifHolder(before)}, ${ifHolder(after)}, case when entry.holder <> '' then entry.holder end`
}

function ifHolder(text: Fragment): Fragment {
  return text === NULL ? NULL : sql`case when entry.holder = '' then ${text} end`
}

const LIST_TYPES = ['text', 'text', 'text', 'text', 'text', 'text', 'bigint', 'text', 'text'] as const

function listOf(captured: readonly CapturedChange[]): Fragment {
  const rows = captured.flatMap(({ key, document, outboxEntries }) =>
    outboxEntries.map((outboxEntry, i) => [
      key,
      document,
      ...fieldsOf(outboxEntry),
      holderIn(outboxEntries, i),
    ]),
  )
  const lists = LIST_TYPES.map((type, i) => listParam(type, rows, (row) => row[i]!))
  return sql`unnest(${join(lists, ', ')}) as entry(doc, document, id, entity, hook, operation, at, details, holder)`
}

/** The id of the entry that stores the documents for this one; empty if it stores them itself. */
export function holderIn(outboxEntries: readonly OutboxEntry[], i: number): string {
  const holder = holderOf(i)
  return holder === i ? '' : outboxEntries[holder]!.id
}

function fieldsOf({ id, entity, hook, operation, at, details }: OutboxEntry): readonly string[] {
  return [id, entity, hook, operation, String(at), details]
}

function paramsOf({ id, entity, hook, operation, at, details }: OutboxEntry) {
  return {
    id: param(id),
    entity: param(entity),
    hook: param(hook),
    operation: param(operation),
    at: param(String(at)),
    details: param(details),
  }
}
