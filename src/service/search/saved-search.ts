/** Saved searches: finds that are stored as documents, and run with the values and the access of the caller. */
import { inDialect } from '../dialect.ts'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isArray } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { during, spendParsing } from '../../base/work/work.ts'
import type { Deps } from '../deps.ts'
import { find } from '../read/find.ts'
import type { DataResponse, JsonText } from '../response.ts'
import { type Part, type Values, bind, readPart } from './bind-parameters.ts'
import { SAVED_SEARCH } from './search-entity.ts'
import { parameterNames, parameterValues } from './parameters.ts'
import { type SearchRequest, decide } from './search-request.ts'
import type { SearchTarget, Target } from '../service.ts'

/** The stored document is read for each run, so a change applies from the next run on. */
export async function search(
  deps: Deps,
  caller: Caller,
  { target, ...request }: SearchRequest & { readonly target: SearchTarget },
): Promise<DataResponse> {
  const { version } = deps.schemaOf(target.entity, target.version)
  const versioned = { ...target, version }
  const found = await lookUp(deps, caller, target)
  const bound = (): JsonObject => findBody(deps, found, { ...request, target: versioned })
  const body = target.work ? during(target.work, bound) : bound()
  return await find(deps, caller, {
    target: versioned,
    body: inDialect(deps, 'find', { target: versioned, body }),
  })
}

/** The find that the best of the saved searches makes of the request. */
function findBody(
  deps: Deps,
  found: readonly JsonText[],
  { target, ...request }: SearchRequest & { readonly target: SearchTarget & { readonly version: string } },
): JsonObject {
  const { entity, version, name } = target
  spendParsing(found.reduce((sum, each) => sum + each.length, 0))
  const saved = bestMatch(
    found.map((text) => parseTrusted(text) as JsonObject),
    version,
  )
  if (!saved) {
    const problem = `there is no saved search "${name}" for version ${version} of the entity "${entity}"`
    throw new ServiceError('rest-crud:SavedSearchError', problem)
  }
  const { supplied, overrides } = decide(request, parameterNames(saved['parameters']))
  const values = parameterValues(saved['parameters'], supplied)
  return { ...findRequest(saved, values, deps), ...rangeOf(saved, overrides), ...overrides }
}

/** The saved searches of one entity that the caller may read. */
export async function searches(
  deps: Deps,
  caller: Caller,
  { target, overrides }: { readonly target: Target; readonly overrides: JsonObject },
): Promise<DataResponse> {
  const query = { field: 'entity', op: '=', rvalue: target.entity }
  const body = { query, projection: EVERYTHING, sort: { name: '$asc' }, ...overrides }
  return await find(deps, caller, { target: savedSearchesFor(target), body })
}

async function lookUp(deps: Deps, caller: Caller, target: SearchTarget): Promise<readonly JsonText[]> {
  const query = {
    $and: [
      { field: 'name', op: '=', rvalue: target.name },
      { field: 'entity', op: '=', rvalue: target.entity },
    ],
  }
  const body = { query, projection: EVERYTHING }
  const { processed = [] } = await find(deps, caller, { target: savedSearchesFor(target), body })
  return processed
}

/** The lookup is part of the request: it uses the same budget and the same caller. */
function savedSearchesFor({ getSignal, work, chargedTo, offload }: Target): Target {
  return {
    entity: SAVED_SEARCH,
    ...(getSignal && { getSignal }),
    ...(work && { work }),
    ...(chargedTo !== undefined && { chargedTo }),
    ...(offload && { offload }),
  }
}

/**
 * The most specific match wins: the version itself, then `1.0`, then `1`, then any version; among equals the
 * lowest `_id`.
 */
function bestMatch(found: readonly JsonObject[], version: string): JsonObject | undefined {
  for (const each of namesOf(version)) {
    const match = found.find((saved) => versionsOf(saved).includes(each))
    if (match) return match
  }
  return undefined
}

/** Whether the search can run on this version. */
export function isFor(saved: JsonObject, version: string): boolean {
  return namesOf(version).some((each) => versionsOf(saved).includes(each))
}

/** What a search may call a version: `1.0.0`, `1.0`, `1`, or every version. */
function namesOf(version: string): readonly (string | null)[] {
  const steps = version.split('.')
  return [...steps.map((_, i) => steps.slice(0, steps.length - i).join('.')), null]
}

/** Null, or an absent list, means every version. */
function versionsOf({ versions }: JsonObject): readonly Json[] {
  return isArray(versions) && versions.length > 0 ? versions : [null]
}

/** The find that a search stands for. */
export function findRequest(saved: JsonObject, values: Values, { limits }: Deps): JsonObject {
  const part = (name: Part): Json =>
    bind(readPart(saved[name] ?? null, name, limits), values, limits.bodyBytes)
  const query = part('query')
  // Without this check, a search without a query would find every document.
  if (query === null) throw new ServiceError('query-api:InvalidQuery', 'the saved search has no query')
  const projection = part('projection')
  const isEmpty = projection === null || (isArray(projection) && projection.length === 0)
  return { query, projection: isEmpty ? EVERYTHING : projection, sort: part('sort') }
}

/**
 * Each bound that the caller sets replaces the stored one; `maxResults` replaces the stored upper
 * bound, and a page the whole range.
 */
function rangeOf({ range }: JsonObject, { maxResults, page }: JsonObject): JsonObject {
  if (page !== undefined) return {}
  const [from = null, to = null] = isArray(range) ? range : []
  return { from, to: maxResults === undefined ? to : null }
}

const EVERYTHING: JsonObject = { field: '*', include: true, recursive: true }
