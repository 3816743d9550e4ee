/** Exports and imports the history of documents, for a transfer between stores. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { ExportedChange } from '../../transfer.ts'
import type { Action } from '../../events.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { historyTableName } from '../schema/catalogue.ts'
import { findCollection } from '../schema/collections.ts'
import type { Collection } from '../../../schema/schema.ts'
import type { SqlSession } from '../connection/connection.ts'
import { idKey } from '../schema/indexes.ts'
import { insertValues } from '../schema/insert-values.ts'

/** The parameters of one page of a collection. */
export interface ExportPage {
  readonly collection: Collection
  readonly limit: number
  readonly session: SqlSession
}

/** Ordered by document, then by change. */
export async function changesAfter(
  last: ExportedChange | undefined,
  { collection, limit, session }: ExportPage,
): Promise<readonly ExportedChange[]> {
  const record = await findCollection(session, collection)
  if (!record?.hasHistory) return []
  const from = `select follows, version, operation, principal, doc, id from ${historyTableName(record)}`
  const statement =
    last === undefined
      ? { text: `${from} order by id, follows limit $1`, values: [limit] }
      : {
          text: `${from} where (id, follows) > ($2, $3::bigint) order by id, follows limit $1`,
          values: [limit, last.key, last.follows],
        }
  return (await session.query(statement)).map(([follows, version, operation, principal, text, key]) => ({
    key: key!,
    follows: Number(follows),
    version: Number(version),
    operation: operation as Action,
    principal: principal!,
    text: text!,
  }))
}

export function historyRowsStatement(
  changes: readonly ExportedChange[],
  paths: number,
  table: string,
): Statement {
  const text = `insert into ${table}(id, follows, version, operation, principal, paths, doc)
    select kept.id, kept.follows, kept.version, kept.operation, kept.principal, $1::integer, kept.doc
    from unnest($2::text[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::text[])
      as kept(id, follows, version, operation, principal, doc)`
  const lists = [
    changes.map((each) => idKey((parseTrusted(each.text) as JsonObject)['_id']!)),
    changes.map(({ follows }) => String(follows)),
    changes.map(({ version }) => String(version)),
    changes.map(({ operation }) => operation),
    changes.map(({ principal }) => principal),
    changes.map((each) => each.text),
  ]
  return { text, values: [String(paths), ...lists.map(arrayText)] }
}

/** The same on a cluster. */
export function historyRowsValues(
  changes: readonly ExportedChange[],
  paths: number,
  table: string,
): readonly Statement[] {
  const rows = changes.map(({ follows, version, operation, principal, text }) => [
    idKey((parseTrusted(text) as JsonObject)['_id']!),
    follows,
    version,
    operation,
    principal,
    paths,
    text,
  ])
  return insertValues(`${table}(id, follows, version, operation, principal, paths, doc)`, rows)
}
