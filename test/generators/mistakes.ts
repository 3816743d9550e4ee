/** Requests with one mistake each. Every one is refused by the generated types; the compiler reports a line that is not. */
import createClient from 'openapi-fetch'
import type { components, paths } from './api.d.ts'

type Schemas = components['schemas']
const client = createClient<paths>()
const params = { path: { entity: 'book' } }
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
]
