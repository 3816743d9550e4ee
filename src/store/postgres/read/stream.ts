/**
 * Streams a page at the pace of its reader, in short statements: between two of them, neither a connection
 * nor a snapshot is in use.
 */
import { ServiceError } from '../../../base/errors.ts'
import { INLINE_STEPS, TooMuchForThisThread, Work, during } from '../../../base/work/work.ts'
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import { afterRow, afterValues, withLast } from '../../sql/keyset.ts'
import { type SqlValue, type Statement, join, param, raw, sql } from '../../sql/fragment.ts'
import { joinedColumns } from '../../sql/joined.ts'
import { sortValue } from '../../sql/order-by.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'
import { idKey } from '../schema/indexes.ts'
import type { Bounds } from '../../bounds.ts'
import { type KeySource, PAGE_BYTES, streamByKeys } from '../../stream-pages.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Connection, SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'
import { pieces } from '../connection/cursor.ts'
import { ResultTooLarge, repeatingLost } from '../connection/failures.ts'
import { tablesAt } from './as-of.ts'
import { pushdownTo } from './pushdown.ts'
import {
  conditionOf,
  order,
  pageDocument,
  print,
  requireAnswers,
  residualTest,
  storedColumns,
  window,
} from './reads.ts'
import { nameOfRows, sortedRows } from './sorted-rows.ts'
import { beginStatement, translation } from './translate.ts'

interface Streaming {
  readonly plan: ReadPlan
  /** Absent: no document was ever stored. */
  readonly tableOf: () => Table | undefined
  /** Repeats a statement if its table was renamed meanwhile, as it is when it gets columns. */
  readonly withCurrentTables: <T>(work: () => Promise<T>) => Promise<T>
  readonly bounds: Bounds
}

export async function* streamOn(
  connections: Connections,
  streaming: Streaming,
): AsyncGenerator<StoredDocument> {
  const { plan, tableOf, bounds } = streaming
  const table = tableOf()
  if (!table) return
  const source = sourceOf(connections, streaming)
  const residual = plan.query && pushdownTo(table, plan.asOf).split(plan.query).residual
  if (!residual) {
    yield* streamByKeys(plan, source)
    return
  }
  const test = residualTest(residual, bounds.work)
  // A find that reads a stream pays from its own budget, and can continue in a worker thread.
  const matches = bounds.work
    ? test
    : (document: StoredDocument): boolean => matchesInTime(() => test(document), bounds)
  const { from, to = Infinity } = plan
  let index = 0
  const { to: _to, ...unbounded } = plan
  for await (const document of streamByKeys({ ...unbounded, from: 0 }, source)) {
    if (index > to) return
    if (matches(document) && index++ >= from && index - 1 <= to) yield document
  }
}

/**
 * The main thread reads a stream, and a worker thread cannot continue it in the middle. So the test of one
 * document has a limited number of steps.
 */
function matchesInTime(test: () => boolean, { timeLimitMs }: Bounds): boolean {
  try {
    return during(new Work({ timeLimitMs, steps: INLINE_STEPS }), test)
  } catch (error) {
    if (!(error instanceof TooMuchForThisThread)) throw error
    const message = 'one of the documents takes too long to match for a stream; ask for it without "stream"'
    throw new ServiceError('store-crud:Timeout', message)
  }
}

/**
 * The rows of a statement in pieces, all from one snapshot, for consumers that read without delay: the
 * connection is leased until the end.
 */
export async function* piecesOn(
  connections: Connections,
  statement: Statement,
  bounds: Bounds,
): AsyncGenerator<readonly Row[]> {
  using lease = await connections.lease(bounds)
  const { connection } = lease
  const session: SqlSession = {
    query: (each) => connection.within(bounds, () => connection.query(each)),
  }
  connection.send('begin isolation level repeatable read read only')
  try {
    yield* pieces(session, statement)
  } finally {
    await connection.query({ text: 'rollback', values: [] }).catch(() => undefined)
  }
}

function sourceOf(
  connections: Connections,
  { plan, tableOf, withCurrentTables, bounds }: Streaming,
): KeySource<string> {
  /** The sort values of the last key, including the key. */
  let last: readonly SqlValue[] | undefined = afterValues(plan, POSTGRES, idKey)
  /** No rows once the table is dropped. */
  const alone = (
    read: (connection: Connection, table: Table) => Promise<readonly Row[]>,
  ): Promise<readonly Row[]> =>
    withCurrentTables(() =>
      repeatingLost(async () => {
        using lease = await connections.lease(bounds)
        const table = tableOf()
        return table ? await lease.connection.within(bounds, () => read(lease.connection, table)) : []
      }),
    )
  return {
    async keys(count, skip) {
      const rows = await alone((connection, table) =>
        connection.query(keysStatement(plan, table, { count, skip, last })),
      )
      last = rows.at(-1) ?? last
      return rows.map((row) => row.at(-1)!)
    },
    async documents(keys) {
      const maxBytes = keys.length === 1 ? Infinity : PAGE_BYTES
      try {
        const rows = await alone((connection, table) =>
          connection.queryAtMost(maxBytes, documentsStatement(plan, table, keys)),
        )
        return new Map(rows.map(([key, ...row]) => [key!, pageDocument(row)]))
      } catch (error) {
        if (!(error instanceof ResultTooLarge)) throw error
        return undefined
      }
    },
  }
}

interface KeyPage {
  readonly count: number
  readonly skip: number
  readonly last: readonly SqlValue[] | undefined
}

/** The last column is the key. */
function keysStatement(plan: ReadPlan, present: Table, { count, skip, last }: KeyPage): Statement {
  const { table, writing, name, filter } = begin(plan, present)
  const sorted = sortedRows(plan.sort, { table, idType: plan.idType }, { writing, name })
  const keys = [
    ...plan.sort.map(({ field, descending }) => ({
      value: sortValue(field, descending, sorted.to),
      descending,
    })),
    { value: raw('id'), descending: false },
  ]
  const columns = join(
    keys.map(({ value }) => value),
    ', ',
  )
  const isAfter = last ? [afterRow(withLast(keys, last))] : []
  const page = window({ from: skip, to: skip + count - 1 })
  const text = sql`select ${columns}${sorted.from(filter, isAfter)} order by ${order(plan, table, sorted)}${page}`
  return print(writing.finish(text))
}

/** The first column is the key. */
function documentsStatement(plan: ReadPlan, present: Table, keys: readonly string[]): Statement {
  const { table, writing, filter } = begin({ ...plan, sort: [] }, present)
  const { idType, joins = [] } = plan
  for (const each of joins) requireAnswers(each, table)
  const joined = joinedColumns(plan, translation({ table, idType }, writing, table.name))
  const columns = join([raw('id'), raw(storedColumns(idType)), ...joined], ', ')
  // The filter applies again, because a document may have changed since its key was read.
  const isChosen = sql`id = any(${param(arrayText(keys))})`
  const text = sql`select ${columns} from ${raw(table.name)} where ${join([isChosen, ...filter], ' and ')} order by id`
  return print(writing.finish(text))
}

function begin({ query, sort, idType, asOf }: ReadPlan, present: Table) {
  const writing = beginStatement()
  const table = asOf === undefined ? present : tablesAt(asOf, writing)(present)
  const pushed = query && pushdownTo(present, asOf).split(query).pushed
  const name = nameOfRows(sort, writing)
  const condition = conditionOf(pushed, { table, idType }, writing, name)
  return { table, writing, name, filter: condition ? [sql`(${condition})`] : [] }
}
