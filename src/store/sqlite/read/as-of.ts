/**
 * Tables of documents as of a timestamp: current documents that are older, and earlier versions that were
 * replaced later.
 */
import { beforeHistory, noHistory } from '../../history.ts'
import { type Fragment, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../catalogue.ts'

/** The tables are common table expressions with their own names. */
interface AsOf {
  readonly tableAt: (table: Table) => Table
  readonly inFront: () => readonly Fragment[]
}

export function asOfFrom(asOf: number): AsOf {
  const seen = new Map<number, { readonly table: Table; readonly rows: Fragment }>()
  const tableAt = (table: Table): Table => {
    const known = seen.get(table.no)
    if (known) return known.table
    const name = `at_${table.no}`
    const made = asItWas(table, name, tableAt)
    seen.set(table.no, { table: made, rows: sql`${raw(name)} as (${rowsAt(table, asOf)})` })
    return made
  }
  return { tableAt, inFront: () => [...seen.values()].map(({ rows }) => rows) }
}

/** Indexes and columns contain current documents only, so the table as of a timestamp has none. */
function asItWas(table: Table, name: string, tableAt: AsOf['tableAt']): Table {
  return {
    ...table,
    name,
    columns: [],
    firsts: new Set(),
    ordered: new Set(),
    folded: new Set(),
    elements: new Map(),
    foldedElements: new Map(),
    wordTables: new Map(),
    beside: (collection) => {
      const other = table.beside(collection)
      return other && tableAt(other)
    },
  }
}

function rowsAt({ name, past, entity }: Table, asOf: number): Fragment {
  if (past?.since === undefined) throw noHistory(entity)
  if (asOf < past.since) throw beforeHistory(entity, past.since)
  const present = sql`select no, id, version, doc from ${raw(name)} where version <= ${param(asOf)}`
  const replaced = sql`select -no, id, follows, doc from ${raw(past.name)} where follows <= ${param(asOf)} and version > ${param(asOf)} and operation <> 'insert'`
  return sql`${present} union all ${replaced}`
}
