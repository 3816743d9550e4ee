/**
 * Rewrites queries that lead to documents of another datasource, so that one store can evaluate them. The
 * remote documents are read first; the clause then becomes a list of their keys. A clause without a key
 * becomes a residual, which is evaluated on each document in memory.
 */
import type { Json } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { type JoinKey, isAmong, keyText, keysOf, partsOf } from '../../../lang/evaluate/join-key.ts'
import type { World } from '../../../lang/evaluate/match.ts'
import { compileYielding } from '../../../lang/evaluate/match-yielding.ts'
import {
  EVERY_DOCUMENT,
  type Query,
  type Related,
  allOf,
  childrenOf,
  conjunctsOf,
  mapChildren,
} from '../../../lang/query.ts'
import { queryKey, relatedIn } from '../../../lang/resolve/query-walk.ts'
import type { Link } from '../../../lang/resolve/resolve-aggregate.ts'
import type { FieldRef } from '../../../lang/resolve/scope.ts'
import type { Yielding } from '../../../lang/evaluate/time-slice.ts'
import { withLiterals } from '../../../plan/plan-properties.ts'
import { idTypeOf } from '../../../plan/id-type.ts'
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import type { Schema } from '../../../schema/schema.ts'
import { isPushable, targetOf } from '../pushdown.ts'
import { type ReadContext, type SharedReadContext, sharing } from '../read-context.ts'
import { MAX_DOCUMENTS, tooLargeToHold, tooManyToHold } from '../../memory-limits.ts'
import { visit } from '../scan.ts'

export interface RemoteJoins {
  /** The part that the store evaluates. */
  readonly read: ReadPlan
  /** The residual for each document that the store returns; absent if the store evaluates everything. */
  readonly isMatch?: (document: StoredDocument) => Yielding<boolean>
}

export async function resolveRemoteJoins(
  read: ReadPlan,
  schema: Schema,
  reading: ReadContext,
): Promise<RemoteJoins> {
  if (!read.query || isPushable(read.query, schema, reading)) return { read }
  const { query = EVERY_DOCUMENT, ...rest } = withLiterals(read)
  const shared = sharing(reading)
  const terms = conjunctsOf(await listed(query, schema, shared))
  const answered = terms.filter((term) => isPushable(term, schema, reading))
  const others = terms.filter((term) => !answered.includes(term))
  const resolved = answered.length > 0 ? { ...rest, query: allOf(answered) } : rest
  if (others.length === 0) return { read: resolved }
  const { shouldYield } = shared.shared.timeSlice
  const matches = compileYielding(allOf(others), { world: await worldOf(others, shared), shouldYield })
  return { read: resolved, isMatch: ({ text }) => matches({ value: parseTrusted(text) }) }
}

/** Replaces clauses on remote documents by lists of keys, wherever that is equivalent. */
async function listed(
  query: Query<FieldRef>,
  schema: Schema,
  reading: SharedReadContext,
): Promise<Query<FieldRef>> {
  if (isPushable(query, schema, reading)) return query
  if (query.kind === 'related') return await listedRelated(query, schema, reading)
  return await listedInside(query, schema, reading)
}

async function listedInside(
  query: Query<FieldRef>,
  schema: Schema,
  reading: SharedReadContext,
): Promise<Query<FieldRef>> {
  const changed = new Map<Query<FieldRef>, Query<FieldRef>>()
  // Sequential, because each of them may read documents into memory.
  for (const child of childrenOf(query)) changed.set(child, await listed(child, schema, reading))
  return mapChildren(query, (child) => changed.get(child)!)
}

async function listedRelated(
  related: Related<FieldRef>,
  schema: Schema,
  reading: SharedReadContext,
): Promise<Query<FieldRef>> {
  const target = targetOf(related)
  if (target.collection.datasource === schema.collection.datasource) {
    // The reference itself is local; a clause inside it is remote.
    return await listedInside(related, schema, reading)
  }
  const { local, correlated, key } = partsOf(allOf([related.join, related.query]))
  const { reference, count } = related
  // A key outside the object with the reference does not show whether that object exists, so a list of keys
  // would not be equivalent.
  const isInHolder = reference.steps.length === 1 && key?.other.field.up === reference.up + 1
  if (!key || correlated.length > 1 || !isInHolder || count) return related
  const documents = await documentsFor(local, target, reading)
  const found = await reading.shared.timeSlice.finish(valuesIn(documents, key.own, reading))
  const { field } = key.other
  // Every document has an `_id`. For other fields, null may also mean that no object with the reference
  // exists.
  const values = field.field.path === '_id' ? found.filter((value) => value !== null) : found
  if (values.includes(null)) return related
  return isAmong({ ...key.other, field: { ...field, up: field.up - 1 } }, values)
}

/** The distinct values that the documents have on their side of a join. */
function* valuesIn(
  documents: readonly Json[],
  own: JoinKey['own'],
  { shared }: SharedReadContext,
): Yielding<readonly Json[]> {
  const found = new Map<string, Json>()
  for (const value of documents) {
    if (shared.timeSlice.shouldYield()) yield
    for (const each of keysOf(own, { value })) found.set(keyText(each), each)
  }
  return [...found.values()]
}

/** The documents for the residual: all that may be joined, whatever document they are joined to. */
async function worldOf(terms: readonly Query<FieldRef>[], reading: SharedReadContext): Promise<World> {
  const known = new Map<Related<FieldRef>, ReturnType<World>>()
  for (const related of terms.flatMap((term) => [...relatedIn(term)])) {
    const { local } = partsOf(allOf([related.join, related.query]))
    known.set(related, await documentsFor(local, targetOf(related), reading))
  }
  return (related) => known.get(related)!
}

/** The documents that references may join, whatever document they are joined to. */
export async function documentsOfLinks(
  links: readonly Link[],
  reading: SharedReadContext,
): Promise<ReadonlyMap<Link, readonly Json[]>> {
  const documents = new Map<Link, readonly Json[]>()
  for (const link of links) {
    if (link.kind !== 'documents') continue
    const { local } = partsOf(link.query)
    documents.set(link, await documentsFor(local, link.reference.field.join.schema, reading))
  }
  return documents
}

/** All documents that match these terms, read once for all clauses with the same terms. */
async function documentsFor(
  terms: readonly Query<FieldRef>[],
  schema: Schema,
  reading: SharedReadContext,
): Promise<readonly Json[]> {
  const { joinedDocuments: worlds, timeSlice } = reading.shared
  const key = queryKey(allOf(terms), schema)
  const known = worlds.get(key)
  if (known) return await known
  const plan = { ...(terms.length > 0 && { query: allOf(terms) }), sort: [] }
  const documents = documentsMatching(schema, plan, reading).then((found) =>
    timeSlice.finish(parsed(found, reading)),
  )
  worlds.set(key, documents)
  return await documents
}

function* parsed(
  documents: readonly StoredDocument[],
  { shared }: SharedReadContext,
): Yielding<readonly Json[]> {
  const values: Json[] = []
  for (const { text } of documents) {
    if (shared.timeSlice.shouldYield()) yield
    values.push(parseTrusted(text))
  }
  return values
}

type WholeRead = Pick<ReadPlan, 'query' | 'sort' | 'joins'> & {
  /** The error if the documents are too large for memory. */
  readonly tooLarge?: () => Error
}

/** All documents that match, in the order of the plan, for evaluating or embedding references. */
export async function documentsMatching(
  schema: Schema,
  { tooLarge, ...plan }: WholeRead,
  reading: ReadContext,
): Promise<readonly StoredDocument[]> {
  const shared = sharing(reading)
  const { deps, bounds, asOf } = shared
  const { held } = shared.shared
  const place = { collection: schema.collection, idType: idTypeOf(schema) }
  const moment = asOf === undefined ? {} : { asOf }
  const whole = { ...plan, ...place, ...moment, from: 0, counted: false }
  const { read, isMatch } = await resolveRemoteJoins(whole, schema, shared)
  const found: StoredDocument[] = []
  const take = (document: StoredDocument): void => {
    if (found.length === MAX_DOCUMENTS) throw tooManyToHold(schema)
    held.hold(sizeOf(document), tooLarge ?? (() => tooLargeToHold(schema, held)))
    found.push(document)
  }
  if (isMatch) {
    await visit(read, { schema, reading: shared }, function* (document) {
      if (yield* isMatch(document)) take(document)
      return true
    })
  } else await deps.storeOf(schema).find(read, take, bounds)
  return found
}

/** The size of a document, including the documents joined in the same statement. */
export function sizeOf({ text, joined = [] }: StoredDocument): number {
  return joined.reduce(
    (sum, { documents, facts }) => sum + (documents?.length ?? 0) + (facts?.length ?? 0),
    text.length,
  )
}
