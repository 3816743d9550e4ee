/** The members that all data operations share: entity, version, range and execution; and which keys a request may have. */
import { ServiceError, invalidRequest } from '../../base/errors.ts'
import { memberChecker } from '../../base/json/check-members.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import { Type, compileShape } from '../../base/json/shape.ts'
import { didYouMean } from '../../base/suggest.ts'
import type { Target } from '../service.ts'
import { DataRequestShape } from './data-shapes.ts'
import { type Execution, readExecution } from './execution.ts'
import { type PageRequest, readPage } from './page-request.ts'

/** The members that all data operations share. */
export interface Envelope extends Target, Execution {
  readonly body: JsonObject
  readonly range: Range
  /** Present if documents are asked for by cursor. */
  readonly page?: PageRequest
}

export interface Range {
  readonly from: number
  readonly to?: number
}

/** The language parsers report errors in their own parts more precisely than a shape can. */
const parsedElsewhere = Type.Optional(Type.Unknown())
const parts = {
  ...DataRequestShape.properties,
  query: parsedElsewhere,
  projection: parsedElsewhere,
  sort: parsedElsewhere,
  groupBy: parsedElsewhere,
  values: parsedElsewhere,
  having: parsedElsewhere,
  update: parsedElsewhere,
  data: parsedElsewhere,
  execution: parsedElsewhere,
  page: parsedElsewhere,
}
const isEnvelope = compileShape(Type.Object(parts, { additionalProperties: false }))

export type Operation = 'find' | 'aggregate' | 'insert' | 'save' | 'update' | 'delete' | 'generate'

/**
 * Clients send keys of other operations, such as `upsert`, and these are tolerated. A request with one of the following
 * keys wants something that no other operation does, so ignoring it could write what its sender did not mean.
 */
const DECISIVE: Readonly<Record<string, readonly Operation[]>> = {
  query: ['find', 'aggregate', 'update', 'delete'],
  filter: ['find', 'aggregate', 'update', 'delete'],
  groupBy: ['aggregate'],
  values: ['aggregate'],
  having: ['aggregate'],
  update: ['update'],
  data: ['insert', 'save'],
  page: ['find'],
  asOf: ['find'],
  documentVersions: ['save', 'update', 'delete'],
  onlyIfCurrent: ['save', 'update', 'delete'],
}

export function readEnvelope(body: Json | undefined, target: Target, operation: Operation): Envelope {
  const request = body === undefined ? {} : body
  if (!isObject(request)) throw new ServiceError('crud:InvalidRequest', 'the body must be a JSON object')
  if (!isEnvelope(request)) refuseMembers(request, operation)
  refuseForeign(request, operation)
  const paged = readPage(request)
  return {
    ...readTarget(request, target),
    body: request,
    // One document more than the page holds tells whether there is a next page.
    range: paged ? { from: 0, to: paged.page.size } : readRange(request),
    ...readExecution(request),
    ...paged,
  }
}

/** Unknown keys are checked first: a misspelt key explains more than a wrong value beside it. */
function refuseMembers(request: JsonObject, operation: Operation): void {
  const unknown = Object.keys(request).find((key) => !Object.hasOwn(parts, key))
  if (unknown !== undefined) {
    const isDocument = DECISIVE['data']!.includes(operation) && !Object.hasOwn(request, 'data')
    throw invalidRequest(isDocument ? unwrapped(unknown) : unknownKey(unknown), pointer('', unknown))
  }
  checkMembers(request)
}

/** What clients of other services send, and the key that does the same here. */
const SYNONYMS: Readonly<Record<string, string>> = {
  limit: '"range": [0, 9] returns the first ten documents',
  offset: '"range": [10, 19] skips the first ten documents',
  skip: '"range": [10, 19] skips the first ten documents',
  cursor: '"page": {"size": 100, "after": "…"} returns the page after a cursor',
  size: '"page": {"size": 100} returns the first hundred documents',
  after: '"page": {"size": 100, "after": "…"} returns the page after a cursor',
  where: 'send the condition as "query" or, as text, as "filter"',
  fields: 'send the fields as "projection"',
  select: 'send the fields as "projection"',
  orderBy: 'send the order as "sort"',
}

/** The body is probably the document itself. */
function unwrapped(key: string): string {
  return `no operation knows the key "${key}"; put the document into "data", such as {"data": {…}}`
}

function unknownKey(key: string): string {
  const hint = Object.hasOwn(SYNONYMS, key) ? `; ${SYNONYMS[key]}` : didYouMean(key, Object.keys(parts))
  return `no operation knows the key "${key}"${hint}`
}

function refuseForeign(request: JsonObject, operation: Operation): void {
  for (const key in DECISIVE) {
    const operations = DECISIVE[key]!
    if (operations.includes(operation) || !isPresent(request[key])) continue
    const message = `"${key}" has no meaning in ${operation}; it belongs to ${operations.join(', ')}`
    throw invalidRequest(message, pointer('', key))
  }
}

const EXPECTED: Readonly<Record<string, string>> = {
  range: 'must be two integers, [from, to], such as [0, 9]; null leaves an end open',
  from: 'must be an integer, such as 0',
  to: 'must be an integer, such as 9',
  maxResults: 'must be an integer, such as 10',
  upsert: 'must be true or false',
  onlyIfCurrent: 'must be true or false',
  documentVersions: 'must be an array of strings',
  objectType: 'must be a string',
  entity: 'must be a string',
  version: 'must be a string',
  entityVersion: 'must be a string',
  asOf: 'must be a string: a date, or a documentVersion',
  filter: 'must be a string, such as "city = \\"Bern\\""; a condition in JSON is sent as "query"',
}

const checkMembers = memberChecker(parts, {
  refuse: invalidRequest,
  unknown: unknownKey,
  expected: EXPECTED,
  otherwise: 'has the wrong type',
})

/** Both spellings and the path must agree; a version in the body is used if the path has none. */
function readTarget(request: JsonObject, target: Target): Target {
  const entity = agreed(request, ['entity', 'objectType'])
  const version = agreed(request, ['entityVersion', 'version'])
  if (entity !== undefined && entity !== target.entity) {
    const message = `the path names the entity "${target.entity}", the body another one`
    throw new ServiceError('rest-crud:NoEntityMatch', message)
  }
  if (version !== undefined && target.version !== undefined && version !== target.version) {
    const message = `the path names the version "${target.version}", the body another one`
    throw new ServiceError('rest-crud:NoVersionMatch', message)
  }
  const chosen = target.version ?? version
  return { ...target, ...(chosen !== undefined && { version: chosen }) }
}

export function agreed(
  request: JsonObject,
  [first, second]: readonly [string, string],
  at = '',
): string | undefined {
  const [a, b] = [request[first], request[second]]
  if (isPresent(a) && isPresent(b) && a !== b) {
    throw invalidRequest(`"${first}" and "${second}" must agree`, pointer(at, second))
  }
  const value = isPresent(a) ? a : b
  return typeof value === 'string' ? value : undefined
}

function readRange(request: JsonObject): Range {
  const { range, from, to, maxResults } = request
  if (isArray(range)) return clamped(range[0], range[1])
  if (isPresent(to) || typeof maxResults !== 'number' || maxResults < 0) return clamped(from, to)
  return clamped(from, Math.max(Number(from ?? 0), 0) + maxResults - 1)
}

function clamped(from: Json | undefined, to: Json | undefined): Range {
  const start = typeof from === 'number' ? Math.max(from, 0) : 0
  return typeof to === 'number' ? { from: start, to } : { from: start }
}

export function isPresent(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}
