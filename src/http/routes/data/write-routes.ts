/** Routes that change documents: insert, save, update and delete. */
import type { Code } from '../../../base/errors.ts'
import { DataResponseShape } from '../../../service/request/data-shapes.ts'
import type { Route } from '../route.ts'
import { documents, everything, request, requireAccess, versioned, withBody } from './operation-route.ts'

const WRITE: readonly Code[] = [
  'crud:NoAccess',
  'crud:UnknownEntity',
  'crud:InvalidRequest',
  'crud:Rolledback',
  'store-crud:Timeout',
  'store-crud:OutcomeUnknown',
]

/** Both addresses of an insert. */
const INSERT = {
  method: 'PUT',
  body: request('InsertRequest', {
    data: [{ iso2Code: 'CH', name: 'Switzerland' }],
    projection: everything(),
  }),
  reply: documents(0, 1),
  errors: WRITE,
  precheck: requireAccess('insert'),
  handle: withBody('insert'),
} as const

export const WRITE_ROUTES: readonly Route[] = [
  ...versioned('/data/insert', {
    ...INSERT,
    operationId: 'insert',
    summary: 'Insert documents',
    description: 'Documents that fail are reported in `dataErrors`; the others are stored together.',
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
    ...INSERT,
    operationId: 'insertAlias',
    summary: 'Insert documents (old address)',
    deprecated: true,
  }),
]
