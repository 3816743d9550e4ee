/** Routes of `/documents`: one document at a time, in the manner of REST. */
import type { Code } from '../../base/errors.ts'
import type { JsonObject } from '../../base/json/json.ts'
import { DocumentPageShape, DocumentShape } from '../../service/documents/document-shapes.ts'
import type {
  DocumentOptions,
  DocumentReply,
  DocumentService,
  DocumentTarget,
  Target,
} from '../../service/service.ts'
import {
  type Call,
  type Content,
  type QueryParameter,
  REPLAYED,
  type Reply,
  type Route,
  targetOf,
} from './route.ts'

const VERSION: QueryParameter = {
  name: 'version',
  description: 'Version of the entity; its default version when absent.',
}
const NUMBERS: QueryParameter = {
  name: 'numbers',
  description: '`text` sends integers beyond ±2^53 and decimals as texts, and accepts every number as text.',
}
const FIELDS: QueryParameter = {
  name: 'fields',
  description: 'Paths of the fields to return, by `,`; everything when absent.',
  example: 'iso2Code,name',
}
const PREFER: QueryParameter = {
  name: 'Prefer',
  description: '`numbers=text` is the same as the parameter.',
}
const IF_MATCH: QueryParameter = {
  name: 'If-Match',
  description: 'Writes only if the document still has this version, as `ETag` named it.',
}

/** Declared because undeclared headers are not read: a condition must not be ignored. */
const IF_NONE_MATCH: QueryParameter = {
  name: 'If-None-Match',
  description: 'Refused: this route has no such condition.',
}

const READ: readonly Code[] = ['crud:NoAccess', 'crud:UnknownEntity', 'store-crud:Timeout']
const WRITE: readonly Code[] = [
  ...READ,
  'metadata:InvalidFieldReference',
  'metadata:IncompatibleValue',
  'store-crud:Duplicate',
  'crud:Required',
]

const ONE: Content = {
  shape: DocumentShape,
  name: 'Document',
  example: { _id: '0198f1c2-7c3e-7000-8000-000000000001', iso2Code: 'CH', name: 'Switzerland' },
}

const SENT: Content = { ...ONE, example: { iso2Code: 'CH', name: 'Switzerland' } }
const PATCH: Content = { ...SENT, example: { name: 'Suisse', population: null } }

export const DOCUMENT_ROUTES: readonly Route[] = [
  {
    ...onAll('GET', 'listDocuments', 'List documents'),
    query: [
      {
        name: 'filter',
        description: 'Which documents, as text; all when absent.',
        example: 'iso2Code = "CH"',
      },
      {
        name: 'sort',
        description: 'Fields by `,`; `-` before one means descending.',
        example: '-population,name',
      },
      FIELDS,
      {
        name: 'size',
        description: 'At most so many documents: 100 when absent, 10,000 at most.',
        example: '10',
      },
      { name: 'after', description: 'The `next` of the page before; the first page when absent.' },
      {
        name: 'count',
        description: '`true` adds `total`, the number of all documents that match.',
        example: 'true',
      },
      VERSION,
      NUMBERS,
    ],
    headers: [PREFER],
    reply: {
      shape: DocumentPageShape,
      name: 'DocumentPage',
      example: { items: [ONE.example as JsonObject], total: 1 },
    },
    errors: [
      ...READ,
      'query-api:InvalidQuery',
      'query-api:InvalidSort',
      'crud:InvalidCursor',
      'crud:ResultSizeTooLarge',
    ],
    handle: (call) => call.app.service.documents.list(call.caller, ...targetAndOptions(call, targetOf(call))),
  },
  {
    ...onAll('POST', 'createDocument', 'Create a document'),
    description: '`Location` names where it is from now on.',
    query: [VERSION, NUMBERS],
    headers: [
      { name: 'If-Match', description: 'Answers 412: a new document has no version yet.' },
      { name: 'If-None-Match', description: '`*`: creates the document, as without it.' },
      PREFER,
    ],
    body: SENT,
    reply: ONE,
    status: 201,
    errors: [...WRITE, 'crud:PreconditionFailed', 'crud:insert:NoFieldAccess'],
    precheck: requireAccess('insert'),
    handle: create,
  },
  {
    ...onOne('GET', 'getDocument', 'Read a document'),
    query: [FIELDS, VERSION, NUMBERS],
    headers: [
      { name: 'If-None-Match', description: 'Answers 304 if the document still has this version.' },
      { name: 'If-Match', description: 'Answers 412 if the document has another version.' },
      PREFER,
    ],
    reply: ONE,
    otherStatuses: { 304: 'The document has this version.' },
    errors: [...READ, 'crud:UnknownDocument', 'crud:PreconditionFailed', 'crud:ResultSizeTooLarge'],
    handle: (call) =>
      call.app.service.documents.get(call.caller, ...targetAndOptions(call, documentOf(call))),
  },
  {
    ...onOne('PUT', 'replaceDocument', 'Replace a document'),
    description: 'With `upsert=true`, or `If-None-Match: *`, a document that does not exist is created.',
    query: [
      { name: 'upsert', description: '`true` creates the document if there is none.', example: 'true' },
      VERSION,
      NUMBERS,
    ],
    headers: [
      IF_MATCH,
      { name: 'If-None-Match', description: '`*`: creates the document, only if there is none.' },
      PREFER,
    ],
    body: SENT,
    reply: ONE,
    otherStatuses: { 201: 'Created.' },
    errors: [...WRITE, 'crud:UnknownDocument', 'crud:PreconditionFailed', 'crud:update:NoFieldAccess'],
    precheck: requireAccess('save'),
    handle: replace,
  },
  {
    ...onOne('PATCH', 'patchDocument', 'Change a document'),
    description: 'By JSON Merge Patch (RFC 7396): members are set, null removes one.',
    query: [VERSION, NUMBERS],
    headers: [IF_MATCH, IF_NONE_MATCH, PREFER],
    body: PATCH,
    otherBody: { ...PATCH, type: 'application/merge-patch+json' },
    reply: ONE,
    errors: [...WRITE, 'crud:UnknownDocument', 'crud:PreconditionFailed', 'crud:update:NoFieldAccess'],
    precheck: requireAccess('update'),
    handle: patch,
  },
  {
    ...onOne('DELETE', 'deleteDocument', 'Delete a document'),
    query: [VERSION],
    headers: [IF_MATCH, IF_NONE_MATCH],
    reply: ONE,
    status: 204,
    errors: [...READ, 'crud:UnknownDocument', 'crud:PreconditionFailed'],
    handle: async (call) => {
      const addressed = targetAndOptions(call, documentOf(call))
      return await written(call, (documents) => documents.remove(call.caller, ...addressed))
    },
  },
]

function onAll<M extends Route['method']>(method: M, operationId: string, summary: string) {
  const path = '/documents/{entity}'
  const common = { tag: 'documents', access: 'authenticated' } as const
  return { method, path, operationId, summary, ...common } as const
}

function onOne<M extends Route['method']>(method: M, operationId: string, summary: string) {
  return { ...onAll(method, operationId, summary), path: '/documents/{entity}/{id}' } as const
}

function requireAccess(operation: 'insert' | 'save' | 'update'): NonNullable<Route['precheck']> {
  return ({ app, caller, params: { entity = '' } }) =>
    app.service.data.precheck(caller, { entity }, operation)
}

async function create(call: Call): Promise<Reply> {
  const [target, options] = targetAndOptions(call, targetOf(call))
  return await written(call, (documents) => documents.create(call.caller, target, call.body, options))
}

async function replace(call: Call): Promise<Reply> {
  const [target, options] = targetAndOptions(call, documentOf(call))
  return await written(call, (documents) => documents.replace(call.caller, target, call.body, options))
}

async function patch(call: Call): Promise<Reply> {
  const [target, options] = targetAndOptions(call, documentOf(call))
  return await written(call, (documents) => documents.patch(call.caller, target, call.body, options))
}

/** Makes the change, once for each idempotency key. */
async function written(
  call: Call,
  write: (documents: DocumentService) => Promise<DocumentReply>,
): Promise<Reply> {
  const { app, caller, idempotency } = call
  if (!idempotency) return await write(app.service.documents)
  const [target] = targetAndOptions(call, targetOf(call))
  const { isRepeated, ...reply } = await app.service.once.document(caller, { target, write }, idempotency)
  return isRepeated ? { ...reply, headers: [...reply.headers, ...REPLAYED] } : reply
}

function documentOf(call: Call): DocumentTarget {
  return { ...targetOf(call), id: call.params['id'] ?? '' }
}

/** Of all requests without a query string. */
const NO_PARAMETERS = new URLSearchParams()

/** The target in the version that the request asks for, and what else it asks for. */
function targetAndOptions<T extends Target>({ search, headers }: Call, target: T): [T, DocumentOptions] {
  const parameters = search === '' ? NO_PARAMETERS : new URLSearchParams(search)
  const version = parameters.get('version') ?? ''
  const options = {
    parameters,
    ifMatch: headers['if-match'],
    ifNoneMatch: headers['if-none-match'],
    prefer: headers['prefer'],
  }
  return [version === '' ? target : { ...target, version }, options]
}
