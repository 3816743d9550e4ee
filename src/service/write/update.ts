/**
 * Update: applies the expression to the newest state of every document that matches, checks the result and
 * writes it.
 */
import { type Authorized, authorizeUpdate } from '../../access/authorize.ts'
import type { AllowedChange, Visibility } from '../../access/requests.ts'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import { type Json, type JsonObject, isNumber } from '../../base/json/json.ts'
import { memoized } from '../../base/memo.ts'
import { during, spend } from '../../base/work/work.ts'
import { compileUpdate, writesWholeMembers } from '../../lang/evaluate/apply.ts'
import { resolveUpdate } from '../../lang/resolve/resolve-update.ts'
import { resolveProjection } from '../../lang/resolve/resolve.ts'
import { rootScope } from '../../lang/resolve/scope.ts'
import type { Outcome, UpdatePlan } from '../../plan/plan.ts'
import { planUpdate } from '../../plan/write.ts'
import type { Report } from '../../store/store.ts'
import { faultBudget } from '../../schema/faults.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { resolveSelection } from '../read/resolve-request.ts'
import { type Page, createPage } from '../read/page.ts'
import type { UpdateRequest } from '../request/request.ts'
import { duplicateFaults } from './duplicates.ts'
import type { DataResponse, JsonText } from '../response.ts'
import { documentIn, freshnessFor, hiddenDenial, nameOf, revise } from './revise.ts'
import { selectFirst } from './select-first.ts'
import { type Tally, createTally } from './write-result.ts'
import { watched } from './outbox-entries.ts'
import { type GeneratingFor, drawSources } from './generated-values.ts'
import { takenIdentities } from './taken-identities.ts'

export async function update(deps: Deps, caller: Caller, request: UpdateRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const scope = rootScope(schema)
  const allowed = authorizeUpdate(
    {
      schema,
      query: resolveSelection(request.query, schema, deps),
      update: resolveUpdate(request.update, scope),
      projection: resolveProjection(request.projection, scope),
      atomic: request.atomic,
    },
    caller,
  )
  const duplicateFault = duplicateFaults(deps, allowed)
  const work = workOf(deps, request)
  const change = changeBy({ deps, caller }, allowed, request)
  const { write: wanted, ...remaining } = planUpdate(allowed, (stored, draw) =>
    during(work, () => change(stored, draw)),
  )
  const bounds = boundsOf(work, request)
  const write = await selectFirst(wanted, schema, { deps, bounds })
  let tally: Tally | undefined
  let matchCount = 0
  // A store may retry the write, so every attempt starts with a new tally.
  const begin = (): Report => {
    tally?.release()
    const page = createPage(allowed, remaining, pageBounds(deps, work))
    tally = createTally({ operation: 'update', schema, page, range: request.range, duplicateFault })
    matchCount = 0
    return (outcome) => {
      matchCount++
      tally!.add(outcome, () => visible(outcome, page, { request, allowed }))
    }
  }
  const isCommitted = await deps
    .storeOf(schema)
    .write(watched(write, schema, { deps, caller, work }), begin, bounds)
  return { ...tally!.respond(isCommitted), matchCount }
}

function changeBy(
  origin: GeneratingFor,
  allowed: Authorized<AllowedChange>,
  request: UpdateRequest,
): UpdatePlan['change'] {
  const { deps } = origin
  const { schema, update, targets } = allowed
  const freshness = freshnessFor(request.documentVersions, allowed, deps.secret())
  const budget = faultBudget(deps.limits)
  const sharesMembers = writesWholeMembers(update)
  const readied = memoized((visibility: Visibility) => ({
    apply: compileUpdate(update, visibility.isHidden),
    hiddenNamed: new Map(
      targets.filter(({ field }) => visibility.isHidden(field)).map(({ field }) => [field.path, field]),
    ),
  }))
  return (stored, draw) => {
    const state = freshness(stored)
    if (state === 'unlisted') return { kind: 'skip' }
    if (state !== 'current') return { kind: 'refuse', faults: [state] }
    spend(stored.text.length * STEPS_PER_CHARACTER)
    const before = documentIn(stored)
    const visibility = allowed.visibilityOf?.(before) ?? allowed.visibility
    const { apply, hiddenNamed } = readied(visibility)
    const denied = hiddenDenial({ hiddenNamed, before }, allowed)
    if (denied) return { kind: 'refuse', faults: [denied] }
    // Parsed again where the update changes what is inside of a member: a copy of everything takes longer than that.
    const after = sharesMembers ? { ...before } : documentIn(stored)
    try {
      apply(after)
      requireDepth(after, deps.limits.nesting)
    } catch (error) {
      if (error instanceof ServiceError) return { kind: 'refuse', faults: [error] }
      throw error
    }
    return revise(
      { schema, before, after, visibility, hiddenNamed },
      allowed,
      drawSources(origin, draw, { faults: budget, isTaken: takenIdentities(schema, [after]) }),
    )
  }
}

/**
 * Covers parsing the document, twice for some updates, and changing, comparing, checking and printing it: as measured with arrays of small
 * objects, which take longest.
 */
const STEPS_PER_CHARACTER = 3

/** Copies into fields of type any can nest without limit; documents must not be deeper than requests may be. */
function requireDepth(document: JsonObject, limit: number): void {
  if (depthOf(document) <= limit) return
  throw new ServiceError('crud:LimitExceeded', `the document would be nested deeper than ${limit} levels`)
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null || isNumber(value)) return 0
  return 1 + Object.values(value).reduce<number>((depth, each) => Math.max(depth, depthOf(each)), 0)
}

/** A document that failed, as the caller may see it: by the requested projection, or by its `_id` only. */
function visible(
  outcome: Outcome,
  page: Page,
  { request, allowed }: { readonly request: UpdateRequest; readonly allowed: AllowedChange },
): JsonText {
  const document = 'document' in outcome ? outcome.document : undefined
  if (!document || (outcome.kind !== 'refused' && outcome.kind !== 'duplicate')) return '{}'
  return request.projection.length > 0 ? page.show(document) : nameOf(outcome, allowed)
}
