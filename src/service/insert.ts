/** Insert: documents are made ready one by one, the sound ones commit together, the others say what is wrong. */
import { type AllowedInsert, authorizeInsert } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import type { Json, JsonObject } from '../base/json.ts'
import { resolveProjection, rootScope } from '../lang/resolve.ts'
import type { InsertPlan } from '../plan/plan.ts'
import { planInsert } from '../plan/write.ts'
import { type Prepared, prepareDocument } from '../schema/document.ts'
import type { Schema } from '../schema/schema.ts'
import type { InsertOutcome, StoredDocument } from '../store/store.ts'
import type { Deps } from './deps.ts'
import { type Page, createPage } from './page.ts'
import type { InsertRequest, Range } from './request.ts'
import { type DataError, type DataResponse, statusOf } from './response.ts'
import { sourcesFor } from './values.ts'

export async function insert(deps: Deps, caller: Caller, request: InsertRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const projection = resolveProjection(request.projection, rootScope(schema))
  const allowed = authorizeInsert({ schema, projection, atomic: request.atomic }, caller)
  const drafts = await prepareAll(deps, schema, request.data, allowed)
  const { write, ...remaining } = planInsert(allowed, soundOf(drafts))
  const outcomes = merge(drafts, await store(deps, schema, write, drafts))
  const page = createPage({
    schema,
    ...remaining,
    showsId: allowed.showsId,
    maxBytes: deps.limits.resultBytes,
  })
  const stored = outcomes.filter((outcome) => outcome.kind === 'stored')
  takeRange(stored, request.range, page)
  return respond(schema, { request, outcomes, stored: stored.length, page })
}

/** What became of a document: what the store said, or what was wrong before it was asked. */
type Outcome = InsertOutcome | { readonly kind: 'refused'; readonly faults: readonly ServiceError[] }

interface Draft {
  readonly document: JsonObject
  readonly faults: readonly ServiceError[]
}

async function prepareAll(
  deps: Deps,
  schema: Schema,
  data: readonly Json[],
  allowed: AllowedInsert,
): Promise<readonly Draft[]> {
  const sources = await sourcesFor(deps, schema, data)
  return data.map((sent) => {
    const prepared = prepareDocument(schema, sent, sources)
    return { document: prepared.document, faults: [...prepared.faults, ...denials(prepared, allowed)] }
  })
}

/** A denied container stands for everything below it. */
function denials({ given }: Prepared, { mayInsert }: AllowedInsert): readonly ServiceError[] {
  const denied: string[] = []
  for (const [path, field] of given) {
    const isTold = denied.some((above) => path.startsWith(`${above}.`))
    if (!isTold && !mayInsert(field)) denied.push(path)
  }
  return denied.map(
    (path) =>
      new ServiceError('crud:insert:NoFieldAccess', `you may not insert "${path}"`, { context: path }),
  )
}

function soundOf(drafts: readonly Draft[]): readonly JsonObject[] {
  return drafts.filter(({ faults }) => faults.length === 0).map(({ document }) => document)
}

/** The store is not asked when nothing could come of it. */
async function store(
  deps: Deps,
  schema: Schema,
  plan: InsertPlan,
  drafts: readonly Draft[],
): Promise<readonly InsertOutcome[]> {
  const isHopeless = plan.atomic && plan.documents.length < drafts.length
  if (isHopeless || plan.documents.length === 0) return plan.documents.map(() => ({ kind: 'rolledBack' }))
  return await deps.storeOf(schema).insert(plan)
}

function merge(drafts: readonly Draft[], stored: readonly InsertOutcome[]): readonly Outcome[] {
  const results = stored.values()
  return drafts.map(({ faults }) => (faults.length > 0 ? { kind: 'refused', faults } : results.next().value!))
}

/** The range only chooses which of the stored documents are shown. */
function takeRange(stored: readonly { readonly document: StoredDocument }[], range: Range, page: Page): void {
  const end = range.to === undefined ? undefined : Math.max(range.to + 1, 0)
  for (const { document } of stored.slice(range.from, end)) page.take(document)
}

interface Done {
  readonly request: InsertRequest
  readonly outcomes: readonly Outcome[]
  readonly stored: number
  readonly page: Page
}

function respond(schema: Schema, { request, outcomes, stored, page }: Done): DataResponse {
  const context = `insert(${schema.entity}:${schema.version})`
  const dataErrors = outcomes.flatMap((outcome, i): DataError[] => {
    if (outcome.kind === 'stored') return []
    const errors = faultsOf(outcome).map((fault) => fault.within(context).toObject())
    return [{ data: request.data[i]!, errors }]
  })
  return {
    entity: schema.entity,
    entityVersion: schema.version,
    status: statusOf(outcomes.length, dataErrors.length),
    modifiedCount: stored,
    matchCount: 0,
    processed: page.processed,
    resultMetadata: page.resultMetadata,
    dataErrors,
  }
}

function faultsOf(outcome: Exclude<Outcome, { kind: 'stored' }>): readonly ServiceError[] {
  switch (outcome.kind) {
    case 'refused':
      return outcome.faults
    case 'duplicate':
      return [
        new ServiceError(
          'store-crud:Duplicate',
          'a document with this identity or unique value exists already',
        ),
      ]
    case 'rolledBack':
      return [
        new ServiceError('crud:Rolledback', 'taken back because another document of the request failed'),
      ]
  }
}
