/** Update: every document that matches, in its newest state, is changed by the expression, checked and written. */
import { type Authorized, authorizeUpdate } from '../access/authorize.ts'
import type { AllowedChange } from '../access/requests.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isNumber, parseTrusted } from '../base/json.ts'
import { compileUpdate } from '../lang/apply.ts'
import { resolveUpdate } from '../lang/resolve-update.ts'
import { resolveProjection, resolveQuery } from '../lang/resolve.ts'
import { rootScope } from '../lang/scope.ts'
import type { Outcome, StoredDocument, UpdatePlan } from '../plan/plan.ts'
import { planUpdate } from '../plan/write.ts'
import type { Report } from '../store/store.ts'
import { freshnessBy } from './document-version.ts'
import { type Deps, boundsOf, pageBounds } from './deps.ts'
import { type Page, createPage } from './page.ts'
import type { UpdateRequest } from './request.ts'
import type { DataResponse } from './response.ts'
import { hiddenDenial, revise } from './revise.ts'
import { type Tally, createTally } from './tally.ts'
import { drawingSources } from './values.ts'

export async function update(deps: Deps, caller: Caller, request: UpdateRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const scope = rootScope(schema)
  const allowed = authorizeUpdate(
    {
      schema,
      query: resolveQuery(request.query, scope),
      update: resolveUpdate(request.update, scope),
      projection: resolveProjection(request.projection, scope),
      atomic: request.atomic,
    },
    caller,
  )
  const { write, ...remaining } = planUpdate(allowed, changeBy(deps, allowed, request))
  const { showsId } = allowed
  let tally!: Tally
  let matchCount = 0
  const begin = (): Report => {
    const page = createPage(allowed, remaining, pageBounds(deps))
    tally = createTally({ operation: 'update', schema, page, range: request.range })
    matchCount = 0
    return (outcome) => {
      matchCount++
      tally.add(outcome, sighted(outcome, page, { request, showsId }))
    }
  }
  const isCommitted = await deps.storeOf(schema).write(write, begin, boundsOf(deps, request))
  return { ...tally.respond(isCommitted), matchCount }
}

/** What becomes of one document. */
function changeBy(
  deps: Deps,
  allowed: Authorized<AllowedChange>,
  request: UpdateRequest,
): UpdatePlan['change'] {
  const { schema, isHidden } = allowed
  const apply = compileUpdate(allowed.update, isHidden)
  const freshness = freshnessBy(request.documentVersions, {
    showsId: allowed.showsId,
    secret: deps.secret(),
  })
  const hiddenNamed = new Map(allowed.hiddenTargets.map(({ field }) => [field.path, field]))
  const denied = hiddenDenial(hiddenNamed, allowed)
  return (stored, draw) => {
    const state = freshness(stored)
    if (state === 'unlisted') return { kind: 'skip' }
    if (state !== 'current') return { kind: 'refuse', faults: [state] }
    if (denied) return { kind: 'refuse', faults: [denied] }
    const before = parseTrusted(stored.text) as JsonObject
    const after = parseTrusted(stored.text) as JsonObject
    try {
      apply(after)
      requireDepth(after, deps.limits.nesting)
    } catch (error) {
      if (error instanceof ServiceError) return { kind: 'refuse', faults: [error] }
      throw error
    }
    return revise({ schema, before, after, hiddenNamed }, allowed, drawingSources(deps, draw))
  }
}

/** Copies into fields of type any can nest without end; documents are no deeper than requests may be. */
function requireDepth(document: JsonObject, limit: number): void {
  if (depthOf(document) <= limit) return
  throw new ServiceError('crud:LimitExceeded', `the document would be nested deeper than ${limit} levels`)
}

function depthOf(value: Json): number {
  if (typeof value !== 'object' || value === null || isNumber(value)) return 0
  return 1 + Object.values(value).reduce<number>((depth, each) => Math.max(depth, depthOf(each)), 0)
}

/** A document that failed, as the caller may see it: projected as asked, or by its `_id`. */
function sighted(
  outcome: Outcome,
  page: Page,
  { request, showsId }: { readonly request: UpdateRequest; readonly showsId: boolean },
): Json {
  const document = 'document' in outcome ? outcome.document : undefined
  if (!document || (outcome.kind !== 'refused' && outcome.kind !== 'duplicate')) return {}
  if (request.projection.length > 0) return parseTrusted(page.show(document))
  return showsId ? { _id: idOf(document) } : {}
}

function idOf({ text }: StoredDocument): Json {
  return (parseTrusted(text) as JsonObject)['_id']!
}
