/**
 * Inserts and replaces single documents for writes that need one statement; the requests of one moment share it. A
 * document is replaced only if it still has the version that was read, and inserted only if its key is new, whatever
 * happens to the others.
 */
import { ServiceError } from '../../../base/errors.ts'
import type { Bounds } from '../../bounds.ts'
import { type Fragment, type Statement, join, raw, sql } from '../../sql/fragment.ts'
import type { Connections } from '../connection/connections.ts'
import { unlessUnknown } from '../connection/failures.ts'
import { createSharing } from '../connection/sharing.ts'
import { MAX_SHARED_BYTES } from '../read/shared-reads.ts'
import type { Table } from '../schema/catalogue.ts'
import { type Layout, columnLists, columnTexts, layoutToWrite } from '../schema/columns.ts'
import { keepsHistory } from './history-rows.ts'
import { insertStatement, textList, updateStatement } from './row-statements.ts'
import type { ChangedRow, NewRow } from './rows.ts'
import { listParam, statementOf } from './statement.ts'

export interface SharedWrites {
  /** Returns whether the document was replaced. Only for rows that `isPlain` accepts, like `insert`. */
  replace(table: Table, row: ChangedRow, bounds: Bounds): Promise<boolean>
  /** Returns whether the document was inserted; fails if it was alone and its key repeats. */
  insert(table: Table, row: NewRow, bounds: Bounds): Promise<boolean>
}

/**
 * Whether the row is all that a change writes. On a cluster nothing is shared, because a statement for several rows goes
 * to several nodes.
 */
export function isPlain(row: ChangedRow | NewRow, table: Table): boolean {
  if (table.isDistributed || keepsHistory(table) || row.outboxEntries.length > 0) return false
  return 'claims' in row ? row.claims.size === 0 : row.released.size + row.claimed.size === 0
}

export function createSharedWrites(connections: Connections): SharedWrites {
  const commit = async (statement: Statement, bounds: Bounds): Promise<ReadonlySet<string | null>> => {
    try {
      return new Set((await connections.query(statement, bounds)).map(([id]) => id!))
    } catch (error) {
      throw unlessUnknown(error)
    }
  }
  const writing = <R extends ChangedRow | NewRow>(write: (rows: readonly R[], table: Table) => Statement) =>
    createSharing<Table, R, boolean>({
      async together(table, rows) {
        // Of several changes of one document that begin with the same version, only one can be written.
        const byKey = new Map(rows.toReversed().map((row) => [row.key, row]))
        // In the order of keys, like every write, so that statements seldom deadlock.
        const inOrder = [...byKey.values()].sort((a, b) => (a.key < b.key ? -1 : 1))
        const written = await commit(write(inOrder, table), SHARED)
        return rows.map((row) => byKey.get(row.key) === row && written.has(row.key))
      },
      ...SHARED,
      minTimeLimitMs: MIN_TIME_LIMIT_MS,
      maxWaitMs: MAX_WAIT_MS,
      maxWaiting: MAX_WAITING,
      mayRepeat: (error) => !(error instanceof ServiceError && error.code === 'store-crud:OutcomeUnknown'),
    })
  const replacing = writing(replaceStatement)
  const inserting = writing(insertNewStatement)
  return {
    replace(table, row, bounds) {
      const alone = async (): Promise<boolean> =>
        (await commit(updateStatement(row, table), bounds)).has(row.key)
      return isLarge(row) ? alone() : replacing.run({ table, item: row, bounds, alone })
    },
    insert(table, row, bounds) {
      const alone = async (): Promise<boolean> => {
        await commit(insertStatement([row], table), bounds)
        return true
      }
      return isLarge(row) ? alone() : inserting.run({ table, item: row, bounds, alone })
    },
  }
}

const SHARED: Bounds = { timeLimitMs: 200 }
const MIN_TIME_LIMIT_MS = 2_000
const MAX_WAIT_MS = 10
/** Each waiting request holds its document. */
const MAX_WAITING = 1_000

function isLarge({ document }: ChangedRow | NewRow): boolean {
  // A character takes three bytes at most.
  return document.text.length > MAX_SHARED_BYTES / 3
}

/** Returns the keys of the documents that still had the version that was read. */
function replaceStatement(rows: readonly ChangedRow[], table: Table): Statement {
  const layout = layoutToWrite(
    table.layout,
    rows.map(({ change }) => change),
  )
  const columns = rows.map(({ change }) => columnTexts(change.after, layout))
  const names = namesOf(layout)
  const seen = listParam('bigint', rows, (row) => String(row.seen.version))
  const changes = raw(names.map((each) => `${each} = new.${each}`).join(', '))
  return statementOf(sql`update ${raw(table.name)} as stored set ${changes}
    from unnest(${join([seen, ...valuesOf(rows, columns, layout)], ', ')}) as new(seen, id, ${raw(names.join(', '))})
    where stored.id = new.id and stored.version = new.seen returning stored.id`)
}

/** Returns the keys that were new. */
function insertNewStatement(rows: readonly NewRow[], table: Table): Statement {
  const { layout } = table
  const columns = rows.map((row) => row.columns)
  const names = raw(`id, ${namesOf(layout).join(', ')}`)
  return statementOf(sql`insert into ${raw(table.name)}(${names})
    select ${names} from unnest(${join(valuesOf(rows, columns, layout), ', ')}) as new(${names})
    on conflict (id) do nothing returning id`)
}

function namesOf({ columns }: Layout): readonly string[] {
  return ['version', 'paths', 'doc', ...columns.map(({ name }) => name)]
}

/** One list for the keys, and one for each of `namesOf`. */
function valuesOf(
  rows: readonly (ChangedRow | NewRow)[],
  columns: readonly (readonly (string | null)[])[],
  layout: Layout,
): readonly Fragment[] {
  return [
    listParam('text', rows, ({ key }) => key),
    listParam('bigint', rows, ({ document }) => String(document.version)),
    listParam('integer', rows, ({ document }) => String(document.paths)),
    textList(rows),
    ...columnLists(columns, layout),
  ]
}
