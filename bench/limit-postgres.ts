/**
 * What Smalt on PostgreSQL is measured against: the least that most would write. A pool, prepared statements, one query
 * for each request, rows as text, tables with the same columns and indexes, and nothing in between.
 */
import pg from 'pg'
import { type Holder, type Row, type Statements, serveBare } from './bare.ts'
import { PAGE_OF_ROOTS } from './references.ts'

const [url = '', statements = '', poolSize = '16'] = process.argv.slice(2)
const { table, page, count, sorted, references } = JSON.parse(statements) as Statements
const { schema, connectionString } = placeOf(url)
const pool = new pg.Pool({
  connectionString,
  max: Number(poolSize),
  pipeline: true,
  options: `-c search_path=${schema} -c jit=off`,
  types: { getTypeParser: () => (text: string) => text },
})
const joins = references && writeJoins(references)

serveBare({
  async findOne(id) {
    const rows = await ask<Row>('one', `select id, version, doc from ${table} where id = $1`, [id])
    return rows[0]!
  },
  findPage: (value) =>
    countedPage<Row>(
      { name: 'page', text: page, values: parametersOf(page, [value, 100]) },
      { name: 'count', text: count, values: parametersOf(count, [value]) },
    ),
  findSorted: (value) => ask<Row>('sorted', sorted, parametersOf(sorted, [value, 10])),
  findHolders: (customer) =>
    countedPage<Holder>(
      { name: 'holders', text: joins!.page, values: [customer, PAGE_OF_ROOTS] },
      { name: 'holders_count', text: joins!.count, values: [customer] },
    ),
  findByJoined: (product) => ask<Row>('by_joined', joins!.byChild, [product, PAGE_OF_ROOTS]),
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

/** As one would write them by hand for these tables and their indexes, which hold the beginning of a text. */
function writeJoins({ root, child }: NonNullable<Statements['references']>) {
  const indexed = (name: string): string => `left((body #>> '{${name}}') collate "C", 400)`
  return {
    page: `select r.id, r.version, r.doc, c.docs
      from (select id, version, doc from ${root} where ${indexed('customer')} = $1 order by id limit $2) r
      cross join lateral (
        select string_agg(doc, ',' order by (body ->> 'rank')::numeric, id) as docs
        from ${child} where ${indexed('root')} = r.id) c
      order by r.id`,
    count: `select count(*) from ${root} where ${indexed('customer')} = $1`,
    byChild: `select id, version, doc from ${root}
      where id in (select ${indexed('root')} from ${child} where ${indexed('product')} = $1)
      order by id limit $2`,
  }
}

interface Counted<T> {
  readonly rows: readonly T[]
  readonly matchCount: number
}

/** Sent together: the count does not wait for the page. */
async function countedPage<T>(page: Named, count: Named): Promise<Counted<T>> {
  const client = await pool.connect()
  try {
    const [rows, counted] = await Promise.all([askOn<T>(client, page), askOn<[string]>(client, count)])
    return { rows, matchCount: Number(counted[0]![0]) }
  } finally {
    client.release()
  }
}

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
