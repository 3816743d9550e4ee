/** Tables as of a timestamp: current documents that are old enough, and states in history that were replaced later. */
import { beforeHistory, noHistory } from '../../history.ts'
import { type Fragment, param, raw, sql } from '../../sql/fragment.ts'
import type { Table } from '../schema/catalogue.ts'
import { EARLIER } from '../schema/columns.ts'
import type { Writing } from './translate.ts'

/** Each table becomes a common table expression with a name of its own, in front of the statement. */
export function tablesAt(asOf: number, writing: Writing): (table: Table) => Table {
  const seen = new Map<number, Table>()
  const tableAt = (table: Table): Table => {
    const known = seen.get(table.no)
    if (known) return known
    const name = writing.alias('r')
    writing.putInFront(name, rowsAt(table, asOf, writing))
    const made = asItWas(table, name, tableAt)
    seen.set(table.no, made)
    return made
  }
  return tableAt
}

/** Columns and indexes cover only current documents, so that history cannot use them. */
function asItWas(table: Table, name: string, tableAt: (table: Table) => Table): Table {
  return {
    ...table,
    name,
    layout: EARLIER,
    texts: new Map(),
    folded: new Map(),
    elements: new Set(),
    firsts: new Set(),
    ordered: new Set(),
    beside: (collection) => {
      const other = table.beside(collection)
      return other && tableAt(other)
    },
  }
}

function rowsAt({ name, past, entity }: Table, asOf: number, { alias }: Writing): Fragment {
  if (past?.since === undefined) throw noHistory(entity)
  if (asOf < past.since) throw beforeHistory(entity, past.since)
  const [a, b] = [alias('r'), alias('r')]
  const moment = param(String(asOf))
  const present = sql`select ${raw(`${a}.id, ${a}.version, ${a}.paths, ${a}.doc, ${a}.doc::jsonb as body from ${name} ${a}`)} where ${raw(`${a}.version`)} <= ${moment}::bigint`
  // A history row is the state before a change: it was current from version `follows` until `version`. Before
  // an insert there was no document.
  const replaced = sql`select ${raw(`${b}.id, ${b}.follows, ${b}.paths, ${b}.doc, ${b}.doc::jsonb from ${past.name} ${b}`)} where ${raw(`${b}.follows`)} <= ${moment}::bigint and ${raw(`${b}.version`)} > ${moment}::bigint and ${raw(`${b}.operation`)} <> 'insert'`
  return sql`${present} union all ${replaced}`
}
