/** Fills Smalt over HTTP, as anybody would, and asks it what it is doing. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Server } from './children.ts'
import {
  ENTITY,
  GUARDED,
  TAGGED,
  guardedSchema,
  item,
  itemMetadata,
  pageBody,
  sortedBody,
  tagged,
  taggedMetadata,
} from './documents.ts'
import type { Statements } from './bare.ts'

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

interface Filling {
  readonly documents: number
  readonly make: (i: number) => unknown
}

async function fill(api: string, entity: string, { documents, make }: Filling): Promise<readonly string[]> {
  const ids: string[] = []
  const keepsEvery = Math.max(1, Math.floor(documents / 10_000))
  for (let from = 0; from < documents; from += BATCH) {
    const data = Array.from({ length: Math.min(BATCH, documents - from) }, (_, i) => make(from + i))
    const answer = await ask(api, 'PUT', `/data/insert/${entity}`, { data })
    const { modifiedCount, resultMetadata } = answer as {
      modifiedCount: number
      resultMetadata: readonly { readonly documentVersion: string }[]
    }
    if (modifiedCount !== data.length)
      throw new Error(`not all stored: ${JSON.stringify(answer).slice(0, 500)}`)
    for (const [i, { documentVersion }] of resultMetadata.entries()) {
      if ((from + i) % keepsEvery === 0) ids.push(documentVersion.slice(0, documentVersion.lastIndexOf(':')))
    }
  }
  return ids
}

/** The statements that Smalt runs, from its own mouth. */
export async function statementsOf({ api }: Server): Promise<Statements> {
  const page = await statementOf(api, pageBody('customer-0'))
  const sorted = await statementOf(api, sortedBody())
  const match = /^select .*?( from (doc_\w+).*) order by /.exec(page)
  if (!match) throw new Error(`a page is asked for by ${page}`)
  return { page, count: `select count(*)${match[1]!}`, sorted, table: match[2]! }
}

async function statementOf(api: string, body: unknown): Promise<string> {
  const answer = await ask(api, 'POST', `/data/explain/${ENTITY}`, body)
  const [explained] = (answer as { processed: readonly Record<string, { query?: { sql: string } }>[] })
    .processed
  const found = Object.values(explained!).find(({ query }) => query !== undefined)
  if (!found) throw new Error(`explain answers ${JSON.stringify(answer)}`)
  return found.query!.sql
}

export async function residentMegabytes({ api }: Server): Promise<number> {
  const text = await (await fetch(`${api}/metrics`)).text()
  const match = /^process_resident_memory_bytes (\S+)/m.exec(text)
  return Number(match?.[1]) / 2 ** 20
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
