/**
 * What Smalt on SQLite is measured against: the least that could answer the same requests with the same bytes. The same
 * file with the same settings, the same prepared statements, and nothing in between.
 */
import type { JsonObject } from '../src/base/json/json.ts'
import { columnChanges, columnValues, insertStatement, parseLayout } from '../src/store/sqlite/columns.ts'
import { openConnection } from '../src/store/sqlite/file/connection.ts'
import { USUAL_MEMORY } from '../src/store/sqlite/file/memory.ts'
import { type Groups, type Holder, type Row, type Statements, serveBare } from './bare.ts'
import { walkStatement } from './pages.ts'
import { PAGE_OF_ROOTS } from './references.ts'
import { PAGE_OF_ARTICLES } from './texts.ts'

const [directory = '', statements = ''] = process.argv.slice(2)
const { table, page, count, sorted, walked, references, articles } = JSON.parse(statements) as Statements
const { database } = openConnection(directory, USUAL_MEMORY)
const columns = columnsOf(table)
const columnOf = (path: string, of = columns): string => of.find((each) => each.path === path)!.name
const findOne = prepared(`select id, version, doc from ${table} where id = ?`)
const findPage = prepared(page)
const countAll = prepared(count)
const findSorted = prepared(sorted)
const findAfter = prepared(walkStatement(walked, () => '?'))
const insert = prepared(insertStatement({ name: table, columns }))
const update = prepared(
  `update ${table} set version = ?, doc = ?${columnChanges(columns)} where id = ? and version = ?`,
)
const countByCustomer = prepared(
  `select ${columnOf('customer')}, count(*) from ${table} group by 1 order by 1`,
)
const sumOfPriority = prepared(
  `select sum(${columnOf('quantity')}) from ${table} where ${columnOf('priority')} = ?`,
)
const begin = prepared('begin immediate')
const commit = prepared('commit')
const joins = references && prepareJoins(references)
const searches = articles === undefined ? undefined : prepareSearches(articles)

serveBare({
  findOne: (id) => findOne.get(id) as unknown as Row,
  findPage(value) {
    const rows = findPage.all(value, 100, 0) as unknown as readonly Row[]
    const [matchCount] = countAll.get(value) as unknown as readonly [number]
    return { rows, matchCount }
  },
  findSorted: (value) => findSorted.all(value, 10, 0) as unknown as readonly Row[],
  findAfter: (date, id) => findAfter.all(date, date, id) as unknown as readonly Row[],
  findHolders(customer) {
    const rows = joins!.page.all(customer, PAGE_OF_ROOTS) as unknown as readonly Holder[]
    const [matchCount] = joins!.count.get(customer) as unknown as readonly [number]
    return { rows, matchCount }
  },
  findByJoined: (product) => joins!.byChild.all(product, PAGE_OF_ROOTS) as unknown as readonly Row[],
  findWords(words, isRanked) {
    const match = words.join(' ')
    const found = isRanked ? searches!.ranked : searches!.page
    const rows = found.all(match, PAGE_OF_ARTICLES) as unknown as readonly Row[]
    const [matchCount] = searches!.count.get(match) as unknown as readonly [number]
    return { rows, matchCount }
  },
  countByCustomer: () => countByCustomer.all() as unknown as Groups,
  sumOfPriority: (priority) => (sumOfPriority.get(priority) as unknown as readonly [number])[0],
  insert(rows) {
    if (rows.length > 1) begin.run()
    for (const row of rows) insert.run(...row, ...valuesOf(row[2]))
    if (rows.length > 1) commit.run()
  },
  update(id, version, change) {
    const [, seen, text] = findOne.get(id) as unknown as Row
    const changed = change(text)
    update.run(version, changed, ...valuesOf(changed), id, seen)
  },
})

/** As one would write them by hand for these tables and their indexes; docs/explanation/performance.md tells more. */
function prepareJoins({ root, child }: NonNullable<Statements['references']>) {
  const ofChild = (path: string): string => columnOf(path, columnsOf(child))
  const customer = `r.${columnOf('customer', columnsOf(root))} = ?`
  const children = `select group_concat(c.doc, ',' order by c.${ofChild('rank')}, c.id)
    from ${child} c where c.${ofChild('root')} = r.id`
  return {
    page: prepared(
      `select r.id, r.version, r.doc, (${children}) from ${root} r where ${customer} order by r.id limit ?`,
    ),
    count: prepared(`select count(*) from ${root} r where ${customer}`),
    byChild: prepared(`select id, version, doc from ${root} where id in (
      select ${ofChild('root')} from ${child} where ${ofChild('product')} = ?)
      order by id limit ?`),
  }
}

/** Full-text search of the engine, with its own words and relevance. */
function prepareSearches(table: string) {
  const isMade = prepared(`select 1 from sqlite_schema where name = 'hand'`).get() !== undefined
  if (!isMade) {
    database.exec(`begin; create virtual table hand using fts5(title, body, content='');
      insert into hand(rowid, title, body) select no, doc ->> 'title', doc ->> 'body' from ${table}; commit`)
  }
  const columns = 'd.id, d.version, d.doc'
  return {
    page: prepared(`select ${columns} from hand join ${table} d on d.no = hand.rowid where hand match ?
      order by d.id limit ?`),
    ranked: prepared(`select ${columns} from (
      select rowid, rank from hand where hand match ? order by rank limit ?) h
      join ${table} d on d.no = h.rowid order by h.rank`),
    count: prepared('select count(*) from hand where hand match ?'),
  }
}

/** The columns of a table, as Smalt has laid them out. */
function columnsOf(name: string) {
  const [layout] = prepared(`select layout from smalt_collection where 'doc_' || no = ?`).get(
    name,
  ) as unknown as readonly [string]
  return parseLayout(layout)
}

/** The values of the columns, taken from the document as Smalt takes them. */
function valuesOf(text: string) {
  return columnValues(JSON.parse(text) as JsonObject, columns)
}

function prepared(text: string) {
  const statement = database.prepare(text)
  statement.setReturnArrays(true)
  return statement
}
