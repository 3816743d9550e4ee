/** The OpenAPI 3.1 document, made from the route table. */
import { CODES, type Code } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import {
  DataRequestShape,
  DataResponseShape,
  ErrorShape,
  ProjectionShape,
  QueryShape,
  SortShape,
} from '../service/shapes.ts'
import type { Content, QueryParameter, Route } from './route.ts'
import { VERSION } from './version.ts'

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
    components: { schemas: components(routes), securitySchemes: SECURITY },
    security: [{ roles: [], principal: [] }, {}],
  }
}

const TAGS = [
  { name: 'data', description: 'Documents: find, explain, insert, save, update, delete, generate, bulk.' },
  { name: 'metadata', description: 'Entities, their versions and who may do what.' },
  { name: 'service', description: 'The service itself.' },
]

const SECURITY = {
  roles: { type: 'apiKey', in: 'header', name: 'Smalt-Roles', description: 'Roles of the caller, by comma.' },
  principal: { type: 'apiKey', in: 'header', name: 'Smalt-Principal', description: 'Name of the caller.' },
}

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
}

/** What any route of the interface may answer, whatever it does. */
const COMMON: readonly Code[] = [
  'crud:InvalidRequest',
  'crud:ForeignOrigin',
  'crud:Unavailable',
  'crud:Internal',
]
const WITH_BODY: readonly Code[] = ['crud:BodyTooLarge', 'crud:UnsupportedMediaType', 'crud:LimitExceeded']

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
    ...(route.tag === 'service' ? { security: [] } : {}),
    parameters: [...names.map(pathParameter), ...(route.query ?? []).map(queryParameter)],
    ...(route.body === undefined ? {} : { requestBody: { required: true, content: media(route.body) } }),
    responses: { 200: { description: 'Done.', content: media(route.reply) }, ...failures(route) },
  }
}

function pathParameter(name: string): JsonObject {
  const description = PATH_PARAMETERS[name] ?? ''
  return {
    name,
    in: 'path',
    required: true,
    description,
    schema: { type: 'string' },
    example: PATH_EXAMPLES[name] ?? '',
  }
}

function queryParameter({ name, description, example }: QueryParameter): JsonObject {
  const parameter = { name, in: 'query', required: false, description, schema: { type: 'string' } }
  return example === undefined ? parameter : { ...parameter, example }
}

function failures(route: Route): JsonObject {
  const shape = route.tag === 'data' ? 'DataResponse' : 'Error'
  const codes = new Set([...COMMON, ...(route.body ? WITH_BODY : []), ...(route.errors ?? [])])
  const byStatus = Map.groupBy(codes, (code) => CODES[code])
  const entries = [...byStatus].map(([status, codes]): [string, Json] => [
    String(status),
    {
      description: codes.map((code) => `\`${code}\``).join(', '),
      content: { 'application/json': { schema: reference(shape) } },
    },
  ])
  return Object.fromEntries(entries)
}

function media({ shape, name, type, example }: Content): JsonObject {
  const schema = name === undefined ? shape : reference(name)
  const key = type?.split(';')[0] ?? 'application/json'
  return { [key]: example === undefined ? { schema } : { schema, example } }
}

function components(routes: readonly Route[]): JsonObject {
  const contents = routes.flatMap((route) => (route.body ? [route.body, route.reply] : [route.reply]))
  const named = contents.flatMap(({ name, shape }): [string, Json][] => (name ? [[name, shape]] : []))
  return {
    ...Object.fromEntries(named),
    DataRequest: detailedRequest(),
    DataResponse: DataResponseShape,
    Error: ErrorShape,
    Query: QueryShape,
    Projection: ProjectionShape,
    Sort: SortShape,
  }
}

/** The shape that requests are checked by leaves queries and projections to their parsers; a reader wants to see them. */
function detailedRequest(): JsonObject {
  const shape = DataRequestShape
  const oneOrMore = (name: string): Json => ({
    anyOf: [reference(name), { type: 'array', items: reference(name) }, { type: 'null' }],
  })
  const detailed = {
    query: { anyOf: [reference('Query'), { type: 'null' }] },
    projection: oneOrMore('Projection'),
    sort: oneOrMore('Sort'),
  }
  return { ...shape, properties: { ...(shape.properties as JsonObject), ...detailed } }
}

function reference(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` }
}
