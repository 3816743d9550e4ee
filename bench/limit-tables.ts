/**
 * What a thin layer over tables does: hand-written SQL on typed columns, JSON that the database builds, one prepared
 * statement for each request, a pool, and nothing in between. There is no schema, no access list and no version.
 */
import pg from 'pg'
import { uuidV7 } from '../src/base/uuid.ts'
import { listen, read, sendLater } from './bare-http.ts'
import { ENTITY } from './documents.ts'
import { COLUMN_NAMES, TABLE, quoted } from './tables.ts'

const [connectionString = '', schema = '', poolSize = '16'] = process.argv.slice(2)
const pool = new pg.Pool({
  connectionString,
  max: Number(poolSize),
  pipeline: true,
  options: `-c search_path=${schema} -c jit=off`,
  types: { getTypeParser: () => (text: string) => text },
})

interface Named {
  readonly name: string
  readonly text: string
}

function selecting(name: string, rest: string): Named {
  return { name, text: `select coalesce(json_agg(r), '[]') from (select * from ${TABLE} ${rest}) r` }
}

const FIND = selecting('find', 'where "_id" = $1')
const PAGE = selecting('page', 'where "customer" = $1 order by "_id" limit 100')
const COUNT = { name: 'count', text: `select count(*) from ${TABLE} where "customer" = $1` }
const SORTED = selecting(
  'sorted',
  'where "customer" = $1 and "quantity" >= $2 order by "createdAt" desc, "_id" limit 20',
)
const SCAN = selecting('scan', 'where "sku" = $1 order by "_id" limit 10')
const UPDATE = {
  name: 'update',
  text: `update ${TABLE} set "quantity" = "quantity" + $1 where "_id" = $2 returning "_id"`,
}
const INSERT = {
  name: 'insert',
  text: `insert into ${TABLE}(${COLUMN_NAMES.map(quoted).join(', ')})
    values (${COLUMN_NAMES.map((_, i) => `$${i + 1}`).join(', ')}) returning "_id"`,
}

interface Compared {
  readonly field: string
  readonly rvalue: string | number
}

interface Body {
  readonly query: Compared & { readonly $and?: readonly Compared[] }
  readonly update: { readonly $add: { readonly quantity: number } }
  readonly data: Readonly<Record<string, unknown>>
}

listen((request, response) => read(request, (text) => sendLater(response, respond(request.url!, text))))

async function respond(url: string, text: string): Promise<string> {
  if (url.startsWith('/data/find/') && text === '') {
    return found(await ask(FIND, [url.slice(url.indexOf('_id:') + 4)]))
  }
  const { query, update, data } = JSON.parse(text) as Body
  if (url.startsWith('/data/update/')) return written(await ask(UPDATE, [update.$add.quantity, query.rvalue]))
  if (url.startsWith('/data/insert/')) return written(await ask(INSERT, valuesOf(data)))
  if (query.$and) {
    const [customer, quantity] = query.$and
    return found(await ask(SORTED, [customer!.rvalue, quantity!.rvalue]))
  }
  if (query.field === 'sku') return found(await ask(SCAN, [query.rvalue]))
  return await countedPage(query.rvalue)
}

/** Sent together: the count does not wait for the page. */
async function countedPage(customer: unknown): Promise<string> {
  const client = await pool.connect()
  try {
    const [page, count] = await Promise.all(
      [PAGE, COUNT].map((named) =>
        client.query<string[]>({ ...named, values: [customer], rowMode: 'array' }),
      ),
    )
    return found(page!.rows[0]![0]!, count!.rows[0]![0])
  } finally {
    client.release()
  }
}

async function ask(named: Named, values: unknown[]): Promise<string> {
  const { rows } = await pool.query<string[]>({ ...named, values, rowMode: 'array' })
  return rows[0]![0]!
}

function valuesOf(data: Body['data']): unknown[] {
  const document = { ...data, _id: uuidV7(Date.now()) } as Record<string, unknown>
  return COLUMN_NAMES.map((name) => document[name])
}

function found(documents: string, matchCount = '0'): string {
  return (
    `{"entity":"${ENTITY}","entityVersion":"1.0.0","status":"COMPLETE","modifiedCount":0,` +
    `"matchCount":${matchCount},"processed":${documents}}`
  )
}

function written(id: string): string {
  return (
    `{"entity":"${ENTITY}","entityVersion":"1.0.0","status":"COMPLETE","modifiedCount":1,` +
    `"matchCount":0,"processed":[{"_id":"${id}"}]}`
  )
}
