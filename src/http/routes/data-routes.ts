/** Routes of `/data`. */
import { type Code, ServiceError } from '../../base/errors.ts'
import { type Json, isArray, member } from '../../base/json/json.ts'
import { BulkRequestShape, BulkResponseShape, DataResponseShape } from '../../service/request/data-shapes.ts'
import { operationShape } from '../../service/request/operation-shapes.ts'
import type { KeyedOperation, PrecheckedOperation } from '../../service/service.ts'
import { HISTORY_ROUTES } from './history-routes.ts'
import { IMPORT_ROUTES } from './import-routes.ts'
import { LOCK_ROUTES } from './lock-routes.ts'
import {
  type Call,
  type Content,
  type QueryParameter,
  type Reply,
  type Route,
  dataReply,
  onceReply,
  STREAM_TYPE,
  type StreamReply,
  contextOf,
  targetOf,
} from './route.ts'
import { PAGE_PARAMETERS, SEARCH_ROUTES } from './search-routes.ts'

const READ: readonly Code[] = [
  'crud:NoAccess',
  'crud:UnknownEntity',
  'store-crud:NullProjection',
  'query-api:InvalidQuery',
  'metadata:InvalidReference',
  'crud:InvalidCursor',
  'store-crud:Timeout',
]

const SIMPLE_READ: readonly Code[] = [
  'crud:NoAccess',
  'crud:UnknownEntity',
  'crud:InvalidRequest',
  'crud:InvalidCursor',
  'store-crud:Timeout',
]

const WRITE: readonly Code[] = [
  'crud:NoAccess',
  'crud:UnknownEntity',
  'crud:InvalidRequest',
  'crud:Rolledback',
  'store-crud:Timeout',
  'store-crud:OutcomeUnknown',
]

export const DATA_ROUTES: readonly Route[] = [
  ...versioned('/data/find', {
    method: 'POST',
    operationId: 'find',
    summary: 'Find documents',
    description:
      'Fields the caller may not read are left out of the answer. With `?stream=true` or `Accept: application/x-ndjson` the documents come as lines of NDJSON.',
    body: request('FindRequest', {
      query: { field: 'iso2Code', op: '=', rvalue: 'CH' },
      projection: everything(),
    }),
    reply: documents(1, 0),
    errors: [...READ, 'crud:ResultSizeTooLarge'],
    query: [{ name: 'stream', description: '`true` answers in lines of NDJSON.', example: 'false' }],
    isRead: true,
    occupies: (call) => (wantsStream(call) ? 'streams' : undefined),
    precheck: requireAccess('find'),
    handle: find,
  }),
  ...versioned('/data/find', {
    method: 'GET',
    operationId: 'simpleFind',
    summary: 'Find documents by query parameters',
    query: simpleParameters(),
    reply: documents(1, 0),
    errors: [...SIMPLE_READ, 'crud:ResultSizeTooLarge'],
    handle: simpleFind,
  }),
  ...versioned('/data/aggregate', {
    method: 'POST',
    operationId: 'aggregate',
    summary: 'Group documents and compute values',
    description:
      '`processed` has one object for each group, `matchCount` is the number of groups. Every field that the request names must be readable.',
    body: request('AggregateRequest', {
      query: { field: 'continent', op: '=', rvalue: 'Europe' },
      groupBy: ['currency'],
      values: { countries: { $count: true }, people: { $sum: 'population' } },
      having: { field: 'countries', op: '>', rvalue: 1 },
      sort: { people: '$desc' },
      range: [0, 9],
    }),
    reply: groups(),
    errors: [
      'crud:NoAccess',
      'crud:UnknownEntity',
      'crud:LimitExceeded',
      'crud:ResultSizeTooLarge',
      'query-api:InvalidAggregation',
      'query-api:InvalidQuery',
      'metadata:InvalidReference',
      'store-crud:Timeout',
    ],
    isRead: true,
    precheck: requireAccess('aggregate'),
    handle: withBody('aggregate'),
  }),
  ...versioned('/data/explain', {
    method: 'POST',
    operationId: 'explain',
    summary: 'Explain how documents would be found',
    description: 'With `groupBy`, `values` or `having` it explains an aggregate.',
    body: request('ExplainRequest', {
      query: { field: 'iso2Code', op: '=', rvalue: 'CH' },
      projection: everything(),
    }),
    reply: { shape: DataResponseShape, name: 'DataResponse' },
    errors: READ,
    isRead: true,
    precheck: requireAccess('explain'),
    handle: withBody('explain'),
  }),
  ...versioned('/data/explain', {
    method: 'GET',
    operationId: 'simpleExplain',
    summary: 'Explain a find by query parameters',
    query: simpleParameters(),
    reply: { shape: DataResponseShape, name: 'DataResponse' },
    errors: SIMPLE_READ,
    handle: simpleExplain,
  }),
  ...versioned('/data/insert', {
    method: 'PUT',
    operationId: 'insert',
    summary: 'Insert documents',
    description: 'Documents that fail are reported in `dataErrors`; the others are stored together.',
    body: request('InsertRequest', {
      data: [{ iso2Code: 'CH', name: 'Switzerland' }],
      projection: everything(),
    }),
    reply: documents(0, 1),
    errors: WRITE,
    precheck: requireAccess('insert'),
    handle: withBody('insert'),
  }),
  ...versioned('/data/save', {
    method: 'POST',
    operationId: 'save',
    summary: 'Replace documents, by their identity',
    description: 'With `upsert`, documents that do not exist yet are inserted.',
    body: request('SaveRequest', {
      data: [{ iso2Code: 'CH', name: 'Suisse' }],
      upsert: true,
      projection: everything(),
    }),
    reply: documents(0, 1),
    errors: WRITE,
    precheck: requireAccess('save'),
    handle: withBody('save'),
  }),
  ...versioned('/data/update', {
    method: 'POST',
    operationId: 'update',
    summary: 'Change documents that match a query',
    body: request('UpdateRequest', {
      query: { field: 'iso2Code', op: '=', rvalue: 'CH' },
      update: { $set: { name: 'Svizzera' } },
      projection: everything(),
    }),
    reply: documents(1, 1),
    errors: [
      'crud:NoAccess',
      'crud:UnknownEntity',
      'store-crud:NullQuery',
      'query-api:InvalidUpdate',
      'store-crud:Timeout',
    ],
    precheck: requireAccess('update'),
    handle: withBody('update'),
  }),
  ...versioned('/data/delete', {
    method: 'POST',
    operationId: 'delete',
    summary: 'Delete documents that match a query',
    body: request('DeleteRequest', { query: { field: 'iso2Code', op: '=', rvalue: 'CH' } }),
    reply: { shape: DataResponseShape, name: 'DataResponse' },
    errors: [
      'crud:NoAccess',
      'crud:UnknownEntity',
      'store-crud:NullQuery',
      'query-api:InvalidQuery',
      'store-crud:Timeout',
    ],
    precheck: requireAccess('delete'),
    handle: withBody('delete'),
  }),
  ...versioned('/data', {
    method: 'PUT',
    operationId: 'insertAlias',
    summary: 'Insert documents (old address)',
    deprecated: true,
    body: request('InsertRequest', {
      data: [{ iso2Code: 'CH', name: 'Switzerland' }],
      projection: everything(),
    }),
    reply: documents(0, 1),
    errors: WRITE,
    precheck: requireAccess('insert'),
    handle: withBody('insert'),
  }),
  ...versioned(
    '/data/generate',
    {
      method: 'GET',
      operationId: 'generate',
      summary: 'Generate values for a field',
      description: 'A field without generator gives an empty `processed`.',
      query: [{ name: 'n', description: 'How many values, 1 to 10000; one when absent.', example: '3' }],
      reply: { shape: DataResponseShape, name: 'DataResponse' },
      errors: [
        'crud:NoAccess',
        'crud:UnknownEntity',
        'metadata:InvalidFieldReference',
        'crud:InvalidRequest',
      ],
      refusesKey: 'its values are not kept; a repetition generates others',
      handle: generate,
    },
    '/{field}',
  ),
  {
    method: 'POST',
    path: '/data/bulk',
    operationId: 'bulk',
    tag: 'data',
    access: 'authenticated',
    summary: 'Run several requests in one',
    description: 'Each entry fails or succeeds by itself; the answer is 200 when the bulk itself is usable.',
    body: { shape: BulkRequestShape, name: 'BulkRequest', example: bulkExample() },
    reply: { shape: BulkResponseShape, name: 'BulkResponse' },
    errors: ['crud:InvalidRequest', 'crud:LimitExceeded', 'store-crud:Timeout', 'store-crud:OutcomeUnknown'],
    cost: entriesOf,
    handle: bulk,
  },
  ...IMPORT_ROUTES,
  ...HISTORY_ROUTES,
  ...SEARCH_ROUTES,
  ...LOCK_ROUTES,
]

/** Both forms of a route: with the version in the path, and without it for the default version. */
function versioned(base: string, route: Omit<Route, 'path' | 'tag' | 'access'>, tail = ''): readonly Route[] {
  const operation = route.operationId
  const common = { ...route, operation, tag: 'data', access: 'authenticated' } as const
  return [
    { ...common, path: `${base}/{entity}${tail}`, operationId: `${operation}Default` },
    { ...common, path: `${base}/{entity}/{version}${tail}` },
  ]
}

function requireAccess(operation: PrecheckedOperation): NonNullable<Route['precheck']> {
  return ({ app, caller, params: { entity = '', version } }) =>
    app.service.data.precheck(caller, { entity, ...(version !== undefined && { version }) }, operation)
}

type WithBody = 'aggregate' | 'explain' | KeyedOperation

function withBody(operation: WithBody): Route['handle'] {
  return async (call) => {
    const { app, caller, body, idempotency } = call
    const target = targetOf(call)
    if (idempotency && operation !== 'explain' && operation !== 'aggregate')
      return onceReply(await app.service.once.data(caller, { operation, target, body }, idempotency))
    return dataReply(await app.service.data[operation](caller, target, body))
  }
}

/** Streams the result where the caller requests NDJSON. */
async function find(call: Call): Promise<Reply | StreamReply> {
  const { app, caller, body } = call
  if (!wantsStream(call)) return dataReply(await app.service.data.find(caller, targetOf(call), body))
  const answer = await app.service.data.stream(caller, targetOf(call), body)
  return 'status' in answer ? dataReply(answer) : { lines: answer }
}

export function wantsStream({ accept, search }: Pick<Call, 'accept' | 'search'>): boolean {
  if (accept.includes(STREAM_TYPE)) return true
  if (search === '') return false
  const stream = new URLSearchParams(search).get('stream')
  if (stream === null || stream === 'false') return false
  if (stream === 'true') return true
  throw new ServiceError('crud:InvalidRequest', '"stream" must be true or false')
}

async function simpleFind(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(await app.service.data.simpleFind(caller, targetOf(call), new URLSearchParams(search)))
}

async function simpleExplain(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(await app.service.data.simpleExplain(caller, targetOf(call), new URLSearchParams(search)))
}

async function generate(call: Call): Promise<Reply> {
  const { app, caller, params, search } = call
  const n = new URLSearchParams(search).get('n') ?? undefined
  return dataReply(await app.service.data.generate(caller, targetOf(call), params.field ?? '', n))
}

/** For the rate limit, each entry of a bulk counts as one request. */
function entriesOf(body: Json | undefined): number {
  const requests = member(body, 'requests')
  return isArray(requests) ? requests.length : 1
}

async function bulk({ app, caller, body, ...context }: Call): Promise<Reply> {
  const own = contextOf(context)
  if (own.idempotency) return onceReply(await app.service.once.bulk(caller, body, own))
  return { status: 200, text: await app.service.data.bulk(caller, body, own) }
}

function request(name: string, example: { readonly [key: string]: Json }): Content {
  return {
    shape: operationShape(name),
    name,
    example: { objectType: 'country', version: '1.0.0', ...example },
  }
}

function documents(matchCount: number, modifiedCount: number): Content {
  const example = {
    entity: 'country',
    entityVersion: '1.0.0',
    status: 'COMPLETE',
    modifiedCount,
    matchCount,
    processed: [{ _id: '0198f1c2-7c3e-7000-8000-000000000001', iso2Code: 'CH', name: 'Switzerland' }],
    resultMetadata: [{ documentVersion: '0198f1c2-7c3e-7000-8000-000000000001:1' }],
  }
  return { shape: DataResponseShape, name: 'DataResponse', example }
}

function groups(): Content {
  const example = {
    entity: 'country',
    entityVersion: '1.0.0',
    status: 'COMPLETE',
    modifiedCount: 0,
    matchCount: 1,
    processed: [{ currency: 'EUR', countries: 20, people: 350000000 }],
  }
  return { shape: DataResponseShape, name: 'DataResponse', example }
}

function bulkExample(): Json {
  const find = { entity: 'country', entityVersion: '1.0.0', projection: everything(), range: [0, 9] }
  return { requests: [{ seq: 0, op: 'find', request: find }] }
}

function everything(): Json {
  return { field: '*', include: true, recursive: true }
}

function simpleParameters(): readonly QueryParameter[] {
  return [
    {
      name: 'Q',
      description:
        '`field:value`; several values by `,`, several conditions by `;`; a backslash before either keeps it in the value.',
      example: 'iso2Code:CH',
    },
    {
      name: 'filter',
      description: 'A condition as text, in place of `Q`.',
      example: 'iso2Code = "CH"',
    },
    {
      name: 'P',
      description:
        '`field:1` includes, `field:0` leaves out, an `r` after it means all below, too; several by `,`. Absent: everything.',
      example: '*:1r',
    },
    {
      name: 'S',
      description: '`field:a` ascending, `field:d` descending; several by `,`.',
      example: 'name:a',
    },
    { name: 'from', description: 'Index of the first document, zero-based.', example: '0' },
    { name: 'to', description: 'Index of the last document, included.' },
    { name: 'maxResults', description: 'Number of documents; `to` wins.', example: '10' },
    ...PAGE_PARAMETERS,
    {
      name: 'asOf',
      description:
        'Answers from the documents as they were then: a date, or a `documentVersion`; of entities that keep their history.',
    },
  ]
}
