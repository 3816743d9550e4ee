/** Pages by cursor, and by a keyset that the client writes, beside a walk over the same index in SQL by hand. */
import type { Server } from './children.ts'
import { ENTITY, type Json, type Sent, findRequest, request } from './documents.ts'
import type { Figure } from './figure.ts'

const PAGES = 100
export const PAGE_SIZE = 100

/** The document before a page. */
interface Before {
  readonly date: string
  readonly id: string
}

/** Where a page begins: for Smalt its cursor, for the limit the document before it. */
interface Begin extends Before {
  readonly after: string
}

export interface Begins {
  readonly first: readonly Begin[]
  readonly middle: readonly Before[]
}

/** The beginnings of the first pages, newest document first. */
export async function walkPages(server: Server): Promise<readonly Begin[]> {
  const begins: Begin[] = []
  let after: string | undefined
  for (let i = 0; i < PAGES; i++) {
    const { next, processed } = await find(server, pageRequest(after))
    if (next === undefined) throw new Error(`there are only ${i + 1} pages`)
    const { createdAt, _id } = processed.at(-1)!
    begins.push({ after: next, date: createdAt, id: _id })
    after = next
  }
  return begins
}

/** As many documents in the middle of the walk. */
export async function middleOfWalk(server: Server, documents: number): Promise<readonly Before[]> {
  const middle = Math.floor(documents / 2)
  const { processed } = await find(server, { ...walkBody(), range: [middle, middle + PAGES - 1] })
  return processed.map(({ createdAt, _id }) => ({ date: createdAt, id: _id }))
}

async function find({ api }: Server, body: Json): Promise<Found> {
  const response = await fetch(`${api}/data/find/${ENTITY}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as Found
}

interface Found {
  readonly next?: string
  readonly processed: readonly { readonly createdAt: string; readonly _id: string }[]
}

/** The first page in the order of the walk, by range: its statement tells how the order is written. */
export function walkBody(): Readonly<Record<string, Json>> {
  return { ...findRequest({ $and: [] }, { range: [0, PAGE_SIZE - 1] }), sort: { createdAt: '$desc' } }
}

function pageRequest(after: string | undefined): Json {
  const page = { size: PAGE_SIZE, ...(after !== undefined && { after }) }
  return { projection: { field: '*', recursive: true }, sort: { createdAt: '$desc' }, page }
}

/** The same page without a cursor: the client names the document before it by its values. */
function keysetRequest({ date, id }: Before): Json {
  const compared = (field: string, op: string, rvalue: string): Json => ({ field, op, rvalue })
  const tie = [compared('createdAt', '=', date), compared('_id', '>', id)]
  return {
    ...walkBody(),
    query: { $or: [compared('createdAt', '<', date), { $and: tie }] },
    execution: { count: 'none' },
  }
}

/** A walk by hand: the statement of one page, after a date and an `_id`. */
export function walkStatement(first: string, placeholder: (n: number) => string): string {
  const match = /^select .*? from (doc_\w+).* order by ((.+?) desc.*?), id limit /.exec(first)
  if (!match) throw new Error(`the first page is asked for by ${first}`)
  const [, table, order, date] = match
  const [a, b, c] = [1, 2, 3].map(placeholder)
  return `select id, version, doc from ${table} where ${date} <= ${a} and (${date} < ${b} or id > ${c})
    order by ${order}, id limit ${PAGE_SIZE}`
}

export function pageFigures({ first, middle }: Begins): readonly Figure[] {
  const sent = (body: Json): Sent => ({
    text: request('POST', `/data/find/${ENTITY}`, JSON.stringify(body)),
    expect: '"processed":[{',
  })
  const walked = ({ date, id }: Before): Sent => sent({ walk: { date, id } })
  return [
    {
      name: 'cursor',
      title: 'page of 100 by cursor, the first 100 pages',
      connections: 1,
      requests: first.map(({ after }) => sent(pageRequest(after))),
      against: { kind: 'bare', requests: first.map(walked) },
    },
    {
      name: 'keyset',
      title: 'page of 100 by $or of a date and its tie, in the middle',
      connections: 1,
      requests: middle.map((before) => sent(keysetRequest(before))),
      against: { kind: 'bare', requests: middle.map(walked) },
    },
  ]
}
