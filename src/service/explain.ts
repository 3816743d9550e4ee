/** Explain: what a find would do, without doing it; the same rules of access apply. */
import type { Caller } from '../access/caller.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { type Projection, printProjection } from '../lang/projection.ts'
import { printQuery } from '../lang/query.ts'
import { includes } from '../lang/reach.ts'
import type { FieldRef } from '../lang/scope.ts'
import { printSort } from '../lang/sort.ts'
import { planFind } from '../plan/read.ts'
import { type Schema, allFields } from '../schema/schema.ts'
import { type Deps, boundsOf } from './deps.ts'
import { allowedFind } from './find.ts'
import type { FindRequest } from './request.ts'
import { type DataResponse, complete } from './response.ts'

export async function explain(deps: Deps, caller: Caller, request: FindRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const allowed = allowedFind(request, schema, caller)
  const store = deps.storeOf(schema)
  const explained = await store.explain(planFind(allowed).read, boundsOf(deps, request))
  const { query, plan, matchCount } = allowed.isNarrowed ? { ...explained, ...UNTOLD } : explained
  const projection = projectionMap(allowed.projection, schema)
  const entry = {
    [store.kind]: { query: query as unknown as Json, projection, plan },
    request: printRequest(request),
  }
  return complete(schema, { matchCount, processed: [JSON.stringify(entry)] })
}

/** Rules are the administrator's, and how an engine goes about them depends on documents out of sight. */
const UNTOLD = { query: { sql: '', parameters: [] }, plan: {} }

/** The effective request as the service understood it. */
function printRequest({ query, projection, sort, range, body }: FindRequest): JsonObject {
  const hasRange = ['range', 'from', 'to', 'maxResults'].some(
    (key) => body[key] !== undefined && body[key] !== null,
  )
  return {
    ...(query && { query: printQuery(query) }),
    projection: printProjection(projection),
    ...(sort.length > 0 && { sort: printSort(sort) }),
    ...(hasRange && { from: range.from }),
    ...(hasRange && range.to !== undefined && { to: range.to }),
  }
}

/** The leaves that the projection lets out, as a map of field to 1. */
function projectionMap(projection: Projection<FieldRef>, schema: Schema): JsonObject {
  const map: Record<string, Json> = {}
  for (const field of allFields(schema.root.fields)) {
    const isLeaf = field.kind === 'simple' || (field.kind === 'array' && field.element.kind === 'simple')
    if (isLeaf && includes(projection, field)) map[field.path] = 1
  }
  return map
}
