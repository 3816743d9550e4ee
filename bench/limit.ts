/**
 * What Smalt on SQLite is measured against: the least that could answer the same requests with the same bytes. The same
 * file with the same settings, the same prepared statements, and nothing in between.
 */
import { openConnection } from '../src/store/sqlite/file/connection.ts'
import { type Holder, type Row, type Statements, serveBare } from './bare.ts'
import { PAGE_OF_ROOTS } from './references.ts'

const [directory = '', statements = ''] = process.argv.slice(2)
const { table, page, count, sorted, references } = JSON.parse(statements) as Statements
const { database } = openConnection(directory)
const findOne = prepared(`select id, version, doc from ${table} where id = ?`)
const findPage = prepared(page)
const countAll = prepared(count)
const findSorted = prepared(sorted)
const insert = prepared(`insert into ${table}(id, version, doc) values (?, ?, ?)`)
const update = prepared(`update ${table} set version = ?, doc = ? where id = ? and version = ?`)
const begin = prepared('begin immediate')
const commit = prepared('commit')
const joins = references && prepareJoins(references)

serveBare({
  findOne: (id) => findOne.get(id) as unknown as Row,
  findPage(value) {
    const rows = findPage.all(value, 100, 0) as unknown as readonly Row[]
    const [matchCount] = countAll.get(value) as unknown as readonly [number]
    return { rows, matchCount }
  },
  findSorted: (value) => findSorted.all(value, 10, 0) as unknown as readonly Row[],
  findHolders(customer) {
    const rows = joins!.page.all(customer, PAGE_OF_ROOTS) as unknown as readonly Holder[]
    const [matchCount] = joins!.count.get(customer) as unknown as readonly [number]
    return { rows, matchCount }
  },
  findByJoined: (product) => joins!.byChild.all(product, PAGE_OF_ROOTS) as unknown as readonly Row[],
  insert(rows) {
    if (rows.length > 1) begin.run()
    for (const row of rows) insert.run(...row)
    if (rows.length > 1) commit.run()
  },
  update(id, version, change) {
    const [, seen, text] = findOne.get(id) as unknown as Row
    update.run(version, change(text), id, seen)
  },
})

/** As one would write them by hand for these tables and their indexes; docs/explanation/performance.md tells more. */
function prepareJoins({ root, child }: NonNullable<Statements['references']>) {
  const customer = `json_extract(r.doc, '$."customer"') = ?`
  const children = `select group_concat(c.doc, ',' order by json_extract(c.doc, '$.rank'), c.id)
    from ${child} c where json_extract(c.doc, '$."root"') = r.id`
  return {
    page: prepared(
      `select r.id, r.version, r.doc, (${children}) from ${root} r where ${customer} order by r.id limit ?`,
    ),
    count: prepared(`select count(*) from ${root} r where ${customer}`),
    byChild: prepared(`select id, version, doc from ${root} where id in (
      select json_extract(doc, '$."root"') from ${child} where json_extract(doc, '$."product"') = ?)
      order by id limit ?`),
  }
}

function prepared(text: string) {
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  return statement
}
