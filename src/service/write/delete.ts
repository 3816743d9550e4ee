/** Delete: removes every document that matches, in one transaction. */
import { type Authorized, authorizeDelete } from '../../access/authorize.ts'
import type { Caller } from '../../access/caller.ts'
import type { AllowedDelete } from '../../access/requests.ts'
import { during, spend } from '../../base/work/work.ts'
import type { DeletePlan } from '../../plan/plan.ts'
import { planDelete } from '../../plan/write.ts'
import type { Report } from '../../store/store.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { createPage } from '../read/page.ts'
import { resolveSelection } from '../read/resolve-request.ts'
import type { DeleteRequest } from '../request/request.ts'
import { type DataResponse, complete } from '../response.ts'
import { freshnessFor, nameOf } from './revise.ts'
import { selectFirst } from './select-first.ts'
import { watched } from './outbox-entries.ts'
import { type Tally, createTally } from './write-result.ts'

export async function remove(deps: Deps, caller: Caller, request: DeleteRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const query = resolveSelection(request.query, schema, deps)
  const allowed = authorizeDelete({ schema, query, atomic: request.atomic }, caller)
  const work = workOf(deps, request)
  const bounds = boundsOf(work, request)
  const decide = decideBy(deps, allowed, request)
  const wanted = planDelete(allowed, decide && ((stored) => during(work, () => decide(stored))))
  const plan = await selectFirst(wanted, schema, { deps, bounds })
  let count = 0
  let tally: Tally | undefined
  // A store may retry the write, so every attempt starts with new counts.
  const begin = (): Report => {
    count = 0
    // without a condition no document can fail, so none of them is remembered
    if (!decide) return () => count++
    tally?.release()
    const page = createPage(allowed, { isWhole: false }, pageBounds(deps, work))
    tally = createTally({ operation: 'delete', schema, page, range: { from: 0 } })
    return (outcome) => {
      count++
      tally!.add(outcome, () => nameOf(outcome, allowed))
    }
  }
  const isCommitted = await deps
    .storeOf(schema)
    .write(watched(plan, schema, { deps, caller, work }), begin, bounds)
  if (!tally) return complete(schema, { modifiedCount: count, matchCount: count })
  const { processed: _, resultMetadata: __, ...response } = tally.respond(isCommitted)
  return { ...response, matchCount: count }
}

const STEPS_PER_DOCUMENT = 50

/** Undefined if the request has no condition. */
function decideBy(
  deps: Deps,
  allowed: Authorized<AllowedDelete>,
  { documentVersions }: DeleteRequest,
): DeletePlan['decide'] {
  if (!documentVersions) return undefined
  const freshness = freshnessFor(documentVersions, allowed, deps.secret())
  return (stored) => {
    spend(STEPS_PER_DOCUMENT + stored.text.length)
    const state = freshness(stored)
    if (state === 'current') return { kind: 'delete' }
    return state === 'unlisted' ? { kind: 'skip' } : { kind: 'refuse', faults: [state] }
  }
}
