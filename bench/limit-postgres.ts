/**
 * What Smalt on PostgreSQL is measured against: the least that most would write. A pool, prepared statements, one query
 * for each request, rows as text, tables with the same columns and indexes, and nothing in between.
 */
import pg from 'pg'
import { type Row, type Statements, serveBare } from './bare.ts'

const [url = '', statements = '', poolSize = '16'] = process.argv.slice(2)
const { table, page, count, sorted } = JSON.parse(statements) as Statements
const { schema, connectionString } = placeOf(url)
const pool = new pg.Pool({
  connectionString,
  max: Number(poolSize),
  pipeline: true,
  options: `-c search_path=${schema} -c jit=off`,
  types: { getTypeParser: () => (text: string) => text },
})

serveBare({
  async findOne(id) {
    const rows = await ask<Row>('one', `select id, version, doc from ${table} where id = $1`, [id])
    return rows[0]!
  },
  async findPage(value) {
    const client = await pool.connect()
    try {
      // sent together: the count does not wait for the page
      const [rows, counted] = await Promise.all([
        askOn<Row>(client, { name: 'page', text: page, values: parametersOf(page, [value, 100]) }),
        askOn<[string]>(client, { name: 'count', text: count, values: parametersOf(count, [value]) }),
      ])
      return { rows, matchCount: Number(counted[0]![0]) }
    } finally {
      client.release()
    }
  },
  findSorted: (value) => ask<Row>('sorted', sorted, parametersOf(sorted, [value, 10])),
  async insert(rows, isTextOnly) {
    const into = isTextOnly ? `${table}_text` : table
    const places = rows.map((_, i) => `($${3 * i + 1},$${3 * i + 2},$${3 * i + 3})`)
    const text = `insert into ${into}(id, version, doc) values ${places.join(',')}`
    await ask(`insert_${rows.length}_${into}`, text, rows.flat())
  },
  async update(id, version, change) {
    const [row] = await ask<Row>('one', `select id, version, doc from ${table} where id = $1`, [id])
    const text = `update ${table} set version = $1, doc = $2 where id = $3 and version = $4`
    await ask('update', text, [version, change(row![2]), id, row![1]])
  },
})

async function ask<T extends readonly unknown[]>(
  name: string,
  text: string,
  values: readonly unknown[],
): Promise<readonly T[]> {
  return (await pool.query({ name, text, values: [...values], rowMode: 'array' })).rows as unknown as T[]
}

interface Named {
  readonly name: string
  readonly text: string
  readonly values: readonly unknown[]
}

async function askOn<T>(client: pg.PoolClient, { name, text, values }: Named): Promise<readonly T[]> {
  return (await client.query({ name, text, values: [...values], rowMode: 'array' })).rows as unknown as T[]
}

/** Smalt may ask for the same value twice, of the index and of the document; the number of rows comes last. */
function parametersOf(text: string, values: readonly unknown[]): readonly unknown[] {
  const wanted = new Set(text.match(/\$\d+/g)).size
  return [...Array.from({ length: wanted - values.length }, () => values[0]), ...values]
}

function placeOf(given: string) {
  const parsed = new URL(given)
  const schema = parsed.searchParams.get('schema')!
  parsed.searchParams.delete('schema')
  return { schema, connectionString: parsed.href }
}
