/** Insert: prepares documents one by one, writes the sound ones together, and reports the faults of the others. */
import { authorizeInsert } from '../../access/authorize.ts'
import type { AllowedInsert } from '../../access/requests.ts'
import type { Caller } from '../../access/caller.ts'
import type { ServiceError } from '../../base/errors.ts'
import type { Json, JsonObject } from '../../base/json/json.ts'
import { type Work, during, spend } from '../../base/work/work.ts'
import { resolveProjection } from '../../lang/resolve/resolve.ts'
import { rootScope } from '../../lang/resolve/scope.ts'
import type { Outcome } from '../../plan/plan.ts'
import type { Report } from '../../store/store.ts'
import { planInsert } from '../../plan/write.ts'
import { prepareDocument } from '../../schema/document.ts'
import { faultsOfNew } from './denials.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { createPage } from '../read/page.ts'
import type { InsertRequest } from '../request/request.ts'
import { duplicateFaults } from './duplicates.ts'
import type { DataResponse, JsonText } from '../response.ts'
import { type Tally, createTally } from './write-result.ts'
import { watched } from './outbox-entries.ts'
import { type GeneratingFor, sourcesFor } from './generated-values.ts'

export async function insert(deps: Deps, caller: Caller, request: InsertRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const projection = resolveProjection(request.projection, rootScope(schema))
  const allowed = authorizeInsert({ schema, projection, atomic: request.atomic }, caller)
  const duplicateFault = duplicateFaults(deps, allowed)
  const work = workOf(deps, request)
  const drafts = await prepareAll({ deps, caller }, request.data, { allowed, work })
  const { write, ...remaining } = planInsert(
    allowed,
    drafts.filter(isSound).map(({ document }) => document),
  )
  const start = (): Tally => {
    const page = createPage(allowed, remaining, pageBounds(deps, work))
    const { range, positions } = request
    return createTally({ operation: 'insert', schema, page, range, duplicateFault, positions })
  }
  const isHopeless = write.atomic && !drafts.every(isSound)
  if (isHopeless || write.documents.length === 0) {
    const tally = start()
    for (const draft of drafts) tally.add(refusal(draft), () => echo(draft))
    return tally.respond(!isHopeless)
  }
  let tally: Tally | undefined
  // A store may retry the write, so every attempt starts with a new tally.
  const begin = (): Report => {
    tally?.release()
    tally = start()
    return inOrder(drafts, tally.add)
  }
  const isCommitted = await deps
    .storeOf(schema)
    .write(watched(write, schema, { deps, caller, work }), begin, boundsOf(work, request))
  return tally!.respond(isCommitted)
}

interface Draft {
  readonly sent: Json
  readonly document: JsonObject
  readonly faults: readonly ServiceError[]
}

async function prepareAll(
  origin: GeneratingFor,
  data: readonly Json[],
  { allowed, work }: { readonly allowed: AllowedInsert; readonly work: Work },
): Promise<readonly Draft[]> {
  const drawn = await sourcesFor(origin, allowed.schema, { data, work })
  const sources = { ...drawn, mayListEnum: allowed.isReachable }
  return during(work, () =>
    data.map((sent) => {
      spend(STEPS_PER_DOCUMENT)
      const prepared = prepareDocument(allowed.schema, sent, sources)
      return { sent, document: prepared.document, faults: faultsOfNew(prepared, allowed, sources.faults) }
    }),
  )
}

/** Checking a small document takes a few microseconds. */
const STEPS_PER_DOCUMENT = 50

function isSound({ faults }: Draft): boolean {
  return faults.length === 0
}

function refusal({ faults }: Draft): Outcome {
  return { kind: 'refused', faults }
}

function echo({ sent }: Draft): JsonText {
  return JSON.stringify(sent)
}

/**
 * The store reports outcomes of sound documents only, so faulty ones are inserted at their positions. All of
 * them are added before the last report returns, while the write can still be rolled back.
 */
function inOrder(drafts: readonly Draft[], add: Tally['add']): Report {
  let next = 0
  const passFaulty = (): void => {
    for (; next < drafts.length && !isSound(drafts[next]!); next++) {
      const draft = drafts[next]!
      add(refusal(draft), () => echo(draft))
    }
  }
  return (outcome) => {
    passFaulty()
    const draft = drafts[next++]!
    add(outcome, () => echo(draft))
    passFaulty()
  }
}
