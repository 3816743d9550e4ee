/**
 * Writes and reads history: a table beside the documents, with a row for each change, in the transaction of
 * the change.
 */
import type { Json } from '../../../base/json/json.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Action } from '../../events.ts'
import {
  type HistoryRow,
  type HistoryRequest,
  type HistoryVersion,
  noHistory,
  textBeforeInsert,
  versionsFrom,
} from '../../history.ts'
import { bind } from '../../sql/sqlite-dialect.ts'
import type { Bounds } from '../../bounds.ts'
import type { Table } from '../catalogue.ts'
import type { Statements } from '../read/reads.ts'
import type { Readers } from '../read/readers.ts'
import { type TableNow, untilCurrent } from '../read/slow-reads.ts'

/** Records the history of a write. */
export interface Keeping {
  /** The last version that a document ever had; an insert follows it. */
  readonly latest: (id: Id) => number
  readonly inserted: (id: Id, made: Made) => void
  /** Called while the row of the document still exists. */
  readonly changed: (no: number, change: Changed) => void
}

type Id = ReturnType<typeof bind>

interface Made {
  readonly _id: Json
  readonly follows: number
  readonly version: number
}

interface Changed {
  readonly operation: Exclude<Action, 'insert'>
  readonly before: StoredDocument
  readonly version: number
}

/** Undefined where history is off. */
export function keepingIn(table: Table, statements: Statements, principal = ''): Keeping | undefined {
  const { name, past } = table
  if (past?.since === undefined) return undefined
  const into = `insert into ${past.name}(id, follows, version, operation, principal, doc)`
  return {
    latest(id) {
      const row = statements.prepare(`select max(version) from ${past.name} where id = ?`).get(id)
      return (row as unknown as [number | null])[0] ?? 0
    },
    inserted(id, { _id, follows, version }) {
      const enter = statements.prepare(`${into} values (?, ?, ?, 'insert', ?, ?)`)
      enter.run(id, follows, version, principal, textBeforeInsert(_id))
    },
    changed(no, { operation, before, version }) {
      const enter = statements.prepare(`${into} select id, ?, ?, ?, ?, ? from ${name} where no = ?`)
      enter.run(before.version, version, operation, principal, before.text, no)
    },
  }
}

interface Reading {
  readonly tableNow: TableNow
  readonly readers: Readers
  readonly bounds: Bounds
}

export function readHistory(
  { collection, id, idType }: HistoryRequest,
  { tableNow, readers, bounds }: Reading,
): AsyncIterable<HistoryVersion> {
  const written = (): string => {
    const table = tableNow()
    if (!table?.past) throw noHistory(collection.entity)
    return `select follows, version, operation, principal, doc from ${table.past.name} where id = ? and follows > ?
      union all select version, null, null, null, doc from ${table.name} where id = ? and version > ?
      order by 1 limit ${PAGE}`
  }
  written()
  const key = bind(id, idType)
  return versionsFrom(typeof id === 'string' ? id : JSON.stringify(id), entries())

  /** Reads one page at a time. Changes are only appended to the chain, so pages of different snapshots fit together. */
  async function* entries(): AsyncGenerator<HistoryRow | StoredDocument> {
    for (let after = -1; ;) {
      const page: Row[] = []
      await untilCurrent(async () => {
        const statement = { text: written(), values: [key, after, key, after] }
        await readers.read({ statement, bounds }, (rows: readonly Row[]) => void page.push(...rows))
      })
      yield* page.map(entryFrom)
      if (page.length < PAGE) return
      after = page.at(-1)![0]
    }
  }
}

const PAGE = 50

type Row = readonly [
  follows: number,
  version: number | null,
  operation: Action,
  principal: string,
  text: string,
]

/** A row without `version` is the current document, which no change follows. */
function entryFrom([follows, version, operation, principal, text]: Row): HistoryRow | StoredDocument {
  if (version === null) return { id: '', version: follows, text }
  return { follows, version, operation, principal, text }
}
