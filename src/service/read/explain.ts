/** Explain: shows the plan of a find, and counts its matches, under the same access rules. */
import type { Caller } from '../../access/caller.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { type Projection, printProjection } from '../../lang/projection.ts'
import { printQuery } from '../../lang/query.ts'
import { compileIncludes } from '../../lang/resolve/projected-fields.ts'
import type { FieldRef } from '../../lang/resolve/scope.ts'
import { printSort } from '../../lang/sort.ts'
import type { PlannedJoin } from '../../plan/joins.ts'
import { planFind } from '../../plan/read.ts'
import { type Schema, allFields } from '../../schema/schema.ts'
import { printTimestamp } from '../../store/history.ts'
import { type Deps, boundsOf, workOf } from '../deps.ts'
import { afterCursor, cursorsFor, hidesIdFrom } from './cursor/find-by-cursor.ts'
import { resolveAndAuthorizeFind } from './plan-find.ts'
import { isSortedByStore } from './pushdown.ts'
import { countMatches, isInStatement } from './read-page.ts'
import { unsorted } from './scan.ts'
import type { FindRequest } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import { resolveRemoteJoins } from './embed/remote-joins.ts'

export async function explain(deps: Deps, caller: Caller, request: FindRequest): Promise<DataResponse> {
  const allowed = resolveAndAuthorizeFind(deps, caller, request)
  const { schema } = allowed
  const store = deps.storeOf(schema)
  const work = workOf(deps, request)
  const bounds = boundsOf(work, request)
  const planned = planFind(allowed, isInStatement(deps))
  const paged = request.page
    ? afterCursor(planned.read, request.page, cursorsFor({ allowed, plan: planned }, deps, work))
    : planned.read
  const { read, isMatch } = await resolveRemoteJoins(paged, schema, {
    deps,
    bounds,
    asOf: request.asOf,
  })
  // The service sorts what the store cannot.
  const isSorted = isSortedByStore(read, schema, deps)
  const explained = await store.explain(isSorted ? read : unsorted(read), bounds)
  // The parameters of a page contain the `_id` after which it begins.
  const revealsId = paged.after !== undefined && hidesIdFrom(allowed)
  const { query, plan } = allowed.isNarrowed || revealsId ? REDACTED_EXPLANATION : explained
  // The store counts its candidates. Where they are not the matches, the service counts these.
  const matchCount = isMatch
    ? await countMatches(planned, { deps, bounds, schema, asOf: request.asOf })
    : explained.matchCount
  const projection = projectionMap(allowed.projection, schema)
  const entry = {
    [store.kind]: { query: query as unknown as Json, projection, plan },
    request: printRequest(request),
    ...(planned.joins && { references: planned.joins.map(printJoin) }),
    ...((isMatch || !isSorted) && { residual: true }),
  }
  return complete(schema, { matchCount, processed: [JSON.stringify(entry)] })
}

/** The tree of references, with whether the same statement reads their documents. */
function printJoin({ allowed, plan, inStatement, joins }: PlannedJoin): JsonObject {
  const { entity, version } = allowed.schema
  return {
    reference: `${plan.steps.join('.')}${plan.isCount ? '#' : ''}`,
    entity,
    entityVersion: version,
    read: inStatement ? 'joined' : 'separate',
    ...(joins.length > 0 && { references: joins.map(printJoin) }),
  }
}

/**
 * Replaces the SQL and the engine's plan of a find that row rules narrow: the rules are internal to
 * administrators, and the plan depends on hidden documents.
 */
export const REDACTED_EXPLANATION = { query: { sql: '', parameters: [] }, plan: {} }

/** The effective request, as the service parsed it. */
function printRequest({ query, projection, sort, range, body, asOf, page }: FindRequest): JsonObject {
  const hasRange = ['range', 'from', 'to', 'maxResults'].some(
    (key) => body[key] !== undefined && body[key] !== null,
  )
  return {
    ...(query && { query: printQuery(query) }),
    projection: printProjection(projection),
    ...(sort.length > 0 && { sort: printSort(sort) }),
    ...(hasRange && { from: range.from }),
    ...(hasRange && range.to !== undefined && { to: range.to }),
    ...(page && { page: { ...page } }),
    ...(asOf !== undefined && { asOf: printTimestamp(asOf) }),
  }
}

/** The leaf fields that the projection includes, as a map of field to 1. */
function projectionMap(projection: Projection<FieldRef>, schema: Schema): JsonObject {
  const map: Record<string, Json> = {}
  const isIncluded = compileIncludes(projection)
  for (const field of allFields(schema.root.fields)) {
    const isLeaf = field.kind === 'simple' || (field.kind === 'array' && field.element.kind === 'simple')
    if (isLeaf && isIncluded(field)) map[field.path] = 1
  }
  return map
}
