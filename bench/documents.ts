/** What is stored and asked: documents of about 1 KB, and the bytes of requests about them. */

export interface Sent {
  readonly text: string
  /** What the body of a right answer holds. */
  readonly expect: string
}

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json }
type Document = Readonly<Record<string, Json>>

export const ENTITY = 'item'
export const TAGGED = 'tagged'
/** Ends the path of requests that the bare server is to answer from a table of nothing but key and text. */
export const TEXT_ONLY = '?textOnly'
/** So many documents share each value of `customer` (and, in the other collection, of `tags` and `customer`). */
export const PER_CUSTOMER = 1_000
export const PER_TAG = 10

const ANYONE = { insert: ['anyone'], update: ['anyone'], find: ['anyone'], delete: ['anyone'] }
const STRINGS = 'sku name status customer currency email phone city zip country channel locale note'.split(
  ' ',
)

/** A version in which the bench may not read some fields. */
export const GUARDED = '1.1.0'
const OPEN = '1.0.0'

export function guardedSchema(): Json {
  const guarded = { type: 'string', access: { find: ['clerk'] } }
  const { schema } = itemMetadata()
  const version = { value: GUARDED, changelog: 'guarded' }
  return { ...schema, version, fields: { ...schema.fields, phone: guarded, note: guarded } }
}

export function itemMetadata(name = ENTITY): Metadata {
  const strings = Object.fromEntries(STRINGS.map((name) => [name, { type: 'string' }]))
  const fields = {
    ...strings,
    createdAt: { type: 'date' },
    quantity: { type: 'integer' },
    price: { type: 'double' },
    active: { type: 'boolean' },
    priority: { type: 'integer' },
    address: {
      type: 'object',
      fields: { street: { type: 'string' }, floor: { type: 'integer' }, door: { type: 'string' } },
    },
    tags: { type: 'array', items: { type: 'string' } },
  }
  return metadata(name, fields, ['customer', 'createdAt', 'email'])
}

export function taggedMetadata(): Json {
  const fields = { customer: { type: 'string' }, tags: { type: 'array', items: { type: 'string' } } }
  return metadata(TAGGED, fields, ['customer', 'tags.*'])
}

interface Metadata {
  readonly [key: string]: Json
  readonly entityInfo: Document
  readonly schema: { readonly [key: string]: Json; readonly fields: Document }
}

export function metadata(name: string, fields: Document, indexes: readonly string[]): Metadata {
  return {
    entityInfo: {
      name,
      defaultVersion: '1.0.0',
      indexes: indexes.map((field) => ({ name: field, fields: [{ field, dir: '$asc' }] })),
    },
    schema: {
      name,
      version: { value: '1.0.0', changelog: 'first' },
      status: { value: 'active' },
      access: ANYONE,
      fields,
    },
  }
}

export function item(i: number, documents: number): Document {
  return {
    sku: `SKU-${String(i).padStart(9, '0')}`,
    name: `Article number ${i} of the catalogue`,
    status: i % 3 === 0 ? 'shipped' : 'ordered',
    customer: customerOf(i, documents),
    currency: 'CHF',
    email: emailOf(i),
    phone: '+41 44 000 00 00',
    city: 'Winterthur',
    zip: String(8_000 + (i % 1_000)),
    country: 'CH',
    channel: 'web',
    locale: 'de-CH',
    createdAt: `202${i % 7}-0${(i % 9) + 1}-1${i % 10}T10:11:12.${String(i % 1_000).padStart(3, '0')}Z`,
    quantity: i % 50,
    price: (i % 10_000) / 8,
    active: i % 2 === 0,
    priority: i % 5,
    address: { street: `Technikumstrasse ${i % 200}`, floor: i % 9, door: 'left' },
    tags: [`tag${i % 17}`, `tag${i % 29}`, 'all'],
    note: `${NOTE} ${i}`,
  }
}

export function tagged(i: number, documents: number): Document {
  const groups = Math.max(1, Math.floor(documents / PER_TAG))
  return { customer: `c${i % groups}`, tags: [`t${i % groups}`, `u${i % 7}`, `v${i % 11}`] }
}

function customerOf(i: number, documents: number): string {
  return `customer-${i % Math.max(1, Math.floor(documents / PER_CUSTOMER))}`
}

function emailOf(i: number): string {
  return `person${i}@example.com`
}

const NOTE =
  'Deliver to the back door, ring twice, and leave it with the neighbour when nobody answers. '.repeat(5)

export function findByUrl(id: string): Sent {
  return { text: request('GET', `/data/find/${ENTITY}?Q=_id:${id}`), expect: `"_id":"${id}"` }
}

/** The plain document, without the envelope of a find. */
export function documentByUrl(id: string): Sent {
  return { text: request('GET', `/documents/${ENTITY}/${id}`), expect: `"_id":"${id}"` }
}

export function findByBody(id: string, version = OPEN): Sent {
  const place = `${ENTITY}/${version}`
  return { ...findBody(place, { field: '_id', op: '=', rvalue: id }), expect: `"_id":"${id}"` }
}

export function pageOfCustomer(i: number, documents: number, version = OPEN): Sent {
  const rvalue = customerOf(i, documents)
  const { text } = findBody(`${ENTITY}/${version}`, { field: 'customer', op: '=', rvalue }, [0, 99])
  return { text, expect: `"customer":"${rvalue}"` }
}

/** The next ten in the order of an index, as somebody pages through them. */
export function nextByEmail(i: number): Sent {
  const query = { field: 'email', op: '>', rvalue: emailOf(i) }
  return {
    text: request('POST', `/data/find/${ENTITY}`, JSON.stringify(sortedBody(query))),
    expect: '"email":',
  }
}

export function updateOf(id: string, entity = ENTITY): Sent {
  const body = { query: { field: '_id', op: '=', rvalue: id }, update: { $add: { quantity: 1 } } }
  const expect = '"modifiedCount":1,'
  return { text: request('POST', `/data/update/${entity}`, JSON.stringify(body)), expect }
}

export function scanFor(note: string): Sent {
  return { ...findBody(ENTITY, { field: 'note', op: '=', rvalue: note }, [0, 9]), expect: '"matchCount":0' }
}

/** Two conditions, one of them on an indexed field, and a sort by a third field: the newest 20. */
export function filteredOf(i: number, documents: number): Sent {
  const rvalue = customerOf(i, documents)
  const query = {
    $and: [
      { field: 'customer', op: '=', rvalue },
      { field: 'quantity', op: '>=', rvalue: i % 25 },
    ],
  }
  const body = { ...findRequest(query, { range: [0, 19] }), sort: { createdAt: '$desc' } }
  return {
    text: request('POST', `/data/find/${ENTITY}`, JSON.stringify({ ...body, execution: { count: 'none' } })),
    expect: `"customer":"${rvalue}"`,
  }
}

/** By a field without an index, which no document has. */
export function scanBySku(i: number): Sent {
  return {
    ...findBody(ENTITY, { field: 'sku', op: '=', rvalue: `none-${i}` }, [0, 9]),
    expect: '"processed":[]',
  }
}

export function taggedBy(field: 'customer' | 'tags.*', i: number, documents: number): Sent {
  const { customer, tags } = tagged(i, documents) as { customer: string; tags: readonly string[] }
  const rvalue = field === 'customer' ? customer : tags[0]!
  return { ...findBody(TAGGED, { field, op: '=', rvalue }), expect: `"matchCount":${PER_TAG}` }
}

/** Without `_id`, which the server makes: the same bytes can be sent again. */
export function insertOf(documents: readonly Document[], { entity = ENTITY, suffix = '' } = {}): Sent {
  const body = JSON.stringify({ data: documents.length === 1 ? documents[0]! : documents })
  const expect = `"modifiedCount":${documents.length},`
  return { text: request('PUT', `/data/insert/${entity}${suffix}`, body), expect }
}

export function health(): Sent {
  return { text: request('GET', '/health'), expect: '"status":"up"' }
}

export function pageBody(rvalue: string): Json {
  return findRequest({ field: 'customer', op: '=', rvalue }, { range: [0, 99] })
}

export function sortedBody(query: Json = { field: 'email', op: '>', rvalue: emailOf(0) }): Json {
  return { ...findRequest(query, { range: [0, 9] }), sort: { email: '$asc' }, execution: { count: 'none' } }
}

export interface Wanted {
  readonly range?: readonly number[]
  /** Everything, when absent. */
  readonly projection?: Json
}

export function findRequest(query: Json, { range, projection }: Wanted = {}): Document {
  return {
    query,
    projection: projection ?? { field: '*', recursive: true },
    ...(range && { range }),
  }
}

function findBody(entity: string, query: Json, range?: readonly number[]): { readonly text: string } {
  const body = findRequest(query, range && { range })
  return { text: request('POST', `/data/find/${entity}`, JSON.stringify(body)) }
}

export function request(method: string, path: string, body?: string): string {
  const head = `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n`
  if (body === undefined) return `${head}\r\n`
  const length = Buffer.byteLength(body)
  return `${head}Content-Type: application/json\r\nContent-Length: ${length}\r\n\r\n${body}`
}
