/** Columns beside the text on SQLite: what they hold, that queries use them, and how a store with documents gets them. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Json, JsonObject } from '../../src/base/json/json.ts'
import type { Service } from '../../src/service/service.ts'
import {
  type ColumnDefinition,
  type ColumnKind,
  columnFinder,
  columnOf,
  columnsFor,
  missingColumns,
} from '../../src/store/layout/columns.ts'
import { RULES, columnValues } from '../../src/store/sqlite/columns.ts'
import type { Database } from '../../src/store/database.ts'
import { attachSqliteStore } from '../../src/store/sqlite/attached-store.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { checkColumns, isFilled, toEarlierSqlite } from '../support/earlier-sqlite.ts'
import {
  ADMIN,
  EVERYTHING,
  documentsOf,
  jsonObject,
  metadataDocument,
  openServiceAt,
} from '../support/service.ts'
import { useStore, directoryOf, freshPlace } from '../support/store-kind.ts'
import { SCHEMA, find, insert } from './contract.ts'

useStore('sqlite')

test('sqlite columns: simple fields have columns by their forms, arrays and `_id` have none', () => {
  const paths = [
    '$text._id',
    '$number._id',
    '$text.a',
    '$number.n',
    '$big.d',
    '$boolean.b',
    '$array.l',
    '$text.l.*',
    '$number.m',
    '$integer.m',
    '$double.m',
  ]
  const found = columnsFor({ paths, indexes: [] }, RULES).map(({ kind, path }) => `${kind} ${path}`)
  assert.deepEqual(found, ['text a', 'number n', 'big d', 'boolean b', 'number m', 'big m'])
})

test('sqlite columns: a text of an index has one column, which is whole', () => {
  const field = { path: 'a', type: 'string', descending: false, caseInsensitive: false } as const
  const defined = { paths: ['$text.a', '$text.b'], indexes: [{ unique: false, fields: [field] }] }
  const printed = (each: readonly ColumnDefinition[]) => each.map(({ kind, path }) => `${kind} ${path}`)
  assert.deepEqual(printed(columnsFor(defined, RULES)), ['whole a', 'text b'])
  const columns = ['whole', 'text'].map((kind, no) =>
    columnOf({ path: 'a', kind: kind as ColumnKind }, { no, isFilled: true }),
  )
  for (const [known, missing] of [
    [columns, ['text b']],
    [columns.slice(0, 1), ['text b']],
    [columns.slice(1), ['whole a', 'text b']],
  ] as const) {
    assert.deepEqual(printed(missingColumns(known, defined, RULES)), missing)
  }
  assert.equal(columnFinder(columns, RULES)(['a'], 'string')?.kind, 'whole')
  const later = { ...defined, indexes: [] }
  assert.deepEqual(printed(missingColumns(columns.slice(0, 1), later, RULES)), ['text b'])
})

const LONG = 'x'.repeat(129)

/** Except for big numbers and long texts, a column holds what SQLite reads from the text. */
const HELD: readonly (readonly [value: string, kind: ColumnKind, held: unknown])[] = [
  ['5', 'number', 5n],
  ['5.0', 'number', 5],
  ['-0', 'number', 0n],
  ['0.5', 'number', 0.5],
  ['1e2', 'number', 100],
  ['9007199254740993', 'number', 9007199254740993n],
  ['-9223372036854775808', 'number', -9223372036854775808n],
  ['9223372036854775808', 'number', 9223372036854775808],
  ['1e300', 'number', 1e300],
  ['"5"', 'number', null],
  ['true', 'boolean', 1n],
  ['false', 'boolean', 0n],
  ['"é"', 'text', 'é'],
  ['5', 'text', null],
  ['null', 'text', null],
  [`"${LONG.slice(1)}"`, 'text', LONG.slice(1)],
  [`"${LONG}"`, 'text', 1n],
  [`"${LONG}"`, 'whole', LONG],
  ['1.10', 'big', '21000111'],
  ['-1.1', 'big', '08999888~'],
]

for (const [value, kind, held] of HELD) {
  test(`sqlite columns: the ${kind} of ${value.slice(0, 30)}`, () => {
    const column = columnOf({ path: 'o.v', kind }, { no: 1, isFilled: true })
    const [found] = columnValues(jsonObject(`{"o":{"v":${value}}}`), [column])
    assert.deepEqual(found, held)
    if (kind !== 'number' && kind !== 'boolean') return
    using database = new DatabaseSync(':memory:')
    const read = database.prepare(`select json_extract(?, '$.o.v') is ? as isSame, typeof(?) as type`)
    const row = read.get(`{"o":{"v":${value}}}`, found!, found!)
    assert.equal(row!['isSame'], value.startsWith('"') ? 0 : 1)
  })
}

const FIELDS: JsonObject = {
  _id: { type: 'string' },
  name: { type: 'string' },
  size: { type: 'integer' },
  price: { type: 'bigdecimal' },
  note: { type: 'string' },
  memo: { type: 'string' },
}
const INDEXES: readonly Json[] = [
  { name: 'name', fields: [{ field: 'name' }] },
  { name: 'price', unique: true, fields: [{ field: 'price' }] },
  { name: 'note', fields: [{ field: 'note', caseInsensitive: true }] },
]
const COUNT = 3_000

function documentAt(i: number): JsonObject {
  return {
    _id: `d${i}`,
    name: `n${i % 50}`,
    size: (i * 7) % COUNT,
    price: JSON.rawJSON(`${i}.10`),
    note: i % 3 === 0 ? `${LONG}${i}` : `Note ${i}`,
    memo: i % 3 === 1 ? `${LONG}${i}` : `Memo ${i}`,
  }
}

/** Each with the number of documents that match. */
const QUESTIONS: readonly (readonly [query: JsonObject, count: number, stage: string])[] = [
  [{ field: 'name', op: '=', rvalue: 'n7' }, COUNT / 50, 'INDEX'],
  [{ field: 'price', op: '>=', rvalue: JSON.rawJSON(`${COUNT - 10}.1`) }, 10, 'INDEX'],
  [{ field: 'note', regex: `^${LONG}3`, caseInsensitive: true }, 39, 'INDEX'],
  [{ field: 'note', op: '=', rvalue: `${LONG}300` }, 1, 'INDEX'],
  [{ field: 'size', op: '<', rvalue: 100 }, 100, 'SCAN'],
  [{ field: 'memo', op: '=', rvalue: `${LONG}301` }, 1, 'SCAN'],
  [{ field: 'memo', op: '<', rvalue: LONG }, COUNT - COUNT / 3, 'SCAN'],
]

async function check(service: Service): Promise<void> {
  for (const [query, count] of QUESTIONS) {
    const body = { query, projection: EVERYTHING, sort: { size: '$desc' }, range: [0, 4] }
    const found = await service.data.find(ADMIN, { entity: 'item' }, body)
    assert.equal(found.matchCount, count, JSON.stringify(query))
    const sizes = documentsOf(found).map(({ size }) => Number(size))
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
    )
  }
}

test('sqlite columns: a store of an earlier release answers while it gets columns, and uses them afterwards', async () => {
  await using place = await freshPlace('sqlite')
  const directory = directoryOf(place.location)
  {
    await using service = await openServiceAt(place.location)
    const info = { info: { indexes: INDEXES } }
    await service.metadata.create(
      ADMIN,
      { entity: 'item', version: '1.0.0' },
      metadataDocument('item', FIELDS, info),
    )
    const data = Array.from({ length: COUNT }, (_, i) => documentAt(i))
    const { modifiedCount } = await service.data.insert(ADMIN, { entity: 'item' }, { data })
    assert.equal(modifiedCount, COUNT)
    await check(service)
    checkColumns(directory)
  }
  toEarlierSqlite(directory)
  assert.ok(!isFilled(directory))
  await using service = await openServiceAt(place.location)
  assert.equal(
    (await service.data.find(ADMIN, { entity: 'item' }, { projection: EVERYTHING })).matchCount,
    COUNT,
  )
  assert.ok(!isFilled(directory), 'it was not filled before the first answer')
  await check(service)
  for (let i = 0; !isFilled(directory); i++) {
    const repeated = { data: [{ ...documentAt(1), _id: `again${i}` }] }
    const { dataErrors } = await service.data.insert(ADMIN, { entity: 'item' }, repeated)
    assert.equal(dataErrors?.length, 1, 'the price is unique')
    await check(service)
    const query = { field: '_id', op: '=', rvalue: `d${COUNT - 1 - i}` }
    const update = { $set: { name: `n${(COUNT - 1 - i) % 50}` } }
    await service.data.update(ADMIN, { entity: 'item' }, { query, update })
    await sleep(5)
  }
  await check(service)
  checkColumns(directory)
  for (const [query, , stage] of QUESTIONS) {
    const { field } = query
    const explained = await service.data.explain(ADMIN, { entity: 'item' }, { query, projection: EVERYTHING })
    const { winningPlan, layout } = JSON.parse(explained.processed![0]!).sqlite.plan.queryPlanner
    assert.equal(winningPlan.stage, stage, JSON.stringify(query))
    assert.deepEqual(layout, { columns: [field], parsesText: field === 'memo' ? 'longTexts' : 'never' })
  }
})

test('sqlite columns: a field that a new version adds is filled for all documents', async () => {
  await using place = await freshPlace('sqlite')
  const directory = directoryOf(place.location)
  await using service = await openServiceAt(place.location)
  const { name: _name, ...fewer } = FIELDS
  await service.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, metadataDocument('item', FIELDS))
  const data = Array.from({ length: COUNT }, (_, i) => documentAt(i))
  await service.data.insert(ADMIN, { entity: 'item' }, { data })
  const added = metadataDocument('item', { ...fewer, extra: { type: 'integer' } })
  const schema = { ...(added['schema'] as JsonObject), version: { value: '2.0.0', changelog: 'second' } }
  await service.metadata.createSchema(ADMIN, { entity: 'item', version: '2.0.0' }, schema)
  const target = { entity: 'item', version: '2.0.0' }
  const query = { field: 'size', op: '<', rvalue: 10 }
  await service.data.update(ADMIN, target, { query, update: { $set: { extra: 4 } } })
  const find = async (): Promise<number> => {
    const body = { query: { field: 'extra', op: '=', rvalue: 4 }, projection: EVERYTHING }
    return (await service.data.find(ADMIN, target, body)).matchCount
  }
  assert.equal(await find(), 10)
  while (!isFilled(directory)) await sleep(5)
  assert.equal(await find(), 10)
  checkColumns(directory)
  using database = new DatabaseSync(join(directory, 'smalt.db'), { readOnly: true })
  const columns = database.prepare(`select name from pragma_table_info('doc_2')`).all()
  assert.equal(columns.at(-2)!['name'], 'doc', 'added columns follow the text')
})

test('sqlite columns: an update touches no index whose values stay', async () => {
  await using place = await freshPlace('sqlite')
  {
    await using service = await openServiceAt(place.location)
    const info = { info: { indexes: INDEXES } }
    await service.metadata.create(
      ADMIN,
      { entity: 'item', version: '1.0.0' },
      metadataDocument('item', FIELDS, info),
    )
    await service.data.insert(ADMIN, { entity: 'item' }, { data: [documentAt(3), documentAt(4)] })
    const query = { field: '_id', op: '=', rvalue: 'd3' }
    for (const [update, columns] of UPDATES) {
      const written = await writtenBy(() => service.data.update(ADMIN, { entity: 'item' }, { query, update }))
      assert.equal(written, columns, JSON.stringify(update))
    }
  }
  checkColumns(directoryOf(place.location))
})

/** The fields of indexes come first: name, price and note are c1, c2 and c3. */
const UPDATES: readonly (readonly [update: JsonObject, indexed: string])[] = [
  [{ $set: { size: 4 } }, ''],
  [{ $set: { name: 'other' } }, 'c1'],
  [{ $set: { name: 'other', memo: 'm' } }, ''],
  [{ $set: { price: JSON.rawJSON('3.100') } }, ''],
  [{ $set: { price: JSON.rawJSON('3.11'), note: 'n' } }, 'c2 c3'],
  [{ $unset: 'note' }, 'c3'],
]

/** The columns of indexes that an update has written. */
async function writtenBy(work: () => Promise<unknown>): Promise<string> {
  // eslint-disable-next-line typescript/unbound-method -- it is called on the statement
  const { run } = StatementSync.prototype
  const texts: string[] = []
  StatementSync.prototype.run = function (this: StatementSync, ...given) {
    texts.push(this.sourceSQL)
    return Reflect.apply(run, this, given) as ReturnType<typeof run>
  }
  try {
    await work()
  } finally {
    StatementSync.prototype.run = run
  }
  const [update, ...others] = texts.filter((text) => text.startsWith('update doc_'))
  assert.deepEqual(others, [])
  return [...update!.matchAll(/\bc[123]\b/g)].join(' ')
}

test('sqlite columns: a duplicate names the fields of the unique index', async () => {
  await using place = await freshPlace('sqlite')
  await using service = await openServiceAt(place.location)
  const unique = (...fields: readonly string[]) => ({
    unique: true,
    fields: fields.map((field) => ({ field })),
  })
  const folded = { unique: true, fields: [{ field: 'memo', caseInsensitive: true }, { field: 'size' }] }
  const indexes = [unique('price'), unique('name', '_id'), unique('note', 'size'), folded]
  const definition = metadataDocument('item', FIELDS, { info: { indexes } })
  await service.metadata.create(ADMIN, { entity: 'item', version: '1.0.0' }, definition)
  const first = documentAt(5)
  await service.data.insert(ADMIN, { entity: 'item' }, { data: [first] })
  for (const fields of [['_id'], ['price'], ['note', 'size'], ['memo', 'size']]) {
    const same = Object.fromEntries(fields.map((field) => [field, first[field]!]))
    const data = [{ ...documentAt(6), ...same }]
    const { dataErrors } = await service.data.insert(ADMIN, { entity: 'item' }, { data })
    const context = dataErrors?.[0]?.errors[0]?.context ?? ''
    assert.match(context, new RegExp(`/${fields[0]}$`), fields.join())
  }
})

test('sqlite columns: a thread writes the columns that another one has added', async () => {
  await using place = await freshPlace('sqlite')
  const directory = directoryOf(place.location)
  const { collection } = SCHEMA
  {
    await using main = openSqliteStore({ directory })
    const prepare = (store: Database, ...paths: readonly string[]) =>
      store.metadata.prepareCollection({ collection, paths, indexes: [] })
    await prepare(main, '$text.s')
    await using beside = attachSqliteStore({ directory, borrow: () => main.lendWriter!() })
    const stores = [main, beside]
    const added = ['$number.i', '$big.bd', '$boolean.b', '$text.s2']
    for (const [i, path] of added.entries()) {
      await prepare(stores[i % 2]!, path)
      const document = (id: number): string =>
        `{"_id":"${id}","s":"a","i":${i},"bd":1.10,"b":true,"s2":"${i}"}`
      await insert(stores[1 - (i % 2)]!, `[${document(2 * i)}]`)
      await insert(stores[i % 2]!, `[${document(2 * i + 1)}]`)
      for (const store of stores) {
        const query = {
          $and: [
            { field: 'i', op: '=', rvalue: i },
            { field: 's2', op: '=', rvalue: String(i) },
          ],
        }
        assert.equal((await find(store, { query })).matchCount, 2, path)
      }
    }
  }
  assert.ok(isFilled(directory))
  checkColumns(directory)
})

test('sqlite columns: an earlier release that did not tell integers from doubles may have built the indexes', async () => {
  await using place = await freshPlace('sqlite')
  const digits = ['9007199254740992', '9007199254740993']
  {
    await using service = await openServiceAt(place.location)
    const lines = { type: 'array', items: { type: 'integer' } }
    const fields = { _id: { type: 'string' }, n: { type: 'integer' }, lines }
    const indexes = [{ fields: [{ field: 'n' }] }, { fields: [{ field: 'lines.*' }] }]
    const metadata = metadataDocument('reading', fields, { info: { indexes } })
    await service.metadata.create(ADMIN, { entity: 'reading', version: '1.0.0' }, metadata)
    const data = digits.map((n) => jsonObject(`{"_id":"${n}","n":${n},"lines":[${n}]}`))
    await service.data.insert(ADMIN, { entity: 'reading' }, { data })
  }
  {
    using database = new DatabaseSync(join(directoryOf(place.location), 'smalt.db'))
    const { paths } = database.prepare(`select paths from smalt_collection where entity = 'reading'`).get()!
    const known = (JSON.parse(String(paths)) as string[]).filter((each) => !each.startsWith('$integer.'))
    database
      .prepare(`update smalt_collection set paths = ? where entity = 'reading'`)
      .run(JSON.stringify(known))
    const { schema } = database.prepare(`select schema from smalt_schema where entity = 'reading'`).get()!
    const other = String(schema).replace('1.0.0', '2.0.0').replaceAll('"integer"', '"double"')
    const counted = other.replace('"lines#":{"type":"double"', '"lines#":{"type":"integer"')
    const add = database.prepare(
      `insert into smalt_schema(entity, version, schema) values ('reading', '2.0.0', ?)`,
    )
    add.run(counted)
  }
  await using service = await openServiceAt(place.location)
  const data = [jsonObject('{"_id":"double","n":9007199254740992,"lines":[9007199254740992]}')]
  await service.data.insert(ADMIN, { entity: 'reading', version: '2.0.0' }, { data })
  for (const field of ['n', 'lines.*']) {
    const query = (rvalue: Json): JsonObject => ({ query: { field, op: '=', rvalue } })
    const found = async (version: string, rvalue: Json) => {
      const body = { ...query(rvalue), projection: { field: '_id' } }
      const response = await service.data.find(ADMIN, { entity: 'reading', version }, body)
      return documentsOf(response).map(({ _id }) => _id)
    }
    assert.deepEqual(await found('1.0.0', '9007199254740993'), ['9007199254740993'])
    assert.deepEqual(await found('2.0.0', '9007199254740992'), ['9007199254740992', 'double'])
    const request = { groupBy: [field], values: { count: { $count: true } } }
    const grouped = await service.data.aggregate(ADMIN, { entity: 'reading', version: '2.0.0' }, request)
    assert.deepEqual(grouped.processed, [`{"${field}":9.007199254740992e+15,"count":3}`])
  }
})
