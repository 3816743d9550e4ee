/** Routes that read documents: find, aggregate and explain. */
import type { Code } from '../../../base/errors.ts'
import { flagFrom } from '../../../base/flag.ts'
import { DataResponseShape } from '../../../service/request/data-shapes.ts'
import {
  type Call,
  type Content,
  type QueryParameter,
  type Reply,
  type Route,
  STREAM_TYPE,
  type StreamReply,
  dataReply,
  targetOf,
} from '../route.ts'
import { accepts } from '../accept.ts'
import { documents, everything, request, requireAccess, versioned, withBody } from './operation-route.ts'
import { PAGE_PARAMETERS } from './search-routes.ts'

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

export const READ_ROUTES: readonly Route[] = [
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
]

/** Streams the result where the caller requests NDJSON. */
async function find(call: Call): Promise<Reply | StreamReply> {
  const { app, caller, body } = call
  if (!wantsStream(call)) return dataReply(await app.service.data.find(caller, targetOf(call), body))
  const answer = await app.service.data.stream(caller, targetOf(call), body)
  return 'status' in answer ? dataReply(answer) : { lines: answer }
}

export function wantsStream({ accept, search }: Pick<Call, 'accept' | 'search'>): boolean {
  if (accepts(accept, STREAM_TYPE)) return true
  if (search === '') return false
  return flagFrom('stream', new URLSearchParams(search).get('stream')) ?? false
}

async function simpleFind(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(await app.service.data.simpleFind(caller, targetOf(call), new URLSearchParams(search)))
}

async function simpleExplain(call: Call): Promise<Reply> {
  const { app, caller, search } = call
  return dataReply(await app.service.data.simpleExplain(caller, targetOf(call), new URLSearchParams(search)))
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
      // no example: tools fill in all of them, and `Q` and `filter` exclude each other
      description: 'A condition as text, in place of `Q`, such as `iso2Code = "CH"`.',
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
