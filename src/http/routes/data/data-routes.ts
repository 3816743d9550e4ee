/** Routes of `/data`: the table of all of them, with generate and bulk. */
import { type Json, isArray, member } from '../../../base/json/json.ts'
import {
  BulkRequestShape,
  BulkResponseShape,
  DataResponseShape,
} from '../../../service/request/data-shapes.ts'
import { IMPORT_ROUTES } from './import-routes.ts'
import { LOCK_ROUTES } from './lock-routes.ts'
import { type Call, type Reply, type Route, contextOf, dataReply, onceReply, targetOf } from '../route.ts'
import { HISTORY_ROUTES } from './history-routes.ts'
import { everything, versioned } from './operation-route.ts'
import { READ_ROUTES } from './read-routes.ts'
import { SEARCH_ROUTES } from './search-routes.ts'
import { WRITE_ROUTES } from './write-routes.ts'

export const DATA_ROUTES: readonly Route[] = [
  ...READ_ROUTES,
  ...WRITE_ROUTES,
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
        'crud:ResultSizeTooLarge',
        'store-crud:Timeout',
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
  return { status: 200, text: await app.service.data.bulkInParts(caller, body, own) }
}

function bulkExample(): Json {
  const find = { entity: 'country', entityVersion: '1.0.0', projection: everything(), range: [0, 9] }
  return { requests: [{ seq: 0, op: 'find', request: find }] }
}
