/** Parses JSON into typed requests. No code behind this module checks shapes again. */
import { ServiceError } from '../../base/errors.ts'
import { memberChecker } from '../../base/json/check-members.ts'
import { refuseWith } from '../../base/json/decode.ts'
import { type Json, type JsonObject, isArray, isObject, pointer } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import { Type, compileShape } from '../../base/json/shape.ts'
import { type Budget, startBudget } from '../../lang/budget.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { parseUpdate } from '../../lang/parse/parse-update.ts'
import type { Projection } from '../../lang/projection.ts'
import type { Named, Query } from '../../lang/query.ts'
import { type SortKey, parseSort } from '../../lang/sort.ts'
import type { Update } from '../../lang/update.ts'
import { readAsOf } from './as-of.ts'
import type { Target } from '../service.ts'
import { DataRequestShape, ExecutionShape } from './data-shapes.ts'

/** The members that all data operations share. */
interface Envelope extends Target, Execution {
  readonly body: JsonObject
  readonly range: Range
}

interface Execution {
  readonly atomic: boolean
  readonly counted: boolean
  readonly maxTimeMs?: number
}

export interface Range {
  readonly from: number
  readonly to?: number
}

export interface FindRequest extends Envelope {
  readonly query?: Query<Named>
  readonly projection: Projection<Named>
  readonly sort: readonly SortKey<Named>[]
  /** Microseconds since 1970; absent: the current documents. */
  readonly asOf?: number
}

export interface InsertRequest extends Envelope {
  readonly data: readonly Json[]
  readonly projection: Projection<Named>
}

export interface SaveRequest extends InsertRequest {
  readonly upsert: boolean
  /** Only for `onlyIfCurrent`. */
  readonly documentVersions?: readonly string[]
}

export interface DeleteRequest extends Envelope {
  readonly query: Query<Named>
}

export interface UpdateRequest extends DeleteRequest {
  readonly update: Update<Named>
  readonly projection: Projection<Named>
  readonly documentVersions?: readonly string[]
}

export function readFind(body: Json | undefined, target: Target, limits: Limits): FindRequest {
  const envelope = readEnvelope(body, target)
  const budget = startBudget(limits)
  const projection = readProjection(envelope.body, budget)
  if (projection.length === 0) {
    throw new ServiceError('store-crud:NullProjection', 'say in "projection" which fields to return')
  }
  const { query, sort, asOf } = envelope.body
  return {
    ...envelope,
    ...(isPresent(query) && { query: parseQuery(query, '/query', budget) }),
    projection,
    sort: isPresent(sort) ? parseSort(sort, '/sort') : [],
    ...(typeof asOf === 'string' && { asOf: readAsOf(asOf, '/asOf') }),
  }
}

export function readInsert(body: Json | undefined, target: Target, limits: Limits): InsertRequest {
  const envelope = readEnvelope(body, target)
  const { data } = envelope.body
  if (!isArray(data) && !isObject(data)) {
    throw invalid('"data" must be a document or an array of documents', '/data')
  }
  if (isArray(data) && data.length > limits.documents) {
    const message = `one request may hold at most ${limits.documents} documents`
    throw new ServiceError('crud:LimitExceeded', message, { at: '/data' })
  }
  const projection = readProjection(envelope.body, startBudget(limits))
  return { ...envelope, data: isArray(data) ? data : [data], projection }
}

export function readSave(body: Json | undefined, target: Target, limits: Limits): SaveRequest {
  const request = readInsert(body, target, limits)
  return { ...request, upsert: request.body['upsert'] === true, ...readVersions(request.body) }
}

export function readDelete(body: Json | undefined, target: Target, limits: Limits): DeleteRequest {
  return readSelection(body, target, startBudget(limits))
}

function readSelection(body: Json | undefined, target: Target, budget: Budget): DeleteRequest {
  const envelope = readEnvelope(body, target)
  const { query } = envelope.body
  if (!isPresent(query)) {
    throw new ServiceError(
      'store-crud:NullQuery',
      'say in "query" which documents; {"$and":[]} means all of them',
    )
  }
  return { ...envelope, query: parseQuery(query, '/query', budget) }
}

export function readUpdate(body: Json | undefined, target: Target, limits: Limits): UpdateRequest {
  const budget = startBudget(limits)
  const request = readSelection(body, target, budget)
  const { update } = request.body
  if (!isPresent(update)) {
    throw new ServiceError('query-api:InvalidUpdate', 'say in "update" what to change', { at: '/update' })
  }
  return {
    ...request,
    update: parseUpdate(update, '/update', budget),
    projection: readProjection(request.body, budget),
    ...readVersions(request.body),
  }
}

/** Versions have an effect only together with `onlyIfCurrent`. */
function readVersions({ onlyIfCurrent, documentVersions }: JsonObject): {
  documentVersions?: readonly string[]
} {
  if (onlyIfCurrent !== true) return {}
  return { documentVersions: (documentVersions ?? []) as readonly string[] }
}

const invalid = refuseWith('crud:InvalidRequest')

/** The language parsers report errors in their own parts more precisely than a shape can. */
const parsedElsewhere = Type.Optional(Type.Unknown())
const parts = {
  ...DataRequestShape.properties,
  query: parsedElsewhere,
  projection: parsedElsewhere,
  sort: parsedElsewhere,
  update: parsedElsewhere,
  data: parsedElsewhere,
}
const isEnvelope = compileShape(Type.Object(parts, { additionalProperties: false }))

export function readEnvelope(body: Json | undefined, target: Target): Envelope {
  const request = body === undefined ? {} : body
  if (!isObject(request)) throw new ServiceError('crud:InvalidRequest', 'the body must be a JSON object')
  if (!isEnvelope(request)) refuseMembers(request)
  return {
    ...readTarget(request, target),
    body: request,
    range: readRange(request),
    ...readExecution(request),
  }
}

const isExecution = compileShape(ExecutionShape)

/** Options for running a request; a bulk may set them for all of its entries. */
export function readExecution({ execution }: JsonObject): Execution {
  if (!isPresent(execution)) return { atomic: false, counted: true }
  if (!isObject(execution) || !isExecution(execution)) {
    throw invalid(`"execution" ${EXPECTED['execution']}`, '/execution')
  }
  return {
    atomic: execution['atomic'] === true,
    counted: execution['count'] !== 'none',
    ...readMaxTime(execution),
  }
}

function readMaxTime({ maxTimeMs }: JsonObject): { maxTimeMs?: number } {
  if (!isPresent(maxTimeMs)) return {}
  if (typeof maxTimeMs === 'number' && maxTimeMs > 0) return { maxTimeMs }
  throw invalid('"maxTimeMs" must be greater than 0', '/execution/maxTimeMs')
}

/** Unknown keys are checked first: a misspelt key explains more than a wrong value beside it. */
function refuseMembers(request: JsonObject): void {
  const unknown = Object.keys(request).find((key) => !Object.hasOwn(parts, key))
  if (unknown !== undefined) throw invalid(unknownKey(unknown), pointer('', unknown))
  checkMembers(request)
}

function unknownKey(key: string): string {
  return `no operation knows the key "${key}"`
}

const EXPECTED: Readonly<Record<string, string>> = {
  range: 'must be two integers, [from, to]; null leaves an end open',
  from: 'must be an integer',
  to: 'must be an integer',
  maxResults: 'must be an integer',
  upsert: 'must be true or false',
  onlyIfCurrent: 'must be true or false',
  documentVersions: 'must be an array of strings',
  execution: 'may hold atomic (true or false), maxTimeMs (an integer) and count ("exact" or "none")',
  objectType: 'must be a string',
  entity: 'must be a string',
  version: 'must be a string',
  entityVersion: 'must be a string',
  asOf: 'must be a string: a date, or a documentVersion',
}

const checkMembers = memberChecker(parts, {
  refuse: invalid,
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

export function agreed(request: JsonObject, [first, second]: readonly [string, string]): string | undefined {
  const [a, b] = [request[first], request[second]]
  if (isPresent(a) && isPresent(b) && a !== b) {
    throw invalid(`"${first}" and "${second}" must agree`, pointer('', second))
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

function readProjection(request: JsonObject, budget: Budget): Projection<Named> {
  const { projection } = request
  return isPresent(projection) ? parseProjection(projection, '/projection', budget) : []
}

function isPresent(value: Json | undefined): value is Exclude<Json, null> {
  return value !== undefined && value !== null
}
