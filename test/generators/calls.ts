/** A client of generated types that uses every operation, as a program of a user would. It prints one line when all succeeded. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

type Schemas = components['schemas']

const client = createClient<paths>({
  baseUrl: process.argv[2]!,
  headers: { 'Smalt-Roles': 'admin', 'Smalt-Principal': 'ann' },
})
const path = { entity: 'book', version: '1.0.0' }
const everything: Schemas['Projection'] = { field: '*', recursive: true }
const byTitle: Schemas['Query'] = { field: 'title', op: '=', rvalue: 'Emma' }
const cheapAndOld: Schemas['Query'] = {
  $and: [
    { $or: [{ field: 'price', op: '<', rvalue: 20 }, { $not: byTitle }] },
    { field: 'published', op: '<=', rvalue: '1900-01-01T00:00:00Z' },
    { array: 'chapters', elemMatch: { $and: [{ field: 'pages', op: '>', rvalue: 1 }] } },
  ],
}

let operations = 0

async function succeeds<T>(call: Promise<{ data?: T; error?: unknown; response: Response }>): Promise<T> {
  const { data, error, response } = await call
  if (!response.ok) throw new Error(`${response.url} is ${response.status}: ${JSON.stringify(error)}`)
  operations++
  return data as T
}

const metadata: Schemas['Metadata'] = {
  entityInfo: {
    name: 'book',
    defaultVersion: '1.0.0',
    history: true,
    indexes: [{ name: 'title', fields: [{ field: 'title', dir: '$asc' }] }],
    hooks: [{ name: 'all', actions: ['insert', 'update', 'delete'] }],
  },
  schema: {
    name: 'book',
    version: { value: '1.0.0', changelog: 'first' },
    status: { value: 'active' },
    access: { find: ['anyone'], insert: ['anyone'], update: ['anyone'], delete: ['anyone'] },
    fields: {
      _id: { type: 'uid', constraints: { identity: true }, valueGenerator: { type: 'UUID' } },
      title: { type: 'string' },
      price: { type: 'bigdecimal' },
      published: { type: 'date' },
      chapters: { type: 'array', items: { type: 'object', fields: { pages: { type: 'integer' } } } },
    },
  },
}

await succeeds(client.PUT('/metadata/{entity}/{version}', { params: { path }, body: metadata }))
await succeeds(client.PUT('/metadata', { body: [{ ...metadata, ...named('shelf') }] }))
await succeeds(client.PUT('/metadata/{entity}', { params: { path }, body: metadata.entityInfo }))
await succeeds(client.GET('/metadata'))
await succeeds(client.GET('/metadata/{entity}', { params: { path } }))
await succeeds(client.GET('/metadata/{entity}/{version}', { params: { path } }))
await succeeds(client.GET('/metadata/{entity}/access', { params: { path } }))
await succeeds(client.GET('/metadata/roles'))
await succeeds(client.GET('/metadata/dependencies'))
await succeeds(client.GET('/metadata/{entity}/lint', { params: { path } }))
await succeeds(
  client.POST('/metadata/access/explain', { body: { roles: ['admin'], entity: 'book', op: 'find' } }),
)

const inserted = await succeeds(
  client.PUT('/data/insert/{entity}/{version}', {
    params: { path },
    body: { data: [{ title: 'Emma', price: 12.5, chapters: [{ pages: 9 }] }], projection: everything },
  }),
)
const [first] = inserted.resultMetadata ?? []
await succeeds(
  client.POST('/data/save/{entity}', {
    params: { path },
    body: { data: { _id: 'b2', title: 'Persuasion', published: '1817-12-20T00:00:00Z' }, upsert: true },
  }),
)
await succeeds(
  client.POST('/data/find/{entity}/{version}', {
    params: { path },
    body: { query: cheapAndOld, projection: [everything], sort: [{ title: '$asc' }], range: [0, 9] },
  }),
)
await succeeds(
  client.POST('/data/find/{entity}', {
    params: { path },
    body: {
      query: { field: 'title', regex: '^E', caseInsensitive: true },
      projection: { field: 'chapters', match: { field: 'pages', op: '$in', values: [1, 9] } },
    },
  }),
)
await succeeds(
  client.GET('/data/find/{entity}', { params: { path, query: { Q: 'title:Emma', from: 0, maxResults: 5 } } }),
)
await succeeds(
  client.POST('/data/explain/{entity}', {
    params: { path },
    body: { query: byTitle, projection: everything },
  }),
)
await succeeds(
  client.POST('/data/update/{entity}/{version}', {
    params: { path },
    body: {
      query: byTitle,
      update: [
        { $set: { price: 13 }, $unset: 'published' },
        { $append: { chapters: {} }, $foreach: { chapters: '$all', $update: { $set: { pages: 3 } } } },
        { $foreach: { chapters: { field: 'pages', op: '>', rvalue: 100 }, $update: '$remove' } },
      ],
      documentVersions: first ? [first.documentVersion] : null,
    },
  }),
)
const bulk = await succeeds(
  client.POST('/data/bulk', {
    body: {
      requests: [
        { seq: 1, op: 'find', request: { entity: 'book', query: byTitle, projection: everything } },
        { seq: 2, op: 'insert', request: { entity: 'book', data: { title: 'Sanditon' } } },
        { seq: 3, op: 'generate', request: { entity: 'book', field: '_id', n: 2 } },
      ],
      ordered: true,
    },
  }),
)
const failed = bulk.responses.find(({ response }) => response.status !== 'COMPLETE')
if (failed) throw new Error(JSON.stringify(failed))
await succeeds(
  client.GET('/data/generate/{entity}/{field}', {
    params: { path: { entity: 'book', field: '_id' }, query: { n: 3 } },
  }),
)
await succeeds(client.GET('/data/history/{entity}/{id}', { params: { path: { entity: 'book', id: 'b2' } } }))
await succeeds(client.GET('/data/search/{entity}', { params: { path } }))
await succeeds(
  client.POST('/data/lock', {
    body: { operation: 'acquire', domain: 'd', callerId: 'c', resourceId: 'r', ttl: 1000 },
  }),
)
await succeeds(client.POST('/data/delete/{entity}', { params: { path }, body: { query: byTitle } }))
const page = await succeeds(client.GET('/events', { params: { query: { since: 0, limit: 10 } } }))
// with another `Accept` it would be lines of text
if (typeof page === 'string' || page.events[0]?.operation !== 'insert')
  throw new Error('the first event is an insert')
await succeeds(client.GET('/events/sinks'))
await succeeds(client.GET('/version'))
console.log(`${operations} operations succeeded`)

function named(name: string): Schemas['Metadata'] {
  return {
    entityInfo: { name, defaultVersion: '1.0.0' },
    schema: { ...metadata.schema, name },
  }
}
