/** Save: documents found by their identity are replaced, the others inserted when the caller asks for that. */
import { type AllowedSave, type Authorized, authorizeSave } from '../access/authorize.ts'
import type { Caller } from '../access/caller.ts'
import { ServiceError } from '../base/errors.ts'
import { type Json, type JsonObject, isObject, parseTrusted } from '../base/json.ts'
import type { Query } from '../lang/query.ts'
import { type FieldRef, resolveField, resolveProjection, rootScope } from '../lang/resolve.ts'
import { candidates } from '../lang/match.ts'
import type { Change, Draw, SaveItem, StoredDocument } from '../plan/plan.ts'
import { planSave } from '../plan/write.ts'
import { carryMembers } from '../schema/carry.ts'
import { prepareDocument } from '../schema/document.ts'
import type { Field } from '../schema/field.ts'
import { type Freshness, freshnessBy } from './document-version.ts'
import { type Deps, boundsOf } from './deps.ts'
import { denials } from './denials.ts'
import { createPage } from './page.ts'
import type { SaveRequest } from './request.ts'
import type { DataResponse } from './response.ts'
import { revise } from './revise.ts'
import { createTally } from './tally.ts'
import { drawingSources } from './values.ts'

export async function save(deps: Deps, caller: Caller, request: SaveRequest): Promise<DataResponse> {
  const schema = deps.schemaOf(request.entity, request.version)
  const projection = resolveProjection(request.projection, rootScope(schema))
  const { upsert, atomic } = request
  const allowed = authorizeSave({ schema, projection, upsert, atomic }, caller)
  const freshness = freshnessBy(request.documentVersions, allowed.showsId)
  // The store tells of an outcome right after it asked for the change that led to it.
  let current: Json = null
  const items = request.data.map((sent) =>
    itemFor(sent, { deps, allowed, freshness, onTurn: () => (current = sent) }),
  )
  const { write, ...remaining } = planSave(allowed, items)
  const page = createPage(allowed, remaining, deps.limits.resultBytes)
  const tally = createTally({ operation: 'save', schema, page, range: request.range })
  const isCommitted = await deps
    .storeOf(schema)
    .write(write, (outcome) => tally.add(outcome, current), boundsOf(deps, request))
  return tally.respond(isCommitted)
}

interface Saving {
  readonly deps: Deps
  readonly allowed: Authorized<AllowedSave>
  readonly freshness: Freshness
  readonly onTurn: () => void
}

function itemFor(sent: Json, saving: Saving): SaveItem {
  const query = identityQuery(sent, saving.allowed)
  return {
    ...(query && { query }),
    change(stored, draw) {
      saving.onTurn()
      return stored ? replace(stored, sent, { ...saving, draw }) : create(sent, { ...saving, draw })
    },
  }
}

/** The identity fields, all equal to what was sent; undefined when one is missing or no value of its type. */
function identityQuery(sent: Json, { schema }: AllowedSave): Query<FieldRef> | undefined {
  const terms: Query<FieldRef>[] = []
  for (const { path, type } of schema.identity) {
    const field = resolveField({ path, at: '/data' }, rootScope(schema))
    const [given] = candidates({ value: sent }, field)
    const value = given === undefined || given === null ? undefined : type.cast(given)
    if (value === undefined) return undefined
    terms.push({ kind: 'compare', field, op: '$eq', value })
  }
  return terms.length === 1 ? terms[0] : { kind: 'and', terms }
}

type Drawing = Saving & { readonly draw: Draw }

function create(sent: Json, { deps, allowed, draw }: Drawing): Change {
  if (!allowed.upsert) {
    const message = 'no document has this identity; send "upsert": true to insert new ones'
    return { kind: 'refuse', faults: [new ServiceError('store-crud:SaveError', message)] }
  }
  const prepared = prepareDocument(allowed.schema, sent, drawingSources(deps, draw))
  const faults = [...prepared.faults, ...denials(prepared, allowed)]
  return faults.length > 0 ? { kind: 'refuse', faults } : { kind: 'write', document: prepared.document }
}

function replace(stored: StoredDocument, sent: Json, { deps, allowed, freshness, draw }: Drawing): Change {
  const state = freshness(stored)
  if (state === 'unlisted') return { kind: 'skip' }
  if (state !== 'current') return { kind: 'refuse', faults: [state] }
  const { schema, isHidden } = allowed
  const sources = drawingSources(deps, draw)
  const before = parseTrusted(stored.text) as JsonObject
  // `_id` is the stored one, also when the document was found by another identity.
  const prepared = prepareDocument(schema, isObject(sent) ? { ...sent, _id: before['_id']! } : sent, sources)
  if (prepared.faults.length > 0) return { kind: 'refuse', faults: prepared.faults }
  const after = carryMembers(before, prepared.document, schema.root.fields, isHidden)
  return revise(
    { schema, before, after, hiddenNamed: hiddenAmong(prepared.given, isHidden), made: prepared.made },
    allowed,
    sources,
  )
}

function hiddenAmong(given: ReadonlyMap<string, Field>, isHidden: (field: Field) => boolean) {
  return new Map([...given].filter(([, field]) => isHidden(field)))
}
