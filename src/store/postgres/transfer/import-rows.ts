/** Inserts the rows of another store unchanged, many in one statement. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { Collection } from '../../../schema/schema.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { type ExportedDocument, UnfitError, indexNames } from '../../transfer.ts'
import type { Table } from '../schema/catalogue.ts'
import { claimsOf } from '../schema/claims.ts'
import type { Session } from '../connection/connections.ts'
import { isDuplicate, stateOf } from '../connection/failures.ts'
import { idKey } from '../schema/indexes.ts'

interface Inserting {
  readonly collection: Collection
  /** The number of paths of the collection: any document may contain any of them. */
  readonly paths: number
  readonly table: Table
  readonly session: Session
}

export async function insertDocuments(
  documents: readonly ExportedDocument[],
  { collection, paths, table, session }: Inserting,
): Promise<void> {
  try {
    await session.query(documentsStatement(documents, paths, table))
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

/** Documents and claims in one statement, so that all of them are written or none. */
function documentsStatement(documents: readonly ExportedDocument[], paths: number, table: Table): Statement {
  const hasClaims = table.unique.size > 0
  const rows = documents.map(({ version, text }) => {
    const document = parseTrusted(text) as JsonObject
    const claims = hasClaims ? [...claimsOf(document, table.unique)] : []
    return { key: idKey(document['_id']!), version, text, claims }
  })
  const values = [
    arrayText(rows.map(({ key }) => key)),
    arrayText(rows.map(({ version }) => String(version))),
    arrayText(rows.map(({ text }) => text)),
    String(paths),
  ]
  const insert = `insert into ${table.name}(id, version, paths, doc)
    select id, version, $4::integer, doc from unnest($1::text[], $2::bigint[], $3::text[]) as new(id, version, doc)`
  if (!hasClaims) return { text: insert, values }
  const claims = rows.flatMap(({ key, claims: own }) => own.map((claim) => ({ claim, key })))
  const text = `with claimed as (
    insert into ${table.claims}(key, doc) select key, doc from unnest($5::text[], $6::text[]) as new(key, doc))
    ${insert}`
  return {
    text,
    values: [...values, arrayText(claims.map(({ claim }) => claim)), arrayText(claims.map(({ key }) => key))],
  }
}
