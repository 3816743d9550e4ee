/** Calls of every operation that reads documents by the routes of `/data`: finds, pages, aggregates, searches, history. */
import { type Schemas, byTitle, client, completes, everything, expect, path, succeeds } from './client.ts'

const params = { path }
const cheapAndOld: Schemas['Query'] = {
  $and: [
    { $or: [{ field: 'price', op: '<', rvalue: 20 }, { $not: byTitle }] },
    { field: 'published', op: '<=', rvalue: '1900-01-01T00:00:00Z' },
    { array: 'chapters', elemMatch: { $and: [{ field: 'pages', op: '>', rvalue: 1 }] } },
  ],
}

export async function callReads(): Promise<void> {
  await find()
  await walkPages()
  await findByParameters()
  await aggregate()
  await explain()
  await search()
  await history()
}

async function find(): Promise<void> {
  await completes(
    client.POST('/data/find/{entity}/{version}', {
      params,
      body: { query: cheapAndOld, projection: [everything], sort: [{ title: '$asc' }], range: [0, 9] },
    }),
  )
  await completes(
    client.POST('/data/find/{entity}', {
      params,
      body: {
        query: { field: 'title', regex: '^E', caseInsensitive: true },
        projection: { field: 'chapters', match: { field: 'pages', op: '$in', values: [1, 9] } },
      },
    }),
  )
  const found = await completes(
    client.POST('/data/find/{entity}', {
      params,
      body: {
        query: {
          $and: [
            { text: 'watson* -blue', index: 'words' },
            { field: 'title', op: '$nin', values: ['Emma'] },
          ],
        },
        projection: everything,
        sort: { $score: '$desc' },
      },
    }),
  )
  expect(found.matchCount === 1, 'the search finds a book')
  const lines = await succeeds(
    client.POST('/data/find/{entity}', {
      params: { path, query: { stream: true } },
      body: { filter: 'price < 100 or published > now()', projection: everything, asOf: null },
      parseAs: 'text',
    }),
  )
  await completes(
    client.POST('/data/find/{entity}', {
      params,
      body: {
        query: null,
        filter: 'price < 100',
        projection: everything,
        page: { size: 1 },
        range: null,
        from: null,
      },
    }),
  )
  expect(typeof lines === 'string' && lines.includes('"status":"COMPLETE"'), 'the stream is complete')
}

async function walkPages(): Promise<void> {
  const titles: unknown[] = []
  let after: string | null = null
  do {
    const { processed = [], next }: Schemas['DataResponse'] = await completes(
      client.POST('/data/find/{entity}', {
        params,
        body: {
          filter: 'title != "Nobody"',
          projection: { field: 'title' },
          sort: { title: '$desc' },
          page: { size: 2, after, count: true },
        },
      }),
    )
    titles.push(...processed)
    after = next ?? null
  } while (after !== null)
  expect(titles.length > 2, 'there are several pages')
}

async function findByParameters(): Promise<void> {
  await completes(
    client.GET('/data/find/{entity}', {
      params: { path, query: { Q: 'title:Emma', P: '*:1r', S: 'title:a', from: 0, maxResults: 5 } },
    }),
  )
  const first = await completes(
    client.GET('/data/find/{entity}/{version}', {
      params: { path, query: { filter: 'title ~ /a/i', size: 1, count: true } },
    }),
  )
  const after = first.next
  expect(after !== undefined, 'there is a next page')
  await completes(
    client.GET('/data/find/{entity}/{version}', {
      params: { path, query: { filter: 'title ~ /a/i', size: 1, after: after! } },
    }),
  )
}

async function aggregate(): Promise<void> {
  const body: Schemas['AggregateRequest'] = {
    filter: 'price > 0',
    groupBy: ['title', { field: 'published', truncate: 'month', timeZone: 'Europe/Zurich', as: 'month' }],
    values: { books: { $count: true }, total: { $sum: 'price' }, mean: { $avg: 'price' } },
    having: { field: 'books', op: '>=', rvalue: 1 },
    sort: [{ total: '$desc' }, { title: '$asc' }],
    range: [0, 99],
  }
  const { matchCount } = await completes(client.POST('/data/aggregate/{entity}', { params, body }))
  expect(matchCount === 2, 'two books have a price')
  await completes(
    client.POST('/data/aggregate/{entity}/{version}', {
      params,
      body: {
        query: byTitle,
        values: { least: { $min: 'price' }, most: { $max: 'price' }, titles: { $distinct: 'title' } },
        maxResults: 1,
      },
    }),
  )
  await completes(client.POST('/data/explain/{entity}/{version}', { params, body }))
}

async function explain(): Promise<void> {
  await completes(
    client.POST('/data/explain/{entity}', { params, body: { query: byTitle, projection: everything } }),
  )
  await completes(client.GET('/data/explain/{entity}', { params: { path, query: { filter: 'price > 5' } } }))
  await completes(
    client.GET('/data/explain/{entity}/{version}', { params: { path, query: { Q: 'title:E' } } }),
  )
}

async function search(): Promise<void> {
  const saved = {
    name: 'titled',
    entity: 'book',
    parameters: [{ name: 'title' }],
    query: 'title = "${title}"',
    projection: { field: 'title' },
  }
  await completes(
    client.PUT('/data/insert/{entity}', {
      params: { path: { entity: 'savedSearch' } },
      body: { data: saved },
    }),
  )
  await completes(client.GET('/data/search/{entity}', { params: { path, query: { maxResults: 10 } } }))
  const named = { ...path, name: 'titled' }
  const body = { title: 'Emma' }
  await completes(
    client.POST('/data/search/{entity}/{name}', { params: { path: named, query: { size: 5 } }, body }),
  )
  await completes(client.POST('/data/search/{entity}/{version}/{name}', { params: { path: named }, body }))
  // each member is a parameter of its own
  const querySerializer = { object: { style: 'form', explode: true } } as const
  const query = { parameters: { title: 'Emma' }, P: 'price:1' }
  for (const address of ['/data/search/{entity}/{name}', '/data/search/{entity}/{version}/{name}'] as const) {
    const found = await completes(client.GET(address, { params: { path: named, query }, querySerializer }))
    expect(found.matchCount === 1, 'the parameter has its value')
  }
}

async function history(): Promise<void> {
  const document = { ...path, id: 'b2' }
  const { processed = [] } = await succeeds(
    client.GET('/data/history/{entity}/{id}', { params: { path: document, query: { maxResults: 10 } } }),
  )
  expect(processed[1]?.operation === 'update', 'the second version is an update')
  await succeeds(client.GET('/data/history/{entity}/{version}/{id}', { params: { path: document } }))
  await completes(
    client.POST('/data/find/{entity}', {
      params,
      body: { filter: '_id = "b2"', projection: everything, asOf: processed[0]!.documentVersion },
    }),
  )
}
