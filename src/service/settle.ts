/**
 * Queries that lead to documents of another datasource, in terms that one store can answer: the documents are read
 * first, and the question becomes one about their keys, or, where it has none, is asked of each document in memory.
 */
import { ServiceError, unreachable } from '../base/errors.ts'
import { parseTrusted } from '../base/json.ts'
import { distinct, isAmong, keysOf, partsOf } from '../lang/join-key.ts'
import { type World, compileQuery } from '../lang/match.ts'
import { type Query, type Related, allOf, conjunctsOf } from '../lang/query.ts'
import { relatedIn } from '../lang/related-in.ts'
import type { FieldRef } from '../lang/scope.ts'
import { idTypeOf } from '../plan/id-type.ts'
import type { ReadPlan, StoredDocument } from '../plan/plan.ts'
import type { Schema } from '../schema/schema.ts'
import type { Bounds } from '../store/store.ts'
import { isAnswered, targetOf } from './answered.ts'
import type { Deps } from './deps.ts'
import { patienceFor } from './patience.ts'

/** What reading for a request needs. */
export interface Reading {
  readonly deps: Deps
  readonly bounds: Bounds
  /** Of which moment all documents are; the present one when absent. */
  readonly asOf?: number | undefined
}

export type WholeRead = Pick<ReadPlan, 'query' | 'sort' | 'joins'>

interface Settled {
  /** What the store is asked. */
  readonly read: ReadPlan
  /** What is asked of each document that it gives; absent when the store answers all. */
  readonly isMatch?: (document: StoredDocument) => boolean
}

export async function settle(read: ReadPlan, schema: Schema, reading: Reading): Promise<Settled> {
  const { query, ...rest } = read
  if (!query || isAnswered(query, schema, reading.deps)) return { read }
  const terms = conjunctsOf(await listed(query, schema, reading))
  const answered = terms.filter((term) => isAnswered(term, schema, reading.deps))
  const others = terms.filter((term) => !answered.includes(term))
  const settled = answered.length > 0 ? { ...rest, query: allOf(answered) } : rest
  if (others.length === 0) return { read: settled }
  const matches = compileQuery(allOf(others), await worldOf(others, reading))
  const patience = patienceFor(reading.bounds)
  const isMatch = ({ text }: StoredDocument): boolean => {
    patience.check()
    return matches({ value: parseTrusted(text) })
  }
  return { read: settled, isMatch }
}

/** The query with lists of keys in the place of documents that are elsewhere, as far as that says the same. */
async function listed(query: Query<FieldRef>, schema: Schema, reading: Reading): Promise<Query<FieldRef>> {
  if (isAnswered(query, schema, reading.deps)) return query
  switch (query.kind) {
    case 'and':
    case 'or': {
      const terms: Query<FieldRef>[] = []
      for (const term of query.terms) terms.push(await listed(term, schema, reading))
      return { ...query, terms }
    }
    case 'not':
      return { ...query, term: await listed(query.term, schema, reading) }
    case 'elemMatch':
      return { ...query, query: await listed(query.query, schema, reading) }
    case 'related':
      return await listedRelated(query, schema, reading)
    case 'compare':
    case 'in':
    case 'regex':
    case 'contains':
    case 'compareFields':
    case 'inField':
      return query
    default:
      return unreachable(query)
  }
}

async function listedRelated(
  related: Related<FieldRef>,
  schema: Schema,
  reading: Reading,
): Promise<Query<FieldRef>> {
  const target = targetOf(related)
  if (target.collection.datasource === schema.collection.datasource) {
    // It is what lies behind it that is elsewhere.
    const join = await listed(related.join, schema, reading)
    return { ...related, join, query: await listed(related.query, schema, reading) }
  }
  const { local, correlated, key } = partsOf(allOf([related.join, related.query]))
  const { reference, count } = related
  // Elsewhere the key tells nothing of whether there is an object that could hold the reference.
  const isInHolder = reference.steps.length === 1 && key?.other.field.up === reference.up + 1
  if (!key || correlated.length > 1 || !isInHolder || count) return related
  const documents = await documentsMatching(target, wholeRead(local), reading)
  const found = distinct(documents.flatMap(({ text }) => keysOf(key.own, { value: parseTrusted(text) })))
  const { field } = key.other
  // Every document has an `_id`. Elsewhere no value may also mean that there is nothing that could hold a reference.
  const values = field.field.path === '_id' ? found.filter((value) => value !== null) : found
  if (values.includes(null)) return related
  return isAmong({ ...key.other, field: { ...field, up: field.up - 1 } }, values)
}

/** Documents for those parts that no store can answer: all that may be joined, whatever they are joined to. */
async function worldOf(terms: readonly Query<FieldRef>[], reading: Reading): Promise<World> {
  const known = new Map<Related<FieldRef>, ReturnType<World>>()
  for (const related of terms.flatMap((term) => [...relatedIn(term)])) {
    const { local } = partsOf(allOf([related.join, related.query]))
    const target = targetOf(related)
    const documents = await documentsMatching(target, wholeRead(local), reading)
    known.set(
      related,
      documents.map(({ text }) => parseTrusted(text)),
    )
  }
  return (related) => known.get(related)!
}

function wholeRead(terms: readonly Query<FieldRef>[]): WholeRead {
  return { ...(terms.length > 0 && { query: allOf(terms) }), sort: [] }
}

/** All documents that match, in the order of the plan, read for the sake of others. */
export async function documentsMatching(
  schema: Schema,
  plan: WholeRead,
  { deps, bounds, asOf }: Reading,
): Promise<readonly StoredDocument[]> {
  const place = { collection: schema.collection, idType: idTypeOf(schema) }
  const moment = asOf === undefined ? {} : { asOf }
  const whole = { ...plan, ...place, ...moment, from: 0, counted: false }
  const { read, isMatch } = await settle(whole, schema, { deps, bounds, asOf })
  const found: StoredDocument[] = []
  const take = (document: StoredDocument): void => {
    if (isMatch && !isMatch(document)) return
    if (found.length === MOST) throw tooMany(schema)
    found.push(document)
  }
  await deps.storeOf(schema).find(read, take, bounds)
  return found
}

function tooMany({ entity }: Schema): ServiceError {
  const message =
    `more than ${MOST} documents of ${entity} would have to be held to answer this; ask for fewer of them, or ` +
    'keep both entities in one datasource'
  return new ServiceError('crud:LimitExceeded', message)
}

const MOST = 100_000
