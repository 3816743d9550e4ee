/** Looks past the store whether documents and their claims on unique values belong together. */
import assert from 'node:assert/strict'
import pg from 'pg'
import type { JsonObject } from '../../src/base/json/json.ts'
import { parseTrusted } from '../../src/base/json/parse-trusted.ts'
import { readTables } from '../../src/store/postgres/schema/catalogue.ts'
import { claimsOf } from '../../src/store/layout/unique-claims.ts'
import type { SqlSession } from '../../src/store/postgres/connection/connection.ts'
import type { Row } from '../../src/store/postgres/connection/connections.ts'

/** Every document has its claims, and no claim is without its document; gives the number of claims. */
export async function checkClaims(url: string): Promise<number> {
  const place = new URL(url)
  const schema = place.searchParams.get('schema') ?? 'smalt'
  place.searchParams.delete('schema')
  const client = new pg.Client({ connectionString: place.href, options: `-c search_path=${schema}` })
  await client.connect()
  try {
    await client.query('begin isolation level repeatable read')
    const session: SqlSession = {
      query: async ({ text, values }) =>
        (await client.query<string[]>({ text, values: [...values], rowMode: 'array' })).rows,
    }
    let count = 0
    for (const table of (await readTables(session)).values()) {
      const documents = await session.query({ text: `select id, doc from ${table.name}`, values: [] })
      const wanted = documents.flatMap(([id, text]) =>
        [...claimsOf(parseTrusted(text!) as JsonObject, table.unique)].map((key): Row => [key, id!]),
      )
      const there = await session.query({ text: `select key, doc from ${table.claims}`, values: [] })
      assert.deepEqual(there.toSorted(byKey), wanted.toSorted(byKey), `claims of ${table.name}`)
      count += there.length
    }
    return count
  } finally {
    await client.end()
  }
}

function byKey([a]: Row, [b]: Row): number {
  return a! < b! ? -1 : a! > b! ? 1 : 0
}
