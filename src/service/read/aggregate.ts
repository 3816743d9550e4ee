/** Aggregate: groups of documents, or of elements of their arrays, under the same access rules as a find. */
import { type Authorized, authorizeAggregate } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import type { AllowedAggregate } from '../../access/requests.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { type Work, during, spend } from '../../base/work/work.ts'
import { type Aggregation, type Group, MAX_GROUPS, shownResult } from '../../lang/aggregate.ts'
import { type Named, printQuery } from '../../lang/query.ts'
import { printSort } from '../../lang/sort.ts'
import { type AggregatePlan, planAggregate } from '../../plan/aggregate.ts'
import type { BeginGroups } from '../../store/store.ts'
import { type Deps, boundsOf, workOf } from '../deps.ts'
import { tooLargeResult, tooManyGroups } from '../memory-limits.ts'
import type { AggregateRequest } from '../request/request.ts'
import { type DataResponse, type JsonText, complete } from '../response.ts'
import { REDACTED_EXPLANATION } from './explain.ts'
import { explainGroups, readGroups } from './read-groups.ts'
import { resolveAggregating } from './resolve-request.ts'

export async function aggregate(
  deps: Deps,
  caller: Caller,
  request: AggregateRequest,
): Promise<DataResponse> {
  const allowed = resolveAndAuthorize(deps, caller, request)
  const { schema } = allowed
  const plan = planAggregate(allowed)
  const work = workOf(deps, request)
  const page = createPage(plan, work)
  const { matchCount } = await readGroups(plan, { deps, schema, bounds: boundsOf(work, request) }, page.begin)
  return complete(schema, { matchCount: request.counted ? matchCount : 0, processed: page.processed() })
}

/** Shows what an aggregate would do, under the same access rules. */
export async function explainAggregate(
  deps: Deps,
  caller: Caller,
  request: AggregateRequest,
): Promise<DataResponse> {
  const allowed = resolveAndAuthorize(deps, caller, request)
  const { schema } = allowed
  const bounds = boundsOf(workOf(deps, request), request)
  const explained = await explainGroups(planAggregate(allowed), { deps, schema, bounds })
  const { query, plan } = allowed.isNarrowed ? REDACTED_EXPLANATION : explained
  const entry = {
    [deps.storeOf(schema).kind]: { query: query as unknown as Json, plan },
    request: printRequest(request),
    ...(explained.isResidual && { residual: true }),
  }
  return complete(schema, { matchCount: explained.matchCount, processed: [JSON.stringify(entry)] })
}

function resolveAndAuthorize(
  deps: Deps,
  caller: Caller,
  request: AggregateRequest,
): Authorized<AllowedAggregate> {
  const schema = deps.schemaOf(request.entity, request.version)
  return authorizeAggregate(
    { schema, ...resolveAggregating(request, schema, deps), ...request.range },
    caller,
  )
}

interface GroupPage {
  readonly begin: BeginGroups
  readonly processed: () => readonly JsonText[]
}

/** Prints groups as they arrive; they count towards the size of the response. */
function createPage({ aggregation, to }: AggregatePlan, work: Work): GroupPage {
  const members = aggregation.results.map(({ path, kind }) => ({ name: JSON.stringify(path), kind }))
  const print = (group: Group): JsonText => {
    const printed = members.map(
      ({ name, kind }, i) => `${name}:${JSON.stringify(shownResult(group[i]!, kind))}`,
    )
    return `{${printed.join(',')}}`
  }
  let processed: JsonText[] = []
  let reserved = 0
  return {
    begin() {
      work.releaseResponse(reserved)
      reserved = 0
      processed = []
      return (group) =>
        during(work, () => {
          if (to === undefined && processed.length === MAX_GROUPS) throw tooManyGroups()
          const text = print(group)
          spend(STEPS_PER_GROUP + text.length / CHARACTERS_PER_STEP)
          work.reserveResponse(text.length, tooLargeResult)
          reserved += text.length
          processed.push(text)
        })
    },
    processed: () => processed,
  }
}

const STEPS_PER_GROUP = 10
const CHARACTERS_PER_STEP = 16

/** The effective request, as the service parsed it. */
function printRequest({ query, aggregation, range }: AggregateRequest): JsonObject {
  const { having, sort } = aggregation
  return {
    ...(query && { query: printQuery(query) }),
    groupBy: aggregation.keys.map(printKey),
    values: Object.fromEntries(aggregation.values.map((value) => [value.name, printValue(value)])),
    ...(having && { having: printQuery(having) }),
    ...(sort.length > 0 && { sort: printSort(sort) }),
    ...(range.from > 0 && { from: range.from }),
    ...(range.to !== undefined && { to: range.to }),
  }
}

function printKey({ name, field, truncate }: Aggregation<Named>['keys'][number]): Json {
  return {
    field: field.path,
    as: name,
    ...(truncate && { truncate: truncate.period, timeZone: truncate.timeZone ?? 'UTC' }),
  }
}

function printValue(value: Aggregation<Named>['values'][number]): Json {
  return { [value.op]: 'field' in value ? value.field.path : true }
}
