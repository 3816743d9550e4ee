/** Calls of every operation that changes documents by the routes of `/data`: writes, bulks, imports, locks. */
import { byTitle, client, completes, everything, expect, fails, path, succeeds } from './client.ts'

const params = { path }

export async function callData(): Promise<void> {
  await insertAndSave()
  await updateAndDelete()
  await bulkAndImport()
  await lock()
}

async function insertAndSave(): Promise<void> {
  const once = { ...params, header: { 'Idempotency-Key': 'first-book' } }
  for (const _ of ['sent', 'sent again']) {
    await completes(
      client.PUT('/data/insert/{entity}/{version}', {
        params: once,
        body: { data: [{ title: 'Emma', price: 12.5, chapters: [{ pages: 9 }] }], projection: everything },
      }),
    )
  }
  const dry = await completes(
    client.PUT('/data/insert/{entity}', {
      params,
      body: { data: { title: 'Dry' }, execution: { dryRun: true, count: 'none' } },
    }),
  )
  expect(dry.dryRun?.events['all'] === 1, 'a dry run counts events by hook')
  const faulty = await succeeds(
    client.PUT('/data/{entity}', {
      params,
      body: { data: [{ title: 'Sanditon' }, { title: '' }], execution: { positions: true } },
    }),
  )
  expect(faulty.dataErrors?.[0]?.position === 1, 'the document that failed is named')
  await completes(
    client.PUT('/data/{entity}/{version}', { params, body: { data: { title: 'Lesley Castle' } } }),
  )
  await completes(
    client.POST('/data/save/{entity}', {
      params,
      body: { data: { _id: 'b2', title: 'Persuasion', published: '1817-12-20T00:00:00Z' }, upsert: true },
    }),
  )
  await completes(
    client.POST('/data/save/{entity}/{version}', {
      params,
      body: { data: { _id: 'b2', title: 'Persuasion', price: 9 }, projection: everything },
    }),
  )
  const generated = { entity: 'book', field: '_id' }
  await completes(
    client.GET('/data/generate/{entity}/{field}', { params: { path: generated, query: { n: 3 } } }),
  )
  await completes(
    client.GET('/data/generate/{entity}/{version}/{field}', {
      params: { path: { ...generated, version: '1.0.0' } },
    }),
  )
}

async function updateAndDelete(): Promise<void> {
  const { resultMetadata = [] } = await completes(
    client.POST('/data/find/{entity}', { params, body: { query: byTitle, projection: everything } }),
  )
  await completes(
    client.POST('/data/update/{entity}/{version}', {
      params,
      body: {
        query: byTitle,
        update: [
          { $set: { price: 13, published: { $now: true } }, $unset: 'published' },
          { $append: { chapters: {} }, $foreach: { chapters: '$all', $update: { $set: { pages: 3 } } } },
          { $foreach: { chapters: { field: 'pages', op: '>', rvalue: 100 }, $update: '$remove' } },
        ],
        documentVersions: resultMetadata.map(({ documentVersion }) => documentVersion),
      },
    }),
  )
  const { modifiedCount } = await completes(
    client.POST('/data/update/{entity}', {
      params,
      body: { filter: 'title = "Emma" and any chapters (pages > 1)', update: { $add: { price: 1 } } },
    }),
  )
  expect(modifiedCount === 1, 'the filter finds the book')
  await completes(
    client.POST('/data/delete/{entity}', { params, body: { query: { text: '"Lesley castle"' } } }),
  )
  await completes(
    client.POST('/data/delete/{entity}/{version}', {
      params,
      body: { filter: 'text("-blue")', documentVersions: [], execution: { maxTimeMs: 10_000 } },
    }),
  )
}

async function bulkAndImport(): Promise<void> {
  const bulk = await succeeds(
    client.POST('/data/bulk', {
      body: {
        requests: [
          { seq: 1, op: 'find', request: { entity: 'book', query: byTitle, projection: everything } },
          { seq: 2, op: 'insert', request: { entity: 'book', data: { title: 'The Watsons' } } },
          { seq: 3, op: 'generate', request: { entity: 'book', field: '_id', n: 2 } },
          { seq: 4, op: 'aggregate', request: { entity: 'book', values: { all: { $count: true } } } },
          { seq: 5, op: 'EXPLAIN', request: { entity: 'book', filter: 'true', projection: everything } },
          {
            seq: 6,
            op: 'update',
            request: { entity: 'book', filter: 'false', update: { $set: { price: 1 } } },
          },
          { seq: 7, op: 'find', request: { entity: 'book', projection: everything, page: { size: 1 } } },
          { seq: 8, op: 'save', request: { entity: 'book', data: { _id: 'b8' }, upsert: true } },
          { seq: 9, op: 'delete', request: { entity: 'book', filter: '_id = "b8"' } },
        ],
        ordered: true,
      },
    }),
  )
  const failed = bulk.responses.find(({ response }) => response.status !== 'COMPLETE')
  expect(failed === undefined, JSON.stringify(failed))
  const upload = { parseAs: 'text', bodySerializer: (body: string) => body } as const
  const lines = await succeeds(
    client.POST('/data/import/{entity}', {
      ...upload,
      params: { path, query: { upsert: true, onError: 'stop', skip: 0 } },
      body: '{"_id":"b3","title":"Mansfield Park"}\n',
      headers: { 'Content-Type': 'application/x-ndjson' },
    }),
  )
  expect(lines.includes('"failed":0'), 'no line fails')
  await succeeds(
    client.POST('/data/import/{entity}/{version}', {
      ...upload,
      params: { path, query: { delimiter: ';' } },
      body: '_id;title\nb4;Lady Susan\n',
      headers: { 'Content-Type': 'text/csv' },
    }),
  )
}

async function lock(): Promise<void> {
  await succeeds(
    client.POST('/data/lock', {
      body: { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r', ttl: 1000 },
    }),
  )
  const held = { path: { domain: 'd', callerId: 'c', resourceId: 'r2' } }
  const address = '/data/lock/{domain}/{callerId}/{resourceId}'
  await succeeds(client.PUT(address, { params: { ...held, query: { ttl: 60_000 } } }))
  await succeeds(client.PUT(`${address}/ping`, { params: held }))
  const { result } = await succeeds(client.GET(address, { params: held }))
  expect(result === 1, 'the lock is held once')
  await succeeds(client.DELETE(address, { params: held }))
  await fails(client.PUT(`${address}/ping`, { params: held }), 'crud:InvalidLock')
}
