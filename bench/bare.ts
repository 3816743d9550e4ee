/** The bare servers that Smalt is measured against: Node's own HTTP server, and answers with the bytes of Smalt's. */
import type { ServerResponse } from 'node:http'
import { uuidV7 } from '../src/base/uuid.ts'
import { listen, read, send, sendLater } from './bare-http.ts'
import { ENTITY, TEXT_ONLY } from './documents.ts'
import { ROOT } from './references.ts'
import { ARTICLE } from './texts.ts'

/** The statements of Smalt itself, as its explain tells them. */
export interface Statements {
  readonly table: string
  /** Where those are that refer to each other; what is asked of them is written by hand. */
  readonly references?: { readonly root: string; readonly child: string }
  /** Where the articles are; what is asked of them is written by hand. */
  readonly articles?: string
  readonly page: string
  readonly count: string
  readonly sorted: string
  /** The first page of a walk by date; the limit writes the others by hand. */
  readonly walked: string
}

export type Row = readonly [id: string, version: number | string, text: string]

export interface Page {
  readonly rows: readonly Row[]
  readonly matchCount: number
}

/** With the documents that this one refers to, as they stand between the brackets of an array. */
export type Holder = readonly [...row: Row, joined: string | null]

export interface HolderPage {
  readonly rows: readonly Holder[]
  readonly matchCount: number
}

export type Groups = readonly (readonly [customer: string, n: number | string])[]
export type Total = number | string

/** What a store does for the bare server, at once or later. */
export interface BareStore {
  findOne(id: string): Row | Promise<Row>
  findPage(value: string): Page | Promise<Page>
  findSorted(value: string): readonly Row[] | Promise<readonly Row[]>
  /** The page of a walk after this document. */
  findAfter(date: string, id: string): readonly Row[] | Promise<readonly Row[]>
  findHolders(value: string): HolderPage | Promise<HolderPage>
  /** All of them, which are fewer than fit on a page: nothing has to be counted. */
  findByJoined(value: string): readonly Row[] | Promise<readonly Row[]>
  /** Articles that have all words, in the order of their ids or by relevance, as the engine defines it. */
  findWords(words: readonly string[], isRanked: boolean): Page | Promise<Page>
  /** The number of documents of each customer. */
  countByCustomer(): Groups | Promise<Groups>
  sumOfPriority(priority: number): Total | Promise<Total>
  insert(rows: readonly Row[], isTextOnly: boolean): void | Promise<void>
  /** Reads the document, changes it, and writes it unless somebody else did meanwhile. */
  update(id: string, version: number, change: (text: string) => string): void | Promise<void>
}

type Document = Readonly<Record<string, unknown>>

interface Body {
  readonly query: { readonly field: string; readonly rvalue: string; readonly text: string }
  readonly groupBy?: readonly string[]
  readonly sort?: unknown
  readonly walk?: { readonly date: string; readonly id: string }
  readonly data: Document | readonly Document[]
}

export function serveBare(store: BareStore): void {
  listen((request, response) => {
    const url = request.url!
    if (request.method === 'GET') {
      return answerWith(response, store.findOne(url.slice(url.indexOf('_id:') + 4)), one)
    }
    return read(request, (text) => respond(store, { url, text }, response))
  })
}

let version = Date.now() * 1_000

function respond(
  store: BareStore,
  { url, text }: { readonly url: string; readonly text: string },
  response: ServerResponse,
): void {
  const { query, data, groupBy, walk, sort } = JSON.parse(text) as Body
  if (url.startsWith('/data/aggregate/')) {
    if (groupBy) answerWith(response, store.countByCustomer(), (rows) => groups(rows.map(printGroup)))
    else answerWith(response, store.sumOfPriority(Number(query.rvalue)), (n) => groups([`{"n":${n}}`]))
  } else if (walk) {
    const print = (rows: readonly Row[]): string => page({ rows, matchCount: 0 })
    answerWith(response, store.findAfter(walk.date, walk.id), print)
  } else if (url.startsWith('/data/insert/')) {
    const rows = newRows(Array.isArray(data) ? (data as readonly Document[]) : [data as Document])
    const done = store.insert(rows, url.endsWith(TEXT_ONLY))
    answerWith(response, done, () => written(rows))
  } else if (url.startsWith('/data/update/')) {
    const at = ++version
    answerWith(response, store.update(query.rvalue, at, addOne), () => written([[query.rvalue, at, '']]))
  } else if (url === `/data/find/${ARTICLE}`) {
    answerWith(response, store.findWords(query.text.split(' '), sort !== undefined), articlePage)
  } else if (url === `/data/find/${ROOT}` && query.field === 'customer') {
    answerWith(response, store.findHolders(query.rvalue), holderPage)
  } else if (url === `/data/find/${ROOT}`) {
    answerWith(response, store.findByJoined(query.rvalue), (rows) => rootPage(rows, rows.length))
  } else if (query.field === '_id') {
    answerWith(response, store.findOne(query.rvalue), one)
  } else if (query.field === 'customer') {
    answerWith(response, store.findPage(query.rvalue), page)
  } else {
    answerWith(response, store.findSorted(query.rvalue), (rows) => page({ rows, matchCount: 0 }))
  }
}

/** What is there at once is sent at once: a turn of waiting would slow the limit down. */
function answerWith<T>(response: ServerResponse, value: T | Promise<T>, print: (value: T) => string): void {
  if (value instanceof Promise) sendLater(response, value.then(print))
  else send(response, print(value))
}

function newRows(data: readonly Document[]): readonly Row[] {
  const at = ++version
  return data.map((document) => {
    const _id = uuidV7(Date.now())
    return [_id, at, JSON.stringify({ ...document, _id, objectType: ENTITY })]
  })
}

function addOne(text: string): string {
  const document = JSON.parse(text) as Record<string, unknown>
  document['quantity'] = Number(document['quantity']) + 1
  return JSON.stringify(document)
}

function one(row: Row): string {
  return page({ rows: [row], matchCount: 1 })
}

function page({ rows, matchCount }: Page): string {
  const texts = rows.map((row) => row[2])
  return answer({ texts, rows, modifiedCount: 0, matchCount })
}

function holderPage({ rows, matchCount }: HolderPage): string {
  const joined = rows.map(([id, version, text, children]): Row => {
    return [id, version, children === null ? text : `${text.slice(0, -1)},"children":[${children}]}`]
  })
  return rootPage(joined, matchCount)
}

function articlePage({ rows, matchCount }: Page): string {
  return answer({ entity: ARTICLE, texts: rows.map((row) => row[2]), rows, modifiedCount: 0, matchCount })
}

function rootPage(rows: readonly Row[], matchCount: number): string {
  return answer({ entity: ROOT, texts: rows.map((row) => row[2]), rows, modifiedCount: 0, matchCount })
}

function written(rows: readonly Row[]): string {
  return answer({ texts: rows.map(() => '{}'), rows, modifiedCount: rows.length, matchCount: 0 })
}

function printGroup([customer, n]: Groups[number]): string {
  return `{"customer":${JSON.stringify(customer)},"n":${n}}`
}

function groups(texts: readonly string[]): string {
  return (
    `{"entity":"${ENTITY}","entityVersion":"1.0.0","status":"COMPLETE","modifiedCount":0,` +
    `"matchCount":${texts.length},"processed":[${texts.join(',')}]}`
  )
}

interface Answer {
  readonly entity?: string
  readonly texts: readonly string[]
  readonly rows: readonly Row[]
  readonly modifiedCount: number
  readonly matchCount: number
}

function answer({ entity = ENTITY, texts, rows, modifiedCount, matchCount }: Answer): string {
  const versions = rows.map((row) => `{"documentVersion":"${row[0]}:${row[1]}"}`)
  return (
    `{"entity":"${entity}","entityVersion":"1.0.0","status":"COMPLETE","modifiedCount":${modifiedCount},` +
    `"matchCount":${matchCount},"processed":[${texts.join(',')}],"resultMetadata":[${versions.join(',')}]}`
  )
}
