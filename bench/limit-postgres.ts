/**
 * What Smalt on PostgreSQL is measured against: the least that most would write. A pool, prepared statements, one query
 * for each request, rows as text, tables with the same columns and indexes, and nothing in between.
 */
import { columnTexts, parseLayout } from '../src/store/postgres/schema/columns.ts'
import pg from 'pg'
import type { JsonObject } from '../src/base/json/json.ts'
import { type Groups, type Holder, type Row, type Statements, serveBare } from './bare.ts'
import { walkStatement } from './pages.ts'
import { PAGE_OF_ROOTS } from './references.ts'
import { PAGE_OF_ARTICLES } from './texts.ts'

const [url = '', statements = '', poolSize = '16'] = process.argv.slice(2)
const { table, page, count, sorted, walked, references, articles } = JSON.parse(statements) as Statements
const { schema, connectionString } = placeOf(url)
const pool = new pg.Pool({
  connectionString,
  max: Number(poolSize),
  pipeline: true,
  options: `-c search_path=${schema} -c jit=off`,
  types: { getTypeParser: () => (text: string) => text },
})
const layouts = await readLayouts()
const { columns } = layouts.get(table)!
const columnNames = columns.map(({ name }) => name)
const columnOf = (path: string): string => columns.find((each) => each.path === path)!.name
const joins = references && writeJoins(references)
const after = walkStatement(walked, (n) => `$${n}`)

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
  findAfter: (date, id) => ask<Row>('after', after, [date, date, id]),
  findHolders: (customer) =>
    countedPage<Holder>(
      { name: 'holders', text: joins!.page, values: [customer, PAGE_OF_ROOTS] },
      { name: 'holders_count', text: joins!.count, values: [customer] },
    ),
  findByJoined: (product) => ask<Row>('by_joined', joins!.byChild, [product, PAGE_OF_ROOTS]),
  findWords(words, isRanked) {
    const search = words.join(' & ')
    const found = `from ${articles!}, to_tsquery('simple', $1) search where hand @@ search`
    const order = isRanked ? 'ts_rank(hand, search) desc, id' : 'id'
    return countedPage<Row>(
      {
        name: `words_${order.slice(0, 2)}`,
        text: `select id, version, doc ${found} order by ${order} limit $2`,
        values: [search, PAGE_OF_ARTICLES],
      },
      { name: 'words_count', text: `select count(*) ${found}`, values: [search] },
    )
  },
  countByCustomer: () =>
    ask<Groups[number]>(
      'groups',
      `select ${columnOf('customer')}, count(*) from ${table} group by 1 order by 1`,
      [],
    ),
  async sumOfPriority(priority) {
    const text = `select sum(${columnOf('quantity')}) from ${table} where ${columnOf('priority')} = $1`
    const [row] = await ask<readonly [string]>('sum', text, [priority])
    return row![0]
  },
  async insert(rows, isTextOnly) {
    const into = isTextOnly ? `${table}_text` : table
    const names = ['id', 'version', 'doc', ...(isTextOnly ? [] : columnNames)]
    const places = rows.map(
      (_, i) => `(${names.map((_name, k) => `$${names.length * i + k + 1}`).join(',')})`,
    )
    const text = `insert into ${into}(${names.join(',')}) values ${places.join(',')}`
    const values = rows.flatMap((row) => (isTextOnly ? row : [...row, ...valuesOf(row[2])]))
    await ask(`insert_${rows.length}_${into}`, text, values)
  },
  async update(id, version, change) {
    const [row] = await ask<Row>('one', `select id, version, doc from ${table} where id = $1`, [id])
    const changes = columnNames.map((name, i) => `, ${name} = $${i + 5}`).join('')
    const text = `update ${table} set version = $1, doc = $2${changes} where id = $3 and version = $4`
    const changed = change(row![2])
    await ask('update', text, [version, changed, id, row![1], ...valuesOf(changed)])
  },
})

/** The values of the columns, taken from the document as Smalt takes them. */
function valuesOf(text: string): readonly (string | null)[] {
  return columnTexts(JSON.parse(text) as JsonObject, { hasBody: false, columns })
}

async function readLayouts() {
  const rows = await ask<[string, string]>('layouts', 'select name, layout from smalt_layout', [])
  return new Map(rows.map(([name, layout]) => [name, parseLayout(layout)]))
}

/** As one would write them by hand for these tables and their indexes. */
function writeJoins({ root, child }: NonNullable<Statements['references']>) {
  const columnIn = (name: string, path: string): string =>
    layouts.get(name)!.columns.find((each) => each.path === path)!.name
  return {
    page: `select r.id, r.version, r.doc, c.docs
      from (select id, version, doc from ${root} where ${columnIn(root, 'customer')} = $1 order by id limit $2) r
      cross join lateral (
        select string_agg(doc, ',' order by ${columnIn(child, 'rank')}, id) as docs
        from ${child} where ${columnIn(child, 'root')} = r.id) c
      order by r.id`,
    count: `select count(*) from ${root} where ${columnIn(root, 'customer')} = $1`,
    byChild: `select id, version, doc from ${root}
      where id in (select ${columnIn(child, 'root')} from ${child} where ${columnIn(child, 'product')} = $1)
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
