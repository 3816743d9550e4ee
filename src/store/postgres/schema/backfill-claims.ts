/** Enters the unique values of documents that were there before the index, while others go on writing. */
import type { JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { arrayText } from '../../sql/postgres-dialect.ts'
import { type CollectionRecord, type IndexRecord, claimsName, tableName } from './catalogue.ts'
import { claimsOf } from './claims.ts'
import { repeatedValues } from './collections.ts'
import type { Connections, Row, Session } from '../connection/connections.ts'
import { inTransaction } from '../connection/transaction.ts'

/** Fails when values repeat. Writers keep the index already, so a document changed meanwhile is theirs. */
export async function enterClaims(
  index: IndexRecord,
  record: CollectionRecord,
  connections: Connections,
): Promise<void> {
  const from = `select id, version, doc from ${tableName(record)}`
  let last: string | undefined
  for (;;) {
    const text = `${from} ${last === undefined ? '' : 'where id > $1 '}order by id limit 500`
    const rows = await connections.query({ text, values: last === undefined ? [] : [last] })
    if (rows.length === 0) return
    last = rows.at(-1)![0]!
    for (let left = rows; left.length > 0;) {
      const entered = await inTransaction(connections, (transaction) =>
        enter(left, { transaction, index, record }),
      )
      // Those that changed meanwhile are looked at again; those that are gone need no claims.
      const keys = left.map(([key]) => key!).filter((key) => !entered.has(key))
      if (keys.length === 0) break
      left = await connections.query({ text: `${from} where id = any($1)`, values: [arrayText(keys)] })
    }
  }
}

interface Entering {
  readonly transaction: Session
  readonly index: IndexRecord
  readonly record: CollectionRecord
}

/** Gives the keys of the documents that were still what was read. */
async function enter(
  rows: readonly Row[],
  { transaction, index, record }: Entering,
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
  const values = [arrayText(claims.map(([claim]) => claim)), arrayText(claims.map(([, key]) => key))]
  const text = `insert into ${claimsName(record)}(key, doc)
    select key, doc from unnest($1::text[], $2::text[]) as new(key, doc) on conflict (key) do nothing`
  await transaction.query({ text, values })
  const check = `select key, doc from ${claimsName(record)} where key = any($1)`
  const there = await transaction.query({ text: check, values: [values[0]!] })
  if (there.some(([claim, key]) => owners.get(claim!) !== key)) throw repeatedValues(index.definition)
  return held
}

/** Writing a row without changing it keeps others from changing it until the transaction ends. */
async function hold(
  rows: readonly Row[],
  session: Session,
  record: CollectionRecord,
): Promise<ReadonlySet<string>> {
  const text = `update ${tableName(record)} as stored set version = stored.version
    from unnest($1::text[], $2::bigint[]) as seen(id, version)
    where stored.id = seen.id and stored.version = seen.version returning stored.id`
  const keys = arrayText(rows.map(([key]) => key!))
  const held = await session.query({ text, values: [keys, arrayText(rows.map(([, version]) => version!))] })
  return new Set(held.map(([key]) => key!))
}
