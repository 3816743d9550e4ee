/** One connection to PostgreSQL, with the options of the store and nothing else of it. */
import pg from 'pg'
import { type NamedStatement, RawQuery, type Row } from '../../src/store/postgres/connection/driver.ts'
import { testPostgresUrl } from '../support/postgres.ts'

export async function withClient(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const pool = new pg.Pool({ connectionString: await testPostgresUrl(), max: 1, pipeline: true })
  const client = await pool.connect()
  // a test may break the connection off
  client.on('error', () => undefined)
  try {
    await work(client)
  } finally {
    client.release(true)
    await pool.end()
  }
}

/** Sends a statement as the store does. */
export function ask(client: pg.PoolClient, { text, values = [], name }: Partial<NamedStatement>) {
  return new Promise<readonly Row[]>((resolve, reject) => {
    const rows: Row[] = []
    const onEnd = (error: Error | null): void => (error ? reject(error) : resolve(rows))
    client.query(new RawQuery({ text: text!, values, name }, { onRow: (row) => void rows.push(row), onEnd }))
  })
}
