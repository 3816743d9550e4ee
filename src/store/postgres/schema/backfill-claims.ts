/** Adds the claims of existing documents to a new unique index, while other processes go on writing. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import type { Statement } from '../../sql/fragment.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { type CollectionRecord, type IndexRecord, claimsName, tableName } from './catalogue.ts'
import { FIRST_BATCH, limitAfter } from './column-fill.ts'
import { claimsOf, repeatedValues } from '../../layout/unique-claims.ts'
import { insertValues } from './insert-values.ts'
import type { SqlSession } from '../connection/connection.ts'
import type { Connections, Row } from '../connection/connections.ts'
import { inTransaction } from '../connection/transaction.ts'

/**
 * Fails when values repeat. Writers maintain the index already, so a document that changes meanwhile has the
 * claims of its writer.
 */
export async function enterClaims(
  index: IndexRecord,
  record: CollectionRecord,
  { connections, isCluster }: { readonly connections: Connections; readonly isCluster: () => boolean },
): Promise<void> {
  const from = `select id, version, doc from ${tableName(record)}`
  let last: string | undefined
  for (let limit = FIRST_BATCH; ;) {
    const rows = await connections.query(
      last === undefined
        ? { text: `${from} order by id limit $1`, values: [limit] }
        : { text: `${from} where id > $2 order by id limit $1`, values: [limit, last] },
    )
    if (rows.length === 0) return
    last = rows.at(-1)![0]!
    limit = limitAfter(rows)
    for (let left = rows; left.length > 0;) {
      const entered = await inTransaction(connections, (transaction) =>
        enter(left, { transaction, index, record, isDistributed: isCluster() }),
      )
      // Documents that changed meanwhile are read again; deleted ones need no claims.
      const keys = left.map(([key]) => key!).filter((key) => !entered.has(key))
      if (keys.length === 0) break
      left = await connections.query({ text: `${from} where id = any($1)`, values: [arrayText(keys)] })
    }
  }
}

interface ClaimContext {
  readonly transaction: SqlSession
  readonly index: IndexRecord
  readonly record: CollectionRecord
  readonly isDistributed: boolean
}

/** Returns the keys of the documents that had not changed since they were read. */
async function enter(
  rows: readonly Row[],
  { transaction, index, record, isDistributed }: ClaimContext,
): Promise<ReadonlySet<string>> {
  const held = await hold(rows, transaction, record)
  const owners = new Map<string, string>()
  for (const [key, , text] of rows) {
    if (!held.has(key!)) continue
    for (const claim of claimsOf(
      parseTrusted(text!) as JsonObject,
      new Map([[index.no, index.definition]]),
    )) {
      if (owners.has(claim)) throw repeatedValues(index.definition)
      owners.set(claim, key!)
    }
  }
  const claims = [...owners].sort(([a], [b]) => (a < b ? -1 : 1))
  for (const statement of claimStatements(claims, record, isDistributed)) await transaction.query(statement)
  const check = `select key, doc from ${claimsName(record)} where key = any($1)`
  const keys = arrayText(claims.map(([claim]) => claim))
  const there = await transaction.query({ text: check, values: [keys] })
  if (there.some(([claim, key]) => owners.get(claim!) !== key)) throw repeatedValues(index.definition)
  return held
}

function claimStatements(
  claims: readonly (readonly [claim: string, key: string])[],
  record: CollectionRecord,
  isDistributed: boolean,
): readonly Statement[] {
  const into = `${claimsName(record)}(key, doc)`
  const unlessThere = ' on conflict (key) do nothing'
  if (isDistributed) return insertValues(into, claims, unlessThere)
  const values = [arrayText(claims.map(([claim]) => claim)), arrayText(claims.map(([, key]) => key))]
  const text = `insert into ${into}
    select key, doc from unnest($1::text[], $2::text[]) as new(key, doc)${unlessThere}`
  return [{ text, values }]
}

/**
 * Locks the rows until the transaction ends, by an update without a change. Rows that have another version by
 * now are left out.
 */
async function hold(
  rows: readonly Row[],
  session: SqlSession,
  record: CollectionRecord,
): Promise<ReadonlySet<string>> {
  const text = `update ${tableName(record)} as stored set version = stored.version
    from unnest($1::text[], $2::bigint[]) as seen(id, version)
    where stored.id = seen.id and stored.version = seen.version returning stored.id`
  const keys = arrayText(rows.map(([key]) => key!))
  const held = await session.query({ text, values: [keys, arrayText(rows.map(([, version]) => version!))] })
  return new Set(held.map(([key]) => key!))
}
