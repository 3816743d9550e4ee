/**
 * Reads and replaces single documents for writes that need one statement; the requests of one moment share it. A
 * document is replaced only if it still has the version that was read, whatever happens to the others.
 */
import { ServiceError } from '../../../base/errors.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Bounds } from '../../bounds.ts'
import { type Statement, join, param, raw, sql } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import type { Connections } from '../connection/connections.ts'
import { unlessUnknown } from '../connection/failures.ts'
import { SHARED, createSharing } from '../connection/sharing.ts'
import { storedFrom } from '../read/reads.ts'
import type { Table } from '../schema/catalogue.ts'
import { columnLists } from '../schema/columns.ts'
import { keepsHistory } from './history-rows.ts'
import { textList, updateStatement } from './row-statements.ts'
import type { ChangedRow } from './rows.ts'
import { listParam, statementOf } from './statement.ts'

export interface SharedWrites {
  read(table: Table, id: string, bounds: Bounds): Promise<StoredDocument | undefined>
  /** Returns whether the document was replaced. Only for rows that `isPlain` accepts. */
  replace(table: Table, row: ChangedRow, bounds: Bounds): Promise<boolean>
}

/**
 * Whether the row is all that a change writes. On a cluster nothing is shared, because a statement for several rows goes
 * to several nodes.
 */
export function isPlain({ outboxEntries, released, claimed }: ChangedRow, table: Table): boolean {
  if (table.isDistributed || keepsHistory(table)) return false
  return outboxEntries.length + released.size + claimed.size === 0
}

export function createSharedWrites(connections: Connections): SharedWrites {
  const commit = async (statement: Statement, bounds: Bounds): Promise<ReadonlySet<string | null>> => {
    try {
      return new Set((await connections.query(statement, bounds)).map(([id]) => id!))
    } catch (error) {
      throw unlessUnknown(error)
    }
  }
  const reading = createSharing<Table, string, StoredDocument | undefined>({
    async together(table, ids) {
      const rows = await connections.query(readStatement(table, ids), SHARED)
      const found = new Map(rows.map((row) => [row[0], storedFrom(row)]))
      return ids.map((id) => found.get(id))
    },
    mayRepeat: () => true,
  })
  const replacing = createSharing<Table, ChangedRow, boolean>({
    async together(table, rows) {
      // Of several changes of one document that begin with the same version, only one can be written.
      const byKey = new Map(rows.toReversed().map((row) => [row.key, row]))
      const replaced = await commit(replaceStatement([...byKey.values()], table), SHARED)
      return rows.map((row) => byKey.get(row.key) === row && replaced.has(row.key))
    },
    mayRepeat: (error) => !(error instanceof ServiceError && error.code === 'store-crud:OutcomeUnknown'),
  })
  return {
    read(place, id, bounds) {
      const alone = async (): Promise<StoredDocument | undefined> => {
        const [row] = await connections.query(readStatement(place, [id]), bounds)
        return row && storedFrom(row)
      }
      return place.isDistributed ? alone() : reading.run({ place, item: id, bounds, alone })
    },
    replace: (place, row, bounds) =>
      replacing.run({
        place,
        item: row,
        bounds,
        alone: async () => (await commit(updateStatement(row, place), bounds)).has(row.key),
      }),
  }
}

function readStatement({ name }: Table, ids: readonly string[]): Statement {
  const read = sql`select id, version, doc, paths from ${raw(name)}`
  const [first, ...others] = ids
  if (others.length === 0) return statementOf(sql`${read} where id = ${param(first!)}`)
  return statementOf(sql`${read} where id = any(${param(arrayText([...new Set(ids)]))})`)
}

/** Returns the keys of the documents that still had the version that was read. */
function replaceStatement(rows: readonly ChangedRow[], { name, layout }: Table): Statement {
  // In the order of keys, like every write, so that statements seldom deadlock.
  const inOrder = rows.toSorted((a, b) => (a.key < b.key ? -1 : 1))
  const values = [
    listParam('text', inOrder, ({ key }) => key),
    listParam('bigint', inOrder, ({ seen }) => String(seen.version)),
    listParam('bigint', inOrder, ({ document }) => String(document.version)),
    listParam('integer', inOrder, ({ document }) => String(document.paths)),
    textList(inOrder),
    ...columnLists(
      inOrder.map(({ columns }) => columns),
      layout,
    ),
  ]
  const names = ['version', 'paths', 'doc', ...layout.columns.map((each) => each.name)]
  const changes = raw(names.map((each) => `${each} = new.${each}`).join(', '))
  return statementOf(sql`update ${raw(name)} as stored set ${changes}
    from unnest(${join(values, ', ')}) as new(id, seen, ${raw(names.join(', '))})
    where stored.id = new.id and stored.version = new.seen returning stored.id`)
}
