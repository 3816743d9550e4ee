/** Parses JSON into typed requests. No code behind this module checks shapes again. */
import { ServiceError } from '../../base/errors.ts'
import { asBoolean } from '../../base/json/decode.ts'
import { type Json, type JsonObject, isArray, isObject, member } from '../../base/json/json.ts'
import type { Limits } from '../../base/limits.ts'
import type { Aggregation } from '../../lang/aggregate.ts'
import { type Budget, startBudget } from '../../lang/budget.ts'
import { parseAggregation } from '../../lang/parse/parse-aggregate.ts'
import { parseProjection } from '../../lang/parse/parse-projection.ts'
import { parseQuery } from '../../lang/parse/parse-query.ts'
import { parseUpdate } from '../../lang/parse/parse-update.ts'
import type { Projection } from '../../lang/projection.ts'
import type { Named, Query } from '../../lang/query.ts'
import { type SortKey, parseSort } from '../../lang/sort.ts'
import type { Update } from '../../lang/update.ts'
import { parseFilter } from '../../lang/text/parse-filter.ts'
import { readFilter } from '../../lang/text/read-filter.ts'
import { readAsOf } from './as-of.ts'
import { type Deps, requestTimeOf } from '../deps.ts'
import type { Target } from '../service.ts'
import { type Condition, readCondition } from './condition.ts'
import { type Envelope, isPresent, readEnvelope } from './envelope.ts'

export interface FindRequest extends Envelope {
  readonly query?: Query<Named>
  readonly projection: Projection<Named>
  readonly sort: readonly SortKey<Named>[]
  /** Microseconds since 1970; absent: the current documents. */
  readonly asOf?: number
}

export interface AggregateRequest extends Envelope {
  readonly query?: Query<Named>
  readonly aggregation: Aggregation<Named>
}

export interface InsertRequest extends Envelope {
  readonly data: readonly Json[]
  readonly projection: Projection<Named>
}

export interface SaveRequest extends InsertRequest, Condition {
  readonly upsert: boolean
  /** Whether documents are found by `_id`, whatever their identity is. */
  readonly byId?: boolean
}

export interface DeleteRequest extends Envelope, Condition {
  readonly query: Query<Named>
}

export interface UpdateRequest extends DeleteRequest {
  readonly update: Update<Named>
  readonly projection: Projection<Named>
}

/** What reading a request depends on: limits and clock. */
type Reading = Pick<Deps, 'limits' | 'now'>

export function readFind(body: Json | undefined, target: Target, deps: Reading): FindRequest {
  const envelope = readEnvelope(body, target, 'find')
  const budget = budgetOf(target, deps)
  const projection = readProjection(envelope.body, budget)
  if (projection.length === 0) {
    throw new ServiceError(
      'store-crud:NullProjection',
      '"projection" must name the fields to return, such as {"field": "*"}',
    )
  }
  const { sort, asOf } = envelope.body
  const query = readQuery(envelope.body, budget)
  return {
    ...envelope,
    ...(query && { query }),
    projection,
    sort: isPresent(sort) ? parseSort(sort, '/sort') : [],
    ...(typeof asOf === 'string' && { asOf: readAsOf(asOf, '/asOf') }),
  }
}

export function readAggregate(body: Json | undefined, target: Target, deps: Reading): AggregateRequest {
  const envelope = readEnvelope(body, target, 'aggregate')
  if (isPresent(envelope.body['projection'])) {
    const message = '"projection" has no meaning in aggregate; "groupBy" and "values" say what to return'
    throw new ServiceError('crud:InvalidRequest', message, { at: '/projection' })
  }
  const budget = budgetOf(target, deps)
  const query = readQuery(envelope.body, budget)
  return {
    ...envelope,
    ...(query && { query }),
    aggregation: parseAggregation(envelope.body, budget),
  }
}

/** Whether a request to explain is about an aggregate. */
export function isAggregate(body: Json | undefined): boolean {
  return ['groupBy', 'values', 'having'].some((key) => isPresent(member(body, key)))
}

function budgetOf({ work }: Target, deps: Reading): Budget {
  return startBudget(deps.limits, requestTimeOf(deps, work))
}

/** The condition in either of its spellings. */
function readQuery({ query, filter }: JsonObject, budget: Budget): Query<Named> | undefined {
  if (!isPresent(filter)) return isPresent(query) ? parseQuery(query, '/query', budget) : undefined
  if (!isPresent(query)) return parseFilter(filter as string, budget)
  throw new ServiceError('crud:InvalidRequest', BOTH, { at: '/filter' })
}

/** The body with its filter as a query, for code that compares bodies; positions in the filter are lost. */
export function withQuery(body: Json, limits: Limits): Json {
  if (!isObject(body) || typeof body['filter'] !== 'string' || isPresent(body['query'])) return body
  const { filter, ...others } = body
  return { ...others, query: readFilter(filter, limits).query }
}

const BOTH = '"filter" and "query" are two spellings of one condition; send one of them'

export function readInsert(body: Json | undefined, target: Target, deps: Reading): InsertRequest {
  return readDocuments(readEnvelope(body, target, 'insert'), deps)
}

function readDocuments(envelope: Envelope, deps: Reading): InsertRequest {
  const { limits } = deps
  const { data } = envelope.body
  if (!isArray(data) && !isObject(data)) {
    const message = '"data" must be a document or an array of documents'
    throw new ServiceError('crud:InvalidRequest', message, { at: '/data' })
  }
  if (isArray(data) && data.length > limits.documents) {
    const message = `one request may hold at most ${limits.documents} documents`
    throw new ServiceError('crud:LimitExceeded', message, { at: '/data' })
  }
  const projection = readProjection(envelope.body, budgetOf(envelope, deps))
  return { ...envelope, data: isArray(data) ? data : [data], projection }
}

export function readSave(body: Json | undefined, target: Target, deps: Reading): SaveRequest {
  const request = readDocuments(readEnvelope(body, target, 'save'), deps)
  return { ...request, upsert: asBoolean(request.body['upsert']) === true, ...readCondition(request.body) }
}

export function readDelete(body: Json | undefined, target: Target, deps: Reading): DeleteRequest {
  return readSelection(readEnvelope(body, target, 'delete'), budgetOf(target, deps))
}

function readSelection(envelope: Envelope, budget: Budget): DeleteRequest {
  const query = readQuery(envelope.body, budget)
  if (!query) {
    throw new ServiceError(
      'store-crud:NullQuery',
      '"query" or "filter" must select the documents; {"$and": []} and "true" select all of them',
    )
  }
  return { ...envelope, query, ...readCondition(envelope.body) }
}

export function readUpdate(body: Json | undefined, target: Target, deps: Reading): UpdateRequest {
  const budget = budgetOf(target, deps)
  const request = readSelection(readEnvelope(body, target, 'update'), budget)
  const { update } = request.body
  if (!isPresent(update)) {
    throw new ServiceError(
      'query-api:InvalidUpdate',
      '"update" must name what to change, such as {"$set": {"city": "Bern"}}',
      { at: '/update' },
    )
  }
  return {
    ...request,
    update: parseUpdate(update, '/update', budget),
    projection: readProjection(request.body, budget),
  }
}

function readProjection(request: JsonObject, budget: Budget): Projection<Named> {
  const { projection } = request
  return isPresent(projection) ? parseProjection(projection, '/projection', budget) : []
}
