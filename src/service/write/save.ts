/** Save: replaces documents found by their identity, and inserts the others if the caller requests an upsert. */
import { type Authorized, authorizeSave } from '../../access/authorize.ts'
import type { AllowedSave } from '../../access/requests.ts'
import type { Caller } from '../../access/caller.ts'
import { ServiceError } from '../../base/errors.ts'
import type { Json } from '../../base/json/json.ts'
import { type Work, during, spend } from '../../base/work/work.ts'
import type { Query } from '../../lang/query.ts'
import { resolveProjection } from '../../lang/resolve/resolve.ts'
import { type FieldRef, resolveField, rootScope } from '../../lang/resolve/scope.ts'
import { candidates } from '../../lang/evaluate/candidates.ts'
import type { Change, Draw, SaveItem, StoredDocument } from '../../plan/plan.ts'
import { planSave } from '../../plan/write.ts'
import type { Report } from '../../store/store.ts'
import { carryMembers } from '../../schema/carry.ts'
import { castDocument, prepareDocument } from '../../schema/document.ts'
import { type FaultBudget, faultBudget } from '../../schema/faults.ts'
import { type Field, type SimpleField, isReplacedByOmission } from '../../schema/field.ts'
import type { Schema } from '../../schema/schema.ts'
import type { Freshness } from '../document-version.ts'
import { type Deps, boundsOf, pageBounds, workOf } from '../deps.ts'
import { faultsOfNew } from './denials.ts'
import { createPage } from '../read/page.ts'
import type { SaveRequest } from '../request/request.ts'
import { duplicateFaults } from './duplicates.ts'
import type { DataResponse } from '../response.ts'
import { documentIn, freshnessFor, revise } from './revise.ts'
import { type Tally, createTally } from './write-result.ts'
import { watched } from './outbox-entries.ts'
import { type GeneratingFor, drawSources } from './generated-values.ts'
import { takenIdentities } from './taken-identities.ts'

export async function save(deps: Deps, caller: Caller, request: SaveRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const projection = resolveProjection(request.projection, rootScope(schema))
  const { upsert, atomic } = request
  const identity = request.byId ? [idOf(schema)] : schema.identity
  const allowed = authorizeSave({ schema, identity, projection, upsert, atomic }, caller)
  const freshness = freshnessFor(request.documentVersions, allowed, deps.secret())
  const duplicateFault = duplicateFaults(deps, allowed)
  const work = workOf(deps, request)
  const budget = faultBudget(deps.limits)
  const isConditional = request.documentVersions !== undefined
  const saving = { deps, caller, allowed, identity, freshness, isConditional, budget, work }
  const items = request.data.map((sent) => itemFor(sent, saving))
  const { write, ...remaining } = planSave(allowed, items)
  let tally: Tally | undefined
  // A store may retry the write, so every attempt starts with a new tally.
  const begin = (): Report => {
    tally?.release()
    const page = createPage(allowed, remaining, pageBounds(deps, work))
    const { range, positions } = request
    tally = createTally({ operation: 'save', schema, page, range, duplicateFault, positions })
    return (outcome, item) => tally!.add(outcome, () => JSON.stringify(request.data[item!]!), item)
  }
  const isCommitted = await deps
    .storeOf(schema)
    .write(watched(write, schema, { deps, caller, work }), begin, boundsOf(work, request))
  return tally!.respond(isCommitted)
}

interface Saving extends GeneratingFor {
  readonly allowed: Authorized<AllowedSave>
  /** The fields that identify a document. */
  readonly identity: readonly SimpleField[]
  readonly freshness: Freshness
  /** Whether only listed documents may be saved. */
  readonly isConditional: boolean
  readonly work: Work
  /** The budget for reported faults, shared by all documents. */
  readonly budget: FaultBudget
}

const STEPS_PER_DOCUMENT = 50
/** Of the stored document, which is parsed, carried over, compared, checked and printed. */
const STEPS_PER_CHARACTER = 4

function idOf({ root }: Schema): SimpleField {
  return root.fields.get('_id') as SimpleField
}

function itemFor(sent: Json, saving: Saving): SaveItem {
  const { allowed, identity } = saving
  if (identity.some(allowed.visibility.isHidden)) return { change: refuseBlindly }
  const query = identityQuery(sent, identity, allowed)
  return {
    ...(query && { query }),
    change: (stored, draw) =>
      during(saving.work, () => {
        spend(STEPS_PER_DOCUMENT + STEPS_PER_CHARACTER * (stored?.text.length ?? 0))
        return stored ? replace(stored, sent, { ...saving, draw }) : create(sent, { ...saving, draw })
      }),
  }
}

/** A caller who may not read the identity fields would learn from the response whether such a document exists. */
function refuseBlindly(): Change {
  const message = 'you may not read what names a document, so you cannot save by it'
  return { kind: 'refuse', faults: [new ServiceError('crud:NoAccess', message)] }
}

/** All identity fields equal to the values sent; undefined if one is missing or does not have the type of its field. */
function identityQuery(
  sent: Json,
  identity: readonly SimpleField[],
  { schema }: AllowedSave,
): Query<FieldRef> | undefined {
  const terms: Query<FieldRef>[] = []
  for (const { path, type } of identity) {
    const field = resolveField({ path, at: '/data' }, rootScope(schema))
    const [sentValue] = candidates({ value: sent }, field)
    const value = sentValue === undefined || sentValue === null ? undefined : type.cast(sentValue)
    if (value === undefined) return undefined
    terms.push({ kind: 'compare', field, op: '$eq', value })
  }
  return terms.length === 1 ? terms[0] : { kind: 'and', terms }
}

type SequenceDraws = Saving & { readonly draw: Draw }

/** A save names its documents, so one that is not listed is an error; an update or delete leaves such a document out. */
function unlisted(): ServiceError {
  const message =
    '"documentVersions" does not list this document, or it was deleted since its version was read'
  return new ServiceError('store-crud:ConcurrentUpdate', message)
}

function create(sent: Json, saving: SequenceDraws): Change {
  const { allowed, isConditional, draw, budget } = saving
  const unusable = allowed.upsert ? [] : identityFaults(sent, saving)
  if (unusable.length > 0) return { kind: 'refuse', faults: unusable }
  if (isConditional) return { kind: 'refuse', faults: [unlisted()] }
  if (!allowed.upsert) {
    const message = 'no document has this identity; send "upsert": true to insert new ones'
    return { kind: 'refuse', faults: [new ServiceError('store-crud:SaveError', message)] }
  }
  const { schema } = allowed
  const drawing = drawSources(saving, draw, { faults: budget, isTaken: takenIdentities(schema, [sent]) })
  const prepared = prepareDocument(schema, sent, { ...drawing, mayListEnum: allowed.isReachable })
  const faults = faultsOfNew(prepared, allowed, budget)
  return faults.length > 0 ? { kind: 'refuse', faults } : { kind: 'write', document: prepared.document }
}

/** Without them, a value that cannot be an identity would look like one that no document has. */
function identityFaults(sent: Json, { allowed, identity, budget }: SequenceDraws): readonly ServiceError[] {
  const { faults } = castDocument(allowed.schema, sent, budget)
  return faults.filter(({ context }) =>
    identity.some(({ path }) => path === context || path.startsWith(`${context}.`)),
  )
}

/**
 * Fields that are hidden or belong to another version are carried over first; only then values are generated,
 * required fields checked and states compared.
 */
function replace(stored: StoredDocument, sent: Json, drawing: SequenceDraws): Change {
  const { allowed, freshness, draw, budget } = drawing
  const state = freshness(stored)
  if (state === 'unlisted') return { kind: 'refuse', faults: [unlisted()] }
  if (state !== 'current') return { kind: 'refuse', faults: [state] }
  const { schema } = allowed
  const { document, faults, sentFields } = castDocument(schema, sent, budget)
  if (faults.length > 0) return { kind: 'refuse', faults }
  const before = documentIn(stored)
  const visibility = allowed.visibilityOf?.(before) ?? allowed.visibility
  const { isHidden } = visibility
  // `_id` is the stored one, even if the document was found by another identity.
  const named = { ...document, _id: before['_id']! }
  // An omitted value that the service generates would be generated again. That is a change, which not every
  // caller may make.
  const isCarried = (field: Field): boolean =>
    isHidden(field) || (isReplacedByOmission(field) && !allowed.mayUpdate(field, before))
  const after = carryMembers(before, named, schema.root.fields, isCarried)
  const hiddenNamed = hiddenAmong(sentFields, isHidden)
  return revise(
    { schema, before, after, visibility, hiddenNamed },
    allowed,
    drawSources(drawing, draw, { faults: budget, isTaken: takenIdentities(schema, [after]) }),
  )
}

function hiddenAmong(sentFields: ReadonlyMap<string, Field>, isHidden: (field: Field) => boolean) {
  return new Map([...sentFields].filter(([, field]) => isHidden(field)))
}
