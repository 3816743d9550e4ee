/**
 * Reads the groups of an aggregate: in one statement, or from the documents one by one where the store cannot evaluate
 * everything.
 */
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { during, spend } from '../../base/work/work.ts'
import type { Group } from '../../lang/aggregate.ts'
import { compileAggregation, pageOf } from '../../lang/evaluate/aggregate.ts'
import { type AggregatePlan, lastGroupOf } from '../../plan/aggregate.ts'
import type { ReadPlan } from '../../plan/plan.ts'
import type { BeginGroups, Explanation, Found, OnGroup } from '../../store/store.ts'
import { groupsTooLarge } from '../memory-limits.ts'
import { type RemoteJoins, documentsOfLinks, resolveRemoteJoins } from './embed/remote-joins.ts'
import type { PageReading } from './read-page.ts'
import { type SharedReadContext, sharing } from './read-context.ts'
import { visit } from './scan.ts'

export async function readGroups(
  plan: AggregatePlan,
  reading: PageReading,
  begin: BeginGroups,
): Promise<Found> {
  const shared = { ...sharing(reading), schema: reading.schema }
  const remote = await resolveRemoteJoins(readOf(plan), shared.schema, shared)
  if (!isPushable(plan, remote, shared))
    return await evaluate(plan, remote, { reading: shared, onGroup: begin() })
  const pushed = pushedPlan(plan, remote)
  const store = shared.deps.storeOf(shared.schema)
  if (hasPushableHaving(plan, shared)) return await store.aggregate(pushed, begin, shared.bounds)
  return await selectHere(plan, pushed, { reading: shared, begin })
}

/** The engine's plan; `isResidual` if the service evaluates a part on the documents or groups read. */
export async function explainGroups(
  plan: AggregatePlan,
  reading: PageReading,
): Promise<Explanation & { readonly isResidual: boolean }> {
  const shared = { ...sharing(reading), schema: reading.schema }
  const { deps, schema, bounds } = shared
  const remote = await resolveRemoteJoins(readOf(plan), schema, shared)
  const store = deps.storeOf(schema)
  const isWhole = isPushable(plan, remote, shared) && hasPushableHaving(plan, shared)
  if (isWhole)
    return { ...(await store.explainAggregate(pushedPlan(plan, remote), bounds)), isResidual: false }
  const explained = isPushable(plan, remote, shared)
    ? await store.explainAggregate(withoutSelection(pushedPlan(plan, remote)), bounds)
    : await store.explain(remote.read, bounds)
  const { matchCount } = await readGroups(plan, shared, () => () => undefined)
  return { ...explained, matchCount, isResidual: true }
}

type Reading = SharedReadContext & Pick<PageReading, 'schema'>

/** The documents of an aggregate, as a read. */
function readOf({ collection, idType, query }: AggregatePlan): ReadPlan {
  return { collection, idType, ...(query && { query }), sort: [], from: 0, counted: false }
}

/** Whether the store can group the rows. */
function isPushable(plan: AggregatePlan, { read, isMatch }: RemoteJoins, { deps, schema }: Reading): boolean {
  const store = deps.storeOf(schema)
  return !isMatch && (!read.query || store.answers(read.query)) && store.canAggregate(plan)
}

function hasPushableHaving({ aggregation: { having } }: AggregatePlan, { deps, schema }: Reading): boolean {
  return !having || deps.storeOf(schema).answers(having)
}

function pushedPlan(plan: AggregatePlan, { read }: RemoteJoins): AggregatePlan {
  const { query: _, ...rest } = plan
  return { ...rest, ...(read.query && { query: read.query }) }
}

/** All groups, in any order. */
function withoutSelection({ aggregation, ...plan }: AggregatePlan): AggregatePlan {
  const { having: _, ...rest } = aggregation
  return { ...plan, aggregation: { ...rest, sort: [] }, from: 0, to: Number.MAX_SAFE_INTEGER }
}

interface Selecting {
  readonly reading: Reading
  readonly begin: BeginGroups
}

/** The store groups; `having`, order and page are evaluated here. */
async function selectHere(
  plan: AggregatePlan,
  pushed: AggregatePlan,
  { reading, begin }: Selecting,
): Promise<Found> {
  const { deps, schema, bounds, shared } = reading
  let groups: Group[] = []
  const collect: BeginGroups = () => {
    groups = []
    return (group) => {
      shared.held.hold(BYTES_PER_VALUE * (1 + group.length), () => groupsTooLarge(shared.held))
      groups.push(group)
    }
  }
  await deps.storeOf(schema).aggregate(withoutSelection(pushed), collect, bounds)
  return passOn(reading, begin(), () => pageOf(groups, plan.aggregation, rangeOf(plan)))
}

const BYTES_PER_VALUE = 50

interface Evaluating {
  readonly reading: Reading
  readonly onGroup: OnGroup
}

/** Every document is read, and its rows are grouped here. */
async function evaluate(
  plan: AggregatePlan,
  { read, isMatch }: RemoteJoins,
  { reading, onGroup }: Evaluating,
): Promise<Found> {
  const { timeSlice, held } = reading.shared
  const documents = await documentsOfLinks(plan.aggregation.chain, reading)
  const aggregator = compileAggregation(plan.aggregation, {
    documentsOf: (link) => documents.get(link)!,
    hold: (bytes) => held.hold(bytes, () => groupsTooLarge(held)),
    shouldYield: timeSlice.shouldYield,
  })
  await visit(read, { schema: reading.schema, reading }, function* (document) {
    if (isMatch && !(yield* isMatch(document))) return true
    spend(document.text.length / CHARACTERS_PARSED_PER_STEP)
    yield* aggregator.add(parseTrusted(document.text))
    return true
  })
  return passOn(reading, onGroup, () => aggregator.page(rangeOf(plan)))
}

const CHARACTERS_PARSED_PER_STEP = 8

function passOn(
  { bounds: { work } }: Reading,
  onGroup: OnGroup,
  select: () => ReturnType<typeof pageOf>,
): Found {
  const { groups, matchCount } = work ? during(work, select) : select()
  for (const group of groups) onGroup(group)
  return { matchCount }
}

function rangeOf(plan: AggregatePlan) {
  return { from: plan.from, to: lastGroupOf(plan) }
}
