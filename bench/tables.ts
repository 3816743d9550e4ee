/** Smalt beside a plain table with typed columns, and the SQL that a thin layer over tables sends. */
import { filteredOf, findByUrl, insertOf, item, pageOfCustomer, scanBySku, updateOf } from './documents.ts'
import { type Figure, several } from './figure.ts'

/** Figures of reads come first, because writes make the tables grow. */
export function tableFigures(ids: readonly string[], documents: number): readonly Figure[] {
  return [
    figure('find', 'find by id', { connections: 64, requests: ids.map(findByUrl) }),
    figure('page', 'page of 100 with total', {
      connections: 16,
      requests: several(1_000, (i) => pageOfCustomer(i, documents)),
    }),
    figure('sorted', 'two conditions and a sort, 20', {
      connections: 16,
      requests: several(1_000, (i) => filteredOf(i, documents)),
    }),
    figure('scan', 'scan of all documents', { connections: 2, requests: several(100, scanBySku) }),
    figure('update', 'update of one field by id', {
      connections: 64,
      requests: ids.map((id) => updateOf(id)),
    }),
    figure('insert', 'insert of one', {
      connections: 64,
      requests: several(1_000, (i) => insertOf([item(documents + i, documents)])),
    }),
  ]
}

function figure(
  name: string,
  title: string,
  { connections, requests }: Pick<Figure, 'connections' | 'requests'>,
): Figure {
  return {
    name: `tables-${name}`,
    title,
    connections,
    requests,
    against: { kind: 'tables' },
    store: 'postgres',
  }
}

/** The columns of the table and their types, as one would choose them for these documents. */
const COLUMNS: Readonly<Record<string, string>> = {
  _id: 'text primary key',
  sku: 'text',
  name: 'text',
  status: 'text',
  customer: 'text',
  currency: 'text',
  email: 'text',
  phone: 'text',
  city: 'text',
  zip: 'text',
  country: 'text',
  channel: 'text',
  locale: 'text',
  createdAt: 'timestamptz',
  quantity: 'bigint',
  price: 'double precision',
  active: 'boolean',
  priority: 'bigint',
  address: 'jsonb',
  tags: 'text[]',
  note: 'text',
}

export const TABLE = 'item'
export const COLUMN_NAMES = Object.keys(COLUMNS)

export function quoted(name: string): string {
  return `"${name}"`
}

/** Creates the table, with the indexes that the entity has, and copies the documents in the order of their rows. */
export function creatingTable(schema: string, from: string): readonly string[] {
  const table = `${schema}.${TABLE}`
  const columns = Object.entries(COLUMNS).map(([name, type]) => `${quoted(name)} ${type}`)
  const indexed = ['customer', 'createdAt', 'email']
  return [
    `create schema ${schema}`,
    `create table ${table}(${columns.join(', ')})`,
    ...indexed.map((name) => `create index on ${table}(${quoted(name)}, "_id")`),
    `insert into ${table} select (jsonb_populate_record(null::${table}, doc::jsonb)).* from (
       select doc from ${from} order by ctid offset 0) as stored`,
    `vacuum analyze ${table}`,
    'checkpoint',
  ]
}
