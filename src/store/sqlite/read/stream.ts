/** Streams a page at the pace of its reader, in short reads on reader threads. */
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import { afterRow, afterValues, withLast } from '../../sql/keyset.ts'
import {
  type Fragment,
  type SqlValue,
  type Statement,
  join,
  param,
  raw,
  render,
  sql,
} from '../../sql/fragment.ts'
import { joinedColumns } from '../../sql/joined.ts'
import { sortValue } from '../../sql/order-by.ts'
import { SQLITE, bind } from '../../sql/sqlite-dialect.ts'
import { where } from '../../sql/where.ts'
import type { Bounds } from '../../bounds.ts'
import { type KeySource, PAGE_BYTES, streamByKeys } from '../../stream-pages.ts'
import type { Table } from '../catalogue.ts'
import { asOfFrom } from './as-of.ts'
import type { Readers } from './readers.ts'
import { type StoredRow, behind, order, sortTranslation, storedColumns, storedFrom, window } from './reads.ts'
import { sortsAfterwards } from './planner-hints.ts'
import { type TableNow, untilCurrent } from './slow-reads.ts'
import { beginStatement, translation } from './translate.ts'
import { watch } from './watch.ts'

interface Streaming {
  readonly plan: ReadPlan
  readonly bounds: Bounds
}

export async function* streamFrom(
  readers: Readers,
  tableNow: TableNow,
  streaming: Streaming,
): AsyncGenerator<StoredDocument> {
  yield* streamByKeys(streaming.plan, sourceOf(readers, tableNow, streaming))
}

/** A stream may last long, so every statement is written for the tables that there are when it is read. */
function sourceOf(readers: Readers, tableNow: TableNow, { plan, bounds }: Streaming): KeySource<SqlValue> {
  /** The sort values of the last key, where the next page of keys resumes. */
  let last = afterValues(plan, SQLITE, bind)
  return {
    async keys(count, skip) {
      const found = await untilCurrent(async () => {
        const table = tableNow()
        if (!table) return undefined
        const statement = keysStatement(plan, table, { count, skip, last })
        return await readers.readKeys({ statement, bounds })
      })
      last = found?.last?.slice(1) ?? last
      return found?.keys ?? []
    },
    async documents(keys) {
      const documents = new Map<SqlValue, StoredDocument>()
      let bytes = 0
      const take = (rows: readonly KeyedRow[]): void => {
        for (const [key, ...row] of rows) {
          for (const column of row) if (typeof column === 'string') bytes += column.length
          if (bytes > PAGE_BYTES && keys.length > 1) throw TOO_MUCH
          documents.set(key, storedFrom(row))
        }
      }
      try {
        await untilCurrent(async () => {
          const table = tableNow()
          if (!table) return
          await readers.read({ statement: documentsStatement(plan, table, keys), bounds }, take)
        })
        return documents
      } catch (error) {
        if (error !== TOO_MUCH) throw error
        return undefined
      }
    },
  }
}

type KeyedRow = readonly [key: SqlValue, ...StoredRow]

const TOO_MUCH = new Error('too much to be held at once')

interface KeyPage {
  readonly count: number
  readonly skip: number
  readonly last: readonly SqlValue[] | undefined
}

function keysStatement(plan: ReadPlan, present: Table, { count, skip, last }: KeyPage): Statement {
  const { table, inFront, key, filter } = begin(plan, present)
  const to = sortTranslation(plan, table, { isWatched: true })
  const sorted = plan.sort.map(({ field, descending }) => ({
    value: sortValue(field, descending, to),
    descending,
  }))
  const keys = [...sorted, { value: raw('id'), descending: false }]
  const columns = join([key, ...keys.map(({ value }) => value)], ', ')
  // The unary `+` keeps SQLite from using an index for this condition instead of reading rows in order.
  const sign = raw(keys.length > 1 || sortsAfterwards(plan, table) ? '+' : '')
  const terms = [...filter, ...(last ? [sql`${sign}${afterRow(withLast(keys, last))}`] : [])]
  const page = window({ from: skip, to: skip + count - 1 })
  const text = sql`select ${columns} from ${raw(table.name)} where ${join(terms, ' and ')} order by ${order(plan, table, { isWatched: true })}${page}`
  return render(behind([...inFront(), text]), SQLITE.placeholder)
}

function documentsStatement(plan: ReadPlan, present: Table, keys: readonly SqlValue[]): Statement {
  const { table, inFront, key, filter, writing } = begin(plan, present)
  const joined = joinedColumns(plan, translation(table, writing, table.name))
  const columns = join([key, raw(storedColumns(plan.idType)), ...joined], ', ')
  // The unary `+` keeps SQLite from finding rows by anything but their keys.
  const text = sql`select ${columns} from ${raw(table.name)} where ${key} in (${join(keys.map(param), ', ')}) and +(${join(filter, ' and ')})`
  return render(behind([...inFront(), text]), SQLITE.placeholder)
}

function begin(plan: ReadPlan, present: Table) {
  const writing = beginStatement(true)
  const moment = plan.asOf === undefined ? undefined : asOfFrom(plan.asOf)
  const table = moment ? moment.tableAt(present) : present
  const matches = plan.query && where(plan.query, translation(table, writing, table.name))
  return {
    table,
    writing,
    inFront: (): readonly Fragment[] => moment?.inFront() ?? [],
    // History is keyed by `_id`, because a replaced document has another row number there.
    key: raw(`${table.name}.${moment ? 'id' : 'no'}`),
    filter: [watch(plan, table), ...(matches ? [matches] : [])],
  }
}
