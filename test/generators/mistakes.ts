/** Requests with one mistake each. Every one is refused by the generated types; the compiler reports a line that is not. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

type Schemas = components['schemas']
const client = createClient<paths>()
const params = { path: { entity: 'book' } }
const one = { path: { entity: 'book', id: 'b1' } }
const projection: Schemas['Projection'] = { field: '*' }

export const mistakes = [
  // @ts-expect-error a misspelt key of a query
  (): Schemas['Query'] => ({ feild: 'title', op: '=', rvalue: 1 }),
  // @ts-expect-error an operator that does not exist
  (): Schemas['Query'] => ({ field: 'title', op: '==', rvalue: 1 }),
  // @ts-expect-error a comparison without a value
  (): Schemas['Query'] => ({ field: 'title', op: '=' }),
  // @ts-expect-error a list in place of values
  (): Schemas['Query'] => ({ field: 'title', op: '$in', values: 'Emma' }),
  // @ts-expect-error $and of one query that is not in a list
  (): Schemas['Query'] => ({ $and: { field: 'title', op: '=', rvalue: 1 } }),
  // @ts-expect-error a mistake inside of $and and $not
  (): Schemas['Query'] => ({ $and: [{ $not: { field: 'title', operator: '=', rvalue: 1 } }] }),
  // @ts-expect-error a mistake inside of elemMatch
  (): Schemas['Query'] => ({ array: 'chapters', elemMatch: { feild: 'pages', op: '=', rvalue: 1 } }),
  // @ts-expect-error contains without its operator
  (): Schemas['Query'] => ({ array: 'tags', contains: '$some', values: ['a'] }),
  // @ts-expect-error a pattern that is a regular expression of JavaScript
  (): Schemas['Query'] => ({ field: 'title', regex: /^E/ }),
  // @ts-expect-error a misspelt key of a projection
  (): Schemas['Projection'] => ({ field: '*', recursiv: true }),
  // @ts-expect-error a projection by name alone
  (): Schemas['Projection'] => 'title',
  // @ts-expect-error a direction without its dollar sign
  (): Schemas['Sort'] => ({ title: 'asc' }),
  // @ts-expect-error an update operator that does not exist
  (): Schemas['Update'] => ({ $push: { tags: 'a' } }),
  // @ts-expect-error $foreach without $update
  (): Schemas['Update'] => ({ $foreach: { chapters: '$all' } }),
  // @ts-expect-error a find without a projection
  () => client.POST('/data/find/{entity}', { params, body: { query: { $and: [] } } }),
  // @ts-expect-error a key of another service
  (): Schemas['FindRequest'] => ({ projection, limit: 10 }),
  // @ts-expect-error an insert without documents
  () => client.PUT('/data/insert/{entity}', { params, body: { projection } }),
  // @ts-expect-error an update without a query
  () => client.POST('/data/update/{entity}', { params, body: { update: { $set: { title: 'x' } } } }),
  // @ts-expect-error a range of texts
  () => client.POST('/data/find/{entity}', { params, body: { projection, range: ['0', '9'] } }),
  // @ts-expect-error a number as a text in a query parameter
  () => client.GET('/data/find/{entity}', { params: { ...params, query: { from: 'first' } } }),
  // @ts-expect-error an operation that a bulk does not know
  (): Schemas['BulkEntry'] => ({ seq: 1, op: 'upsert', request: { entity: 'book', projection } }),
  // @ts-expect-error a request of a bulk that does not name its entity
  (): Schemas['BulkEntry'] => ({ seq: 1, op: 'find', request: { projection } }),
  // @ts-expect-error an error code that does not exist
  (error: Schemas['Error']) => error.errorCode === 'crud:NoAcces',
  // @ts-expect-error a type of field that does not exist
  (): Schemas['Field'] => ({ type: 'text' }),
  // @ts-expect-error a condition in both spellings
  (): Schemas['FindRequest'] => ({ projection, query: { $and: [] }, filter: 'true' }),
  // @ts-expect-error a filter as JSON
  (): Schemas['FindRequest'] => ({ projection, filter: { field: 'title', op: '=', rvalue: 'Emma' } }),
  // @ts-expect-error a query as text
  (): Schemas['FindRequest'] => ({ projection, query: 'title = "Emma"' }),
  // @ts-expect-error an update with a condition in both spellings
  (): Schemas['UpdateRequest'] => ({ query: { $and: [] }, filter: 'true', update: { $unset: 'title' } }),
  // @ts-expect-error a delete of everything by mistake
  () => client.POST('/data/delete/{entity}', { params, body: { documentVersions: [] } }),
  // @ts-expect-error a filter that is a number in a query parameter
  () => client.GET('/data/find/{entity}', { params: { ...params, query: { filter: 5 } } }),
  // @ts-expect-error a page and a range
  (): Schemas['FindRequest'] => ({ projection, page: { size: 10 }, range: [0, 9] }),
  // @ts-expect-error a cursor beside the page
  (): Schemas['FindRequest'] => ({ projection, page: { size: 10 }, after: 'c1' }),
  // @ts-expect-error a page that is a number
  (): Schemas['FindRequest'] => ({ projection, page: 2 }),
  // @ts-expect-error a cursor that is a number
  (): Schemas['FindRequest'] => ({ projection, page: { after: 100 } }),
  // @ts-expect-error a misspelt key of a page
  (): Schemas['FindRequest'] => ({ projection, page: { limit: 10 } }),
  // @ts-expect-error a find of a bulk with a page and a range
  (): Schemas['BulkEntry'] => ({ seq: 1, op: 'find', request: { entity: 'b', projection, page: {}, to: 9 } }),
  // @ts-expect-error a delete by pages
  (): Schemas['DeleteRequest'] => ({ filter: 'true', page: { size: 10 } }),
  // @ts-expect-error a cursor that is a number in a query parameter
  () => client.GET('/data/find/{entity}', { params: { ...params, query: { size: 10, after: 2 } } }),
  // @ts-expect-error an aggregate function that does not exist
  (): Schemas['AggregateRequest'] => ({ values: { middle: { $median: 'price' } } }),
  // @ts-expect-error two functions in one value
  (): Schemas['AggregateRequest'] => ({ values: { price: { $min: 'price', $max: 'price' } } }),
  // @ts-expect-error a sum without a field
  (): Schemas['AggregateRequest'] => ({ values: { total: { $sum: true } } }),
  // @ts-expect-error a count of a field
  (): Schemas['AggregateRequest'] => ({ values: { books: { $count: 'title' } } }),
  // @ts-expect-error a function by name alone
  (): Schemas['AggregateRequest'] => ({ values: { books: '$count' } }),
  // @ts-expect-error a key that is not in a list
  (): Schemas['AggregateRequest'] => ({ groupBy: 'title' }),
  // @ts-expect-error a period that does not exist
  (): Schemas['AggregateRequest'] => ({ groupBy: [{ field: 'published', truncate: 'quarter' }] }),
  // @ts-expect-error a misspelt time zone
  (): Schemas['GroupKey'] => ({ field: 'published', truncate: 'day', timezone: 'UTC' }),
  // @ts-expect-error a misspelt groupBy
  () => client.POST('/data/aggregate/{entity}', { params, body: { groupby: ['title'] } }),
  // @ts-expect-error a mistake inside of having
  (): Schemas['AggregateRequest'] => ({ groupBy: ['title'], having: { field: 'n', op: '>', value: 1 } }),
  // @ts-expect-error an aggregate by pages
  (): Schemas['AggregateRequest'] => ({ groupBy: ['title'], page: { size: 10 } }),
  // @ts-expect-error an aggregate with a condition in both spellings
  (): Schemas['AggregateRequest'] => ({ groupBy: ['title'], query: { $and: [] }, filter: 'true' }),
  // @ts-expect-error a text search for a list of words
  (): Schemas['Query'] => ({ text: ['blue', 'sky'] }),
  // @ts-expect-error a text search in several indexes
  (): Schemas['Query'] => ({ text: 'blue', index: ['title', 'words'] }),
  // @ts-expect-error an option that a text search does not have
  (): Schemas['Query'] => ({ text: 'blue', language: 'english' }),
  // @ts-expect-error a text search by the name of another service
  (): Schemas['Query'] => ({ $text: { $search: 'blue' } }),
  // @ts-expect-error a patch that is a list of operations
  () => client.PATCH('/documents/{entity}/{id}', { params: one, body: [{ op: 'remove', path: '/title' }] }),
  // @ts-expect-error a patch that is null
  () => client.PATCH('/documents/{entity}/{id}', { params: one, body: null }),
  // @ts-expect-error a patch without a body
  () => client.PATCH('/documents/{entity}/{id}', { params: one }),
  // @ts-expect-error a patch of all documents
  () => client.PATCH('/documents/{entity}', { params, body: {} }),
  // @ts-expect-error a document in a list
  () => client.POST('/documents/{entity}', { params, body: [{ title: 'Emma' }] }),
  () =>
    client.PUT('/documents/{entity}/{id}', {
      // @ts-expect-error a version that is a number
      params: { ...one, header: { 'If-Match': 3 } },
      body: {},
    }),
  // @ts-expect-error several versions in a list
  () => client.DELETE('/documents/{entity}/{id}', { params: { ...one, header: { 'If-Match': ['1', '2'] } } }),
  // @ts-expect-error a misspelt header
  () => client.DELETE('/documents/{entity}/{id}', { params: { ...one, header: { IfMatch: '"1"' } } }),
  // @ts-expect-error a misspelt parameter
  () => client.GET('/documents/{entity}', { params: { ...params, query: { limit: 10 } } }),
  // @ts-expect-error a sort in JSON
  () => client.GET('/documents/{entity}', { params: { ...params, query: { sort: { title: '$asc' } } } }),
  // @ts-expect-error fields in a list
  () => client.GET('/documents/{entity}', { params: { ...params, query: { fields: ['title'] } } }),
  // @ts-expect-error a form of numbers that does not exist
  () => client.GET('/documents/{entity}', { params: { ...params, query: { numbers: 'string' } } }),
  // @ts-expect-error a ticket for nothing
  () => client.POST('/auth/ticket', { body: {} }),
  // @ts-expect-error a ticket for several paths
  () => client.POST('/auth/ticket', { body: { path: ['/events/stream'] } }),
  // @ts-expect-error a ticket for a time of one's own
  (): Schemas['TicketRequest'] => ({ path: '/events/stream', seconds: 600 }),
  // @ts-expect-error a ticket of a write
  () => client.DELETE('/documents/{entity}/{id}', { params: { ...one, query: { ticket: 't1.x' } } }),
  // @ts-expect-error a name of an operation on events that does not exist
  () => client.GET('/events', { params: { query: { operation: 'remove' } } }),
  // @ts-expect-error a way to deal with errors that does not exist
  (): ImportQuery => ({ onError: 'ignore' }),
]

type ImportQuery = NonNullable<paths['/data/import/{entity}']['post']['parameters']['query']>
