/** The OpenAPI 3.1 document, generated from the route table. */
import { CODES, type Code, dataStatusOf } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { Type } from '../../base/json/shape.ts'
import { DataResponseShape, ErrorShape } from '../../service/request/data-shapes.ts'
import { ImpactShape } from '../../service/metadata/impact-shapes.ts'
import { RECURSIVE_METADATA_SHAPES } from '../../service/metadata/metadata-shapes.ts'
import { LANGUAGE_SHAPES } from '../../service/request/language-shapes.ts'
import { component } from '../../service/request/shape-parts.ts'
import { OPERATION_SHAPES } from '../../service/request/operation-shapes.ts'
import { type Content, type QueryParameter, type Route, STREAM_TYPE, isDataPath, isWrite } from './route.ts'
import { VERSION } from '../version.ts'

export function openapiDocument(routes: readonly Route[]): JsonObject {
  const paths = Map.groupBy(routes, (route) => route.path)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Smalt',
      version: VERSION,
      description: 'Stores JSON documents by entity. Every path also exists below /rest.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/' }, { url: '/rest' }],
    tags: TAGS,
    paths: Object.fromEntries([...paths].map(([path, rows]) => [path, pathItem(rows)])),
    components: {
      schemas: components(routes),
      parameters: { ...CALLER, Ticket: TICKET, IdempotencyKey: IDEMPOTENCY_KEY },
      securitySchemes: SCHEMES,
    },
    // open mode has no credentials
    security: [{ bearer: [] }, {}],
  }
}

export const TAGS: readonly { readonly name: Route['tag']; readonly description: string }[] = [
  {
    name: 'data',
    description:
      'Documents: find, explain, insert, save, update, delete, generate and bulk; saved searches; locks.',
  },
  { name: 'documents', description: 'One document at a time, in the manner of REST.' },
  { name: 'metadata', description: 'Entities, their versions and who may do what.' },
  { name: 'events', description: 'Changes that hooks watch, in the order in which they happened.' },
  { name: 'service', description: 'The service itself.' },
]

const SCHEMES: JsonObject = {
  bearer: {
    type: 'http',
    scheme: 'bearer',
    description: 'A token of `smalt token add`, or a JWT of the configured issuer.',
  },
}

/** Headers that identify the caller in open mode. They are not verified, so they are no credentials. Each is optional. */
const CALLER = {
  Roles: header('Smalt-Roles', 'Roles of the caller, by comma; none when absent.', 'editor, hr'),
  Principal: header('Smalt-Principal', 'Name of the caller, kept in histories.', 'ann'),
  Claims: header(
    'Smalt-Claims',
    'Claims about the caller, a JSON object, for row rules.',
    '{"regions":["north"]}',
  ),
}

/** Where a request cannot have headers. */
const TICKET: JsonObject = {
  name: 'ticket',
  in: 'query',
  required: false,
  description: 'A ticket of `POST /auth/ticket`, in place of the headers that identify the caller.',
  schema: { type: 'string' },
}

const IDEMPOTENCY_KEY = header(
  'Idempotency-Key',
  'Makes the write happen once, however often it is sent: a repetition gets the first answer, with the header `Idempotency-Replayed: true`.',
  '7f9c2b0e-58a4-4c53-9d0f-1e6b7a3c2d10',
)

const PATH_PARAMETERS: Readonly<Record<string, string>> = {
  entity: 'Name of the entity.',
  version: 'Version of the entity, such as 1.0.0.',
  version2: 'The other version.',
  field: 'Dotted path of the field; `*` stands for the elements of an array.',
  status: '`active`, `deprecated` or `disabled`.',
  statuses: 'Statuses by comma.',
  name: 'Name of the saved search.',
  domain: 'What kind of thing is locked; comes into being on use.',
  callerId: 'Who holds the lock, as the callers agree among themselves.',
  resourceId: 'What is locked.',
  sink: 'Name of the sink.',
  eventId: '`id` of the event.',
  id: '`_id` of the document.',
  file: 'Name of the file.',
  section: 'Section of the documentation, such as how-to.',
  page: 'Page of the documentation.',
}

const PATH_EXAMPLES: Readonly<Record<string, string>> = {
  entity: 'country',
  version: '1.0.0',
  version2: '1.1.0',
  field: '_id',
  status: 'deprecated',
  statuses: 'active,deprecated',
  name: 'europe',
  domain: 'batch',
  callerId: 'worker-1',
  resourceId: 'report-7',
  sink: 'kitchen',
  id: '0198f1c2-7c3e-7000-8000-000000000001',
  file: 'index.js',
  section: 'how-to',
  page: 'tutorial',
  eventId: '6b1f0c4e-7a0e-4a53-9f5e-0d2f4a1b8c33',
}

/** Error codes that any route may respond with. Public ones need no caller, but refuse a ticket that is not valid. */
const COMMON: readonly Code[] = [
  'crud:InvalidRequest',
  'crud:Unauthenticated',
  'crud:TooManyRequests',
  'crud:ForeignOrigin',
  'crud:Unavailable',
  'crud:Internal',
]
const WITH_BODY: readonly Code[] = ['crud:BodyTooLarge', 'crud:UnsupportedMediaType', 'crud:LimitExceeded']
/** Also without a body, for requests of web pages from another origin. */
const OF_POST: readonly Code[] = ['crud:UnsupportedMediaType']

/** Of writes with an idempotency key. */
const OF_WRITES: readonly Code[] = ['crud:IdempotencyConflict', 'crud:IdempotencyMismatch']

function pathItem(rows: readonly Route[]): JsonObject {
  return Object.fromEntries(rows.map((route) => [route.method.toLowerCase(), operation(route)]))
}

function operation(route: Route): JsonObject {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!)
  return {
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
    ...(route.deprecated ? { deprecated: true } : {}),
    ...(route.access === 'public' ? { security: [] } : {}),
    parameters: [
      ...names.map((name) => pathParameter(name, route.pathExamples?.[name])),
      ...(route.query ?? []).map(queryParameter),
      ...(route.takesOtherParameters && route.tag === 'data' ? [OTHER_PARAMETERS] : []),
      ...(route.headers ?? []).map(headerParameter),
      ...(isWrite(route) && route.refusesKey === undefined ? [parameterReference('IdempotencyKey')] : []),
      ...(route.method === 'GET' && route.access !== 'public' ? [parameterReference('Ticket')] : []),
      ...(route.tag === 'service' ? [] : Object.keys(CALLER).map(parameterReference)),
    ],
    ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, route.otherBody) }),
    responses: { ...successes(route), ...failures(route) },
  }
}

function successes(route: Route): JsonObject {
  const { status = 200, otherStatuses = {} } = route
  const done = { description: 'Done.', ...(status !== 204 && { content: replyMedia(route) }) }
  const others = Object.entries(otherStatuses).map(([each, description]) => [
    each,
    { description, ...(!WITHOUT_BODY.has(Number(each)) && { content: replyMedia(route) }) },
  ])
  return { [status]: done, ...(Object.fromEntries(others) as JsonObject) }
}

const WITHOUT_BODY: ReadonlySet<number> = new Set([204, 302, 304])

function requestBody(body: Content, other: Content | undefined): JsonObject {
  const content = other ? { ...media(body), ...media(other) } : media(body)
  return { required: body.required ?? true, content }
}

/** A route with the parameter `stream` also responds with NDJSON. */
function replyMedia({ reply, otherReply, query = [] }: Route): JsonObject {
  if (otherReply) return { ...media(reply), ...media(otherReply) }
  const isStreamed = query.some(({ name }) => name === 'stream')
  return isStreamed ? { ...media(reply), [STREAM_TYPE]: STREAM } : media(reply)
}

const STREAM: JsonObject = {
  schema: {
    type: 'string',
    description:
      'Lines of JSON: first one that names the entity, then one for each document, last one that says how it ended.',
  },
  example: [
    '{"entity":"country","entityVersion":"1.0.0","status":"COMPLETE"}',
    '{"last":true,"processed":{"iso2Code":"CH"},"resultMetadata":{"documentVersion":"0198f1c2-7c3e-7000-8000-000000000001:1"}}',
    '{"last":true,"status":"COMPLETE","matchCount":1}',
    '',
  ].join('\n'),
}

function pathParameter(name: string, example = PATH_EXAMPLES[name] ?? ''): JsonObject {
  const description = PATH_PARAMETERS[name] ?? ''
  return { name, in: 'path', required: true, description, schema: { type: 'string' }, example }
}

function header(name: string, description: string, example: string): JsonObject {
  return { name, in: 'header', required: false, description, schema: { type: 'string' }, example }
}

function headerParameter({ name, description, example = '' }: QueryParameter): JsonObject {
  return header(name, description, example)
}

function parameterReference(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` }
}

/** Parameters of any name: each member of the object is one. */
const OTHER_PARAMETERS: JsonObject = {
  name: 'parameters',
  in: 'query',
  required: false,
  description: 'Further parameters, each under its own name.',
  style: 'form',
  explode: true,
  schema: { type: 'object', additionalProperties: { type: 'string' } },
}

function queryParameter({ name, description, example }: QueryParameter): JsonObject {
  const type = PARAMETER_TYPES[name] ?? 'string'
  const values = PARAMETER_VALUES[name]
  const schema: JsonObject = values === undefined ? { type } : { type, enum: values }
  const parameter = { name, in: 'query', required: false, description, schema }
  if (example === undefined) return parameter
  return { ...parameter, example: type === 'string' ? example : (JSON.parse(example) as Json) }
}

/** Query parameters that are no texts. One name has the same type on every route. */
const PARAMETER_TYPES: Readonly<Record<string, 'integer' | 'boolean'>> = {
  from: 'integer',
  to: 'integer',
  maxResults: 'integer',
  n: 'integer',
  limit: 'integer',
  skip: 'integer',
  since: 'integer',
  wait: 'integer',
  ttl: 'integer',
  size: 'integer',
  count: 'boolean',
  stream: 'boolean',
  strict: 'boolean',
  dryRun: 'boolean',
  upsert: 'boolean',
}

/** Query parameters with a fixed set of values, on every route. */
const PARAMETER_VALUES: Readonly<Record<string, readonly string[]>> = {
  operation: ['insert', 'update', 'delete'],
  onError: ['skip', 'stop'],
  delimiter: [',', ';', '|', 'tab'],
  documents: ['delete', 'keep'],
  numbers: ['text'],
}

function failures(route: Route): JsonObject {
  const isData = isDataPath(route.path)
  const shape = isData ? 'DataResponse' : 'Error'
  const codes = new Set([
    ...COMMON,
    ...(route.body ? WITH_BODY : []),
    ...(route.method === 'POST' ? OF_POST : []),
    ...(isWrite(route) && route.refusesKey === undefined ? OF_WRITES : []),
    ...(route.errors ?? []),
  ])
  const byStatus = Map.groupBy(codes, (code) => (isData ? dataStatusOf(code) : CODES[code]))
  const entries = [...byStatus].map(([status, codes]): [string, Json] => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: failureShape(route, status, component(shape)) } },
    },
  ])
  return Object.fromEntries(entries)
}

function failureShape({ unavailable, tag }: Route, status: number, shape: JsonObject): JsonObject {
  if (tag === 'documents') return { anyOf: [shape, component('Errors')] }
  return status === 503 && unavailable ? { anyOf: [unavailable, shape] } : shape
}

function media({ shape, name, type, example }: Content): JsonObject {
  const schema = name === undefined ? shape : component(name)
  const key = type?.split(';')[0] ?? 'application/json'
  return { [key]: example === undefined ? { schema } : { schema, example } }
}

function components(routes: readonly Route[]): JsonObject {
  const contents = routes.flatMap((route) => (route.body ? [route.body, route.reply] : [route.reply]))
  const named = contents.flatMap(({ name, shape }): [string, Json][] => (name ? [[name, shape]] : []))
  return {
    ...Object.fromEntries(named),
    ...LANGUAGE_SHAPES,
    ...OPERATION_SHAPES,
    ...RECURSIVE_METADATA_SHAPES,
    Impact: ImpactShape,
    DataResponse: DataResponseShape,
    Error: ErrorShape,
    Errors: Type.Object({ errors: Type.Array(component('Error')) }),
  }
}
