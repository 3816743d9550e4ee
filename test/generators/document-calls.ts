/** Calls of every operation on plain documents, with tickets and conditions. */
import { anonymous, client, expect, fails, path, succeeds } from './client.ts'

const all = '/documents/{entity}'
const one = '/documents/{entity}/{id}'

export async function callDocuments(): Promise<void> {
  const id = await create()
  await list()
  await change({ entity: 'book', id })
}

async function create(): Promise<string> {
  const call = client.POST(all, {
    params: {
      path,
      header: { 'Idempotency-Key': 'susan', 'If-None-Match': '*' },
      query: { numbers: 'text' },
    },
    body: { title: 'Northanger Abbey', price: '7.50' },
  })
  const document = await succeeds(call, 201)
  expect(document['price'] === '7.50', 'decimals are texts')
  return document['_id'] as string
}

async function list(): Promise<void> {
  const query = { filter: 'price > 5', sort: '-price,title', fields: 'title,price', size: 1, count: true }
  const first = await succeeds(client.GET(all, { params: { path, query: { ...query, version: '1.0.0' } } }))
  expect(first.items.length === 1 && first.total! > 1, 'there are several pages')
  await succeeds(client.GET(all, { params: { path, query: { ...query, after: first.next! } } }))
}

async function change(document: { readonly entity: string; readonly id: string }): Promise<void> {
  const { response } = await client.GET(one, {
    params: { path: document, header: { Prefer: 'numbers=text' } },
  })
  const etag = response.headers.get('ETag')!
  const unchanged = { path: document, header: { 'If-None-Match': etag } }
  await succeeds(client.GET(one, { params: unchanged }), 304)
  const { ticket } = await succeeds(
    client.POST('/auth/ticket', { body: { path: `/documents/book/${document.id}` } }),
  )
  await succeeds(anonymous.GET(one, { params: { path: document, query: { ticket, fields: 'title' } } }))
  const current = { path: document, header: { 'If-Match': etag } }
  await succeeds(
    client.PATCH(one, {
      params: current,
      body: { price: 8, published: null, chapters: [{ pages: 12 }] },
      headers: { 'Content-Type': 'application/merge-patch+json' },
    }),
  )
  await fails(client.PATCH(one, { params: current, body: { price: 9 } }), 'crud:PreconditionFailed')
  const replacement = { title: 'Northanger Abbey', price: 10 }
  await succeeds(client.PUT(one, { params: { path: document }, body: replacement }), 200)
  const created = { path: { ...document, id: 'b9' }, query: { upsert: true } }
  await succeeds(client.PUT(one, { params: created, body: { title: 'Susan' } }), 201)
  await succeeds(client.DELETE(one, { params: { path: created.path, header: { 'If-Match': '*' } } }), 204)
}
