/** Reads the history of a document: earlier versions from the history table, and the current one from its own. */
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Action } from '../../events.ts'
import {
  type HistoryRow,
  type HistoryRequest,
  type HistoryVersion,
  noHistory,
  versionsFrom,
} from '../../history.ts'
import type { Bounds } from '../../bounds.ts'
import type { Table } from '../schema/catalogue.ts'
import type { Connections, Row } from '../connection/connections.ts'
import { idKey } from '../schema/indexes.ts'
import { piecesOn } from './stream.ts'

interface Reading {
  readonly table: Table | undefined
  readonly connections: Connections
  readonly bounds: Bounds
}

export async function* readHistory(
  { collection, id }: HistoryRequest,
  { table, connections, bounds }: Reading,
): AsyncGenerator<HistoryVersion> {
  const past = table?.past
  if (!past) throw noHistory(collection.entity)
  const text = `with r1 as (select r2.id, r2.follows, r2.version, r2.operation, r2.principal, r2.doc, r2.paths
      from ${past.name} r2 where r2.id = $1
      union all select r3.id, r3.version, null, null, null, r3.doc, r3.paths
      from ${table.name} r3 where r3.id = $1)
    select follows, version, operation, principal, doc, paths from r1 order by follows, id`
  const pieces = piecesOn(connections, { text, values: [idKey(id)] }, bounds)
  yield* versionsFrom(typeof id === 'string' ? id : JSON.stringify(id), entriesFrom(pieces))
}

async function* entriesFrom(
  pieces: AsyncIterable<readonly Row[]>,
): AsyncGenerator<HistoryRow | StoredDocument> {
  for await (const rows of pieces) yield* rows.map(entryFrom)
}

/** The current document has no later change. */
function entryFrom([follows, version, operation, principal, doc, paths]: Row): HistoryRow | StoredDocument {
  const state = { text: doc!, paths: Number(paths) }
  if (version === null || version === undefined) return { id: '', version: Number(follows), ...state }
  return {
    follows: Number(follows),
    version: Number(version),
    operation: operation as Action,
    principal: principal!,
    ...state,
  }
}
