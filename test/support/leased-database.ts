/**
 * A database of its own for each process of tests. In one that all of them share, an index that is built while others
 * write would wait for the transactions of every test.
 */
import pg from 'pg'

/** Says that the server was started for this run, so that databases may be made in it. */
export const OWN_SERVER = 'SMALT_TEST_OWN_SERVER'

const LOCKS = 71_077_345

/** The database goes to the next process when this one has ended: its connection holds a lock until then. */
export async function leaseDatabase(serverUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: serverUrl })
  client.on('error', () => undefined)
  await client.connect()
  ;(client as unknown as { readonly unref: () => void }).unref()
  for (let number = 1; ; number++) {
    const { rows } = await client.query('select pg_try_advisory_lock($1, $2) as "isFree"', [LOCKS, number])
    if (!rows[0].isFree) continue
    const name = `tests_${number}`
    const { rowCount } = await client.query('select from pg_database where datname = $1', [name])
    if (rowCount === 0) await client.query(`create database ${name}`)
    return Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  }
}
