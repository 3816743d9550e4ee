/** Pages by cursor, beside a walk over the same index in SQL by hand. */
import type { Server } from './children.ts'
import { ENTITY, type Json, type Sent, findRequest, request } from './documents.ts'
import type { Figure } from './figure.ts'

const PAGES = 100
export const PAGE_SIZE = 100

/** Where a page begins: for Smalt its cursor, for the limit the document before it. */
export interface Begin {
  readonly after: string
  readonly date: string
  readonly id: string
}

/** The beginnings of the first pages, newest document first. */
export async function walkPages({ api }: Server): Promise<readonly Begin[]> {
  const begins: Begin[] = []
  let after: string | undefined
  for (let i = 0; i < PAGES; i++) {
    const response = await fetch(`${api}/data/find/${ENTITY}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(pageRequest(after)),
    })
    const { next, processed } = (await response.json()) as Found
    if (next === undefined) throw new Error(`there are only ${i + 1} pages`)
    const { createdAt, _id } = processed.at(-1)!
    begins.push({ after: next, date: createdAt, id: _id })
    after = next
  }
  return begins
}

interface Found {
  readonly next?: string
  readonly processed: readonly { readonly createdAt: string; readonly _id: string }[]
}

/** The first page in the order of the walk, by range: its statement tells how the order is written. */
export function walkBody(): Json {
  return { ...findRequest({ $and: [] }, { range: [0, PAGE_SIZE - 1] }), sort: { createdAt: '$desc' } }
}

function pageRequest(after: string | undefined): Json {
  const page = { size: PAGE_SIZE, ...(after !== undefined && { after }) }
  return { projection: { field: '*', recursive: true }, sort: { createdAt: '$desc' }, page }
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

export function pageFigures(begins: readonly Begin[]): readonly Figure[] {
  const sent = (body: Json): Sent => ({
    text: request('POST', `/data/find/${ENTITY}`, JSON.stringify(body)),
    expect: '"processed":[{',
  })
  return [
    {
      name: 'cursor',
      title: 'page of 100 by cursor, the first 100 pages',
      connections: 1,
      requests: begins.map(({ after }) => sent(pageRequest(after))),
      against: { kind: 'bare', requests: begins.map(({ date, id }) => sent({ walk: { date, id } })) },
    },
  ]
}
