/** Inserts the rows of another store unchanged, many in one statement. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { Collection } from '../../../schema/schema.ts'
import { type Fragment, type Statement, join, param, raw, renderShared, sql } from '../../sql/fragment.ts'
import { POSTGRES, arrayText } from '../../sql/postgres-dialect.ts'
import { type ExportedDocument, UnfitError, indexNames } from '../../transfer.ts'
import type { Table } from '../schema/catalogue.ts'
import { claimsOf } from '../../layout/unique-claims.ts'
import { columnList, columnListText, columnLists, columnTexts } from '../schema/columns.ts'
import type { Connections } from '../connection/connections.ts'
import { isDuplicate, stateOf } from '../connection/failures.ts'
import { inTransaction } from '../connection/transaction.ts'
import { idKey } from '../schema/indexes.ts'
import { insertValues } from '../schema/insert-values.ts'

interface Inserting {
  readonly collection: Collection
  /** The number of paths of the collection: any document may contain any of them. */
  readonly paths: number
  readonly table: Table
  readonly connections: Connections
}

export async function insertDocuments(
  documents: readonly ExportedDocument[],
  { collection, paths, table, connections }: Inserting,
): Promise<void> {
  const rows = rowsOf(documents, table)
  try {
    if (table.isDistributed) await insertTogether(documentsValues(rows, paths, table), connections)
    else await connections.query(documentsStatement(rows, paths, table))
  } catch (error) {
    if (isDuplicate(error)) {
      const names = [...table.unique.values()].map((index) => `(${indexNames(index)})`)
      const problem = `documents repeat values of _id or of a unique index${names.length > 0 ? ` on ${names.join(', ')}` : ''}`
      throw new UnfitError(collection, problem, error)
    }
    // Values that PostgreSQL cannot store: numbers beyond its range, or texts that it rejects.
    if (stateOf(error)?.startsWith('22')) {
      throw new UnfitError(collection, 'a document holds a value that PostgreSQL cannot store', error)
    }
    throw error
  }
}

interface NewRow {
  readonly key: string
  readonly version: number
  readonly text: string
  readonly claims: readonly string[]
  readonly columns: readonly (string | null)[]
}

function rowsOf(documents: readonly ExportedDocument[], table: Table): readonly NewRow[] {
  return documents.map(({ version, text }) => {
    const document = parseTrusted(text) as JsonObject
    const claims = table.unique.size > 0 ? [...claimsOf(document, table.unique)] : []
    const columns = columnTexts(document, table.layout)
    return { key: idKey(document['_id']!), version, text, claims, columns }
  })
}

/** Documents and claims in one statement, so that all of them are written or none. */
function documentsStatement(rows: readonly NewRow[], paths: number, table: Table): Statement {
  const keys = listParam('text', rows, ({ key }) => key)
  const versions = listParam('bigint', rows, ({ version }) => String(version))
  const texts = listParam('text', rows, ({ text }) => text)
  const values = rows.map(({ columns }) => columns)
  const lists = columnLists(values, table.layout)
  const names = columnList(table.layout)
  // The text is decoded only where it is asked about, so what cannot be decoded must not get in.
  const areDecodable = sql`(${texts})::jsonb[] is not null`
  const insert = sql`insert into ${raw(table.name)}(id, version, paths, doc${names})
    select id, version, ${param(String(paths))}::integer, doc${names}
    from unnest(${join([keys, versions, texts, ...lists], ', ')}) as new(id, version, doc${names})
    where ${areDecodable}`
  if (table.unique.size === 0) return print(insert)
  const claims = rows.flatMap(({ key, claims: own }) => own.map((claim) => ({ claim, key })))
  const claimed = listParam('text', claims, ({ claim }) => claim)
  const owners = listParam('text', claims, ({ key }) => key)
  return print(sql`with claimed as (
    insert into ${raw(table.claims)}(key, doc) select key, doc from unnest(${claimed}, ${owners}) as new(key, doc))
    ${insert}`)
}

function print(fragment: Fragment): Statement {
  return renderShared(fragment, POSTGRES.placeholder)
}

function listParam<T>(type: 'text' | 'bigint', items: readonly T[], textOf: (item: T) => string): Fragment {
  return sql`${param(arrayText(items.map(textOf)))}::${raw(type)}[]`
}

/** The same on a cluster. */
function documentsValues(rows: readonly NewRow[], paths: number, table: Table): readonly Statement[] {
  const claims = rows.flatMap(({ key, claims: own }) => own.map((claim) => [claim, key]))
  const documents = rows.map(({ key, version, text, columns }) => [key, version, paths, text, ...columns])
  return [
    ...insertValues(`${table.claims}(key, doc)`, claims),
    ...insertValues(`${table.name}(id, version, paths, doc${columnListText(table.layout)})`, documents),
  ]
}

export async function insertTogether(
  statements: readonly Statement[],
  connections: Connections,
): Promise<void> {
  await inTransaction(connections, async (transaction) => {
    await Promise.all(statements.map((statement) => transaction.query(statement)))
  })
}
