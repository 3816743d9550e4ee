/** Fills Smalt over HTTP, as anybody would, and asks it what it is doing. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from './children.ts'
import {
  ENTITY,
  GUARDED,
  TAGGED,
  findRequest,
  guardedSchema,
  item,
  itemMetadata,
  pageBody,
  sortedBody,
  tagged,
  taggedMetadata,
} from './documents.ts'
import type { Statements } from './bare.ts'
import { walkBody } from './pages.ts'
import { CHILD, CHILDREN_PER_ROOT, ROOT, child, referenceMetadata, root } from './references.ts'
import { ARTICLE, article, articleMetadata } from './texts.ts'
import { HOOK, WATCHED, watchedMetadata } from './watched.ts'

const BATCH = 1_000

export interface Filled {
  /** The identities of some of the documents, spread over all of them. */
  readonly ids: readonly string[]
  readonly perSecond: number
}

export async function fillItems({ api }: Server, documents: number): Promise<Filled> {
  await ask(api, 'PUT', `/metadata/${ENTITY}/1.0.0`, itemMetadata())
  await ask(api, 'PUT', `/metadata/${ENTITY}/schema=${GUARDED}`, guardedSchema())
  const start = performance.now()
  const ids = await fill(api, ENTITY, { documents, make: (i) => item(i, documents) })
  return { ids, perSecond: documents / ((performance.now() - start) / 1_000) }
}

export async function fillTagged({ api }: Server, documents: number): Promise<void> {
  await ask(api, 'PUT', `/metadata/${TAGGED}/1.0.0`, taggedMetadata())
  await fill(api, TAGGED, { documents, make: (i) => tagged(i, documents) })
}

export async function fillReferences({ api }: Server, documents: number): Promise<void> {
  for (const [entity, metadata] of referenceMetadata()) {
    await ask(api, 'PUT', `/metadata/${entity}/1.0.0`, metadata)
  }
  await fill(api, ROOT, { documents, make: (i) => root(i, documents) })
  await fill(api, CHILD, { documents: documents * CHILDREN_PER_ROOT, make: (i) => child(i, documents) })
}

export async function fillArticles({ api }: Server, documents: number): Promise<void> {
  await ask(api, 'PUT', `/metadata/${ARTICLE}/1.0.0`, articleMetadata())
  await fill(api, ARTICLE, { documents, make: article })
}

/** As many as there are of those that nobody watches; each one is an event. */
export async function fillWatched({ api }: Server, documents: number): Promise<readonly string[]> {
  await ask(api, 'PUT', `/metadata/${WATCHED}/1.0.0`, watchedMetadata())
  const ids = await fill(api, WATCHED, { documents, make: (i) => item(i, documents) })
  const query = { field: '_id', op: '=', rvalue: ids[0]! }
  await ask(api, 'POST', `/data/update/${WATCHED}`, { query, update: { $add: { quantity: 1 } } })
  for (const operation of ['insert', 'update']) await expectEvent(api, operation)
  return ids
}

/** Writes that nobody hears of would be measured as if they were watched. */
async function expectEvent(api: string, operation: string): Promise<void> {
  const query = `entity=${WATCHED}&hook=${HOOK}&operation=${operation}&limit=1&wait=20`
  const text = await (await fetch(`${api}/events?${query}`)).text()
  if (!text.includes(`"operation":"${operation}"`)) throw new Error(`no ${operation} is told of: ${text}`)
}

interface Filling {
  readonly documents: number
  readonly make: (i: number) => unknown
}

async function fill(api: string, entity: string, { documents, make }: Filling): Promise<readonly string[]> {
  const ids: string[] = []
  const keepsEvery = Math.max(1, Math.floor(documents / 10_000))
  for (let from = 0; from < documents; from += BATCH) {
    const data = Array.from({ length: Math.min(BATCH, documents - from) }, (_, i) => make(from + i))
    for (const [i, id] of (await store(api, entity, data)).entries()) {
      if ((from + i) % keepsEvery === 0) ids.push(id)
    }
  }
  return ids
}

/** Returns the identities of the documents. */
export async function store(
  api: string,
  entity: string,
  data: readonly unknown[],
): Promise<readonly string[]> {
  const answer = await ask(api, 'PUT', `/data/insert/${entity}`, { data })
  const { modifiedCount, resultMetadata } = answer as {
    modifiedCount: number
    resultMetadata: readonly { readonly documentVersion: string }[]
  }
  if (modifiedCount !== data.length)
    throw new Error(`not all stored: ${JSON.stringify(answer).slice(0, 500)}`)
  return resultMetadata.map(({ documentVersion }) =>
    documentVersion.slice(0, documentVersion.lastIndexOf(':')),
  )
}

export async function define({ api }: Server, entity: string, metadata: unknown): Promise<void> {
  await ask(api, 'PUT', `/metadata/${entity}/1.0.0`, metadata)
}

/** The statements that Smalt runs, from its own mouth. */
export async function statementsOf(
  { api }: Server,
  { hasReferences, hasArticles }: Readonly<Record<'hasReferences' | 'hasArticles', boolean>>,
): Promise<Statements> {
  const page = await statementOf(api, ENTITY, pageBody('customer-0'))
  const sorted = await statementOf(api, ENTITY, sortedBody())
  const match = /^select .*?( from (doc_\w+).*) order by /.exec(page)
  if (!match) throw new Error(`a page is asked for by ${page}`)
  return {
    page,
    count: `select count(*)${match[1]!}`,
    sorted,
    walked: await statementOf(api, ENTITY, walkBody()),
    table: match[2]!,
    ...(hasReferences && {
      references: { root: await tableOf(api, ROOT), child: await tableOf(api, CHILD) },
    }),
    ...(hasArticles && { articles: await tableOf(api, ARTICLE) }),
  }
}

async function tableOf(api: string, entity: string): Promise<string> {
  const body = findRequest({ field: '_id', op: '=', rvalue: '' }, { projection: { field: '_id' } })
  const statement = await statementOf(api, entity, body)
  const match = / from (doc_\w+)/.exec(statement)
  if (!match) throw new Error(`documents of ${entity} are asked for by ${statement}`)
  return match[1]!
}

async function statementOf(api: string, entity: string, body: unknown): Promise<string> {
  const answer = await ask(api, 'POST', `/data/explain/${entity}`, body)
  const [explained] = (answer as { processed: readonly Record<string, { query?: { sql: string } }>[] })
    .processed
  const found = Object.values(explained!).find(({ query }) => query !== undefined)
  if (!found) throw new Error(`explain answers ${JSON.stringify(answer)}`)
  return found.query!.sql
}

export async function residentMegabytes(server: Server): Promise<number> {
  return (await memoryOf(server)).residentMegabytes
}

/** The heap is that of the main thread. */
export async function memoryOf({ api }: Pick<Server, 'api'>) {
  const text = await (await fetch(`${api}/metrics`)).text()
  const megabytes = (name: string): number =>
    Number(new RegExp(`^${name} (\\S+)`, 'm').exec(text)?.[1]) / 2 ** 20
  return {
    residentMegabytes: megabytes('process_resident_memory_bytes'),
    heapMegabytes: megabytes('nodejs_heap_size_used_bytes'),
  }
}

async function ask(api: string, method: string, path: string, body: unknown): Promise<unknown> {
  const request = { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
  let response = await fetch(`${api}${path}`, request)
  // on a busy machine Smalt may ask for patience, as it would ask anybody
  for (let retries = 0; response.status === 503 && retries < 10; retries++) {
    await response.text()
    await sleep(1_000)
    response = await fetch(`${api}${path}`, request)
  }
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path} answers ${response.status}: ${text}`)
  return JSON.parse(text) as unknown
}
