/**
 * A cursor is valid in every process of the store. A process remembers the cursors that it made, so only another one
 * shows that they can be decrypted.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonObject } from '../../../src/base/json/json.ts'
import type { Answer } from '../../support/server.ts'
import { metadataDocument } from '../../support/service.ts'
import { type SmaltProcess, startSmalt } from '../../support/smalt-process.ts'
import { freshPlace, onEveryStore } from '../../support/store-kind.ts'

const BOUNDED = { timeout: 300_000 }
const COUNT = 30
const SIZE = 4
const FIND = { sort: [{ n: '$desc' }, { text: '$asc' }], projection: { field: '_id' } }

interface Page {
  readonly documents: readonly JsonObject[]
  readonly next?: string
}

/** Asks for the page after a cursor, in each form that a request has. */
const PAGES: Readonly<Record<string, (process: SmaltProcess, after?: string) => Promise<Page>>> = {
  'POST /data/find': async (process, after) => {
    const page = { size: SIZE, ...(after !== undefined && { after }) }
    return responsePage(await process.ask('POST', '/data/find/item', { ...FIND, page }))
  },
  'GET /data/find': async (process, after) =>
    responsePage(await process.ask('GET', `/data/find/item?S=n:d,text:a&P=_id:1&${search(after)}`)),
  'GET /documents': async (process, after) => {
    const { json } = ok(await process.ask('GET', `/documents/item?sort=-n,text&fields=_id&${search(after)}`))
    return { documents: json.items, next: json.next }
  },
}

function search(after: string | undefined): string {
  return `size=${SIZE}${after === undefined ? '' : `&after=${after}`}`
}

function responsePage(answer: Answer): Page {
  const { processed, next } = ok(answer).json
  return { documents: processed, next }
}

function ok(answer: Answer): Answer {
  assert.ok(answer.status < 300, answer.text)
  return answer
}

async function fill(process: SmaltProcess): Promise<readonly JsonObject[]> {
  const fields = { _id: { type: 'string' }, n: { type: 'integer' }, text: { type: 'string' } }
  ok(await process.ask('PUT', '/metadata/item/1.0.0', metadataDocument('item', fields)))
  const data = Array.from({ length: COUNT }, (_, i) => ({ _id: `i${i}`, n: i % 3, text: `t${i % 7}` }))
  ok(await process.ask('PUT', '/data/insert/item', { data }))
  return responsePage(await process.ask('POST', '/data/find/item', FIND)).documents
}

onEveryStore((kind) => {
  test('page: a cursor is valid after a restart', BOUNDED, async () => {
    await using place = await freshPlace()
    let process = await startSmalt(place.location)
    try {
      const all = await fill(process)
      const walked = new Map<string, Page>()
      for (const [name, pageAfter] of Object.entries(PAGES)) walked.set(name, await pageAfter(process))
      // the first restart is an orderly one, the second is not
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        await process.kill(signal)
        process = await startSmalt(place.location)
        for (const [name, pageAfter] of Object.entries(PAGES)) {
          const { documents, next } = walked.get(name)!
          const more = await pageAfter(process, next)
          walked.set(name, { ...more, documents: [...documents, ...more.documents] })
        }
      }
      for (const [name, { documents }] of walked) assert.deepEqual(documents, all.slice(0, 3 * SIZE), name)
    } finally {
      await process[Symbol.asyncDispose]()
    }
  })

  // a store on SQLite is open in one process
  if (kind === 'sqlite') return

  test('page: each page comes from another process', BOUNDED, async () => {
    await using place = await freshPlace()
    await using one = await startSmalt(place.location)
    const all = await fill(one)
    await using other = await startSmalt(place.location)
    for (const [name, pageAfter] of Object.entries(PAGES)) {
      const found: JsonObject[] = []
      let [pages, after] = [0, undefined as string | undefined]
      do {
        const { documents, next } = await pageAfter(pages++ % 2 === 0 ? one : other, after)
        found.push(...documents)
        after = next
      } while (after !== undefined)
      assert.deepEqual(found, all, name)
      assert.equal(pages, Math.ceil(COUNT / SIZE), name)
    }
  })
})
