/**
 * References a second time, the naive way: every document of the other entity is put where the reference stands, and
 * the reference's query is asked of each from there. Nothing here is shared with `src/lang`.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import { type Position, compareDocuments, matches, valueAt } from './reference-query.ts'
import { project } from './reference-projection.ts'
import {
  type Entities,
  type Entity,
  type Followed,
  type Reference,
  countOf,
  keyOf,
  unfolded,
} from './references-model.ts'

export interface Holdings {
  readonly entities: Entities
  readonly documents: ReadonlyMap<string, readonly JsonObject[]>
}

interface Assembling {
  readonly holdings: Holdings
  readonly followed: Followed
  /** To ask: all that is joined, also when it is nothing, and how many; to show: cut, and absent when empty. */
  readonly purpose: 'ask' | 'show'
}

const wholes = new WeakMap<JsonObject, Map<string, JsonObject>>()

/** The document with the documents of other entities in it: the same in every request that follows the same. */
export function assembled(entity: string, document: JsonObject, assembling: Assembling): JsonObject {
  const known = wholes.get(document) ?? new Map<string, JsonObject>()
  wholes.set(document, known)
  const key = `${assembling.purpose} ${keyOf(assembling.followed)}`
  const whole = known.get(key) ?? assembledAt(entity, document, { ...assembling, path: [] })
  known.set(key, whole)
  return whole
}

function assembledAt(entity: string, document: JsonObject, placed: Placed): JsonObject {
  let result = document
  for (const { holder, members } of additionsTo(entity, document, placed)) {
    result = withMembers(result, holder, members)
  }
  return result
}

/** What references add to an object of the document. */
interface Addition {
  readonly holder: Position
  readonly members: JsonObject
}

type Placed = Assembling & { readonly path: readonly string[] }

function additionsTo(entity: string, document: JsonObject, placed: Placed): readonly Addition[] {
  const { holdings, followed, purpose, path } = placed
  return holdings.entities.get(entity)!.references.flatMap((reference) => {
    const full = [...path, ...reference.holder, reference.name]
    const isFollowed = followed.has(full.join('.'))
    const isCounted = purpose === 'show' && followed.has(countOf(full))
    if (!isFollowed && !isCounted) return []
    return holdersOf(reference, document).flatMap((holder): readonly Addition[] => {
      const found = joined(entity, { document, reference, holder }, holdings).map((each) =>
        within(reference, each, { ...placed, path: [...full, '*'] }),
      )
      const { name } = reference
      if (purpose === 'ask') return [{ holder, members: { [name]: found, [`${name}#`]: found.length } }]
      const documents = isFollowed && found.length > 0 ? { [name]: found } : {}
      const members = { ...documents, ...(isCounted && { [`${name}#`]: found.length }) }
      return Object.keys(members).length === 0 ? [] : [{ holder, members }]
    })
  })
}

/** A joined document with what its own references add, to what the projection of the reference leaves of it. */
function within(reference: Reference, document: JsonObject, placed: Placed): JsonObject {
  const { entity, projection } = reference
  if (placed.purpose === 'ask' || projection === undefined) {
    return assembledAt(entity, document, placed)
  }
  const additions = additionsTo(entity, document, placed)
  const { entities } = placed.holdings
  const root = unfolded(entity, { entities, followed: new Set(), isCounted: false })
  return project(projection, { root, document }, (shown, at) => {
    const own = additions.filter(({ holder }) => holder.join('.') === at.join('.'))
    return Object.assign({}, shown, ...own.map(({ members }) => members)) as JsonObject
  })
}

/** How many documents a reference joins to one document of its entity, on average. */
export function fanOutOf(holdings: Holdings) {
  const fanOuts = new Map<Reference, number>()
  const counted = (entity: string, reference: Reference): number => {
    const documents = holdings.documents.get(entity)!
    const counts = documents.flatMap((document) =>
      holdersOf(reference, document).map(
        (holder) => joined(entity, { document, reference, holder }, holdings).length,
      ),
    )
    return counts.reduce((sum, each) => sum + each, 0) / documents.length
  }
  return (entity: string, reference: Reference): number => {
    const fanOut = fanOuts.get(reference) ?? counted(entity, reference)
    fanOuts.set(reference, fanOut)
    return fanOut
  }
}

/** The objects of the document that hold the reference. */
function holdersOf({ holder }: Reference, document: JsonObject): readonly Position[] {
  let found: readonly Position[] = [[]]
  const world = { root: { kind: 'object', fields: new Map() }, document } as const
  for (const step of holder) {
    found = found.flatMap((position): readonly Position[] => {
      if (step !== '*') return [[...position, step]]
      const value = valueAt(position, world)
      return isArray(value) ? value.map((_, i) => [...position, i]) : []
    })
  }
  return found.filter((position) => isObject(valueAt(position, world)))
}

interface Joining {
  readonly document: JsonObject
  readonly reference: Reference
  readonly holder: Position
}

const known = new WeakMap<JsonObject, Map<string, readonly JsonObject[]>>()

/** What a reference joins is the same in every request, so it is found out once. */
function joined(entity: string, joining: Joining, holdings: Holdings): readonly JsonObject[] {
  const { document, reference, holder } = joining
  const key = [...holder, reference.name].join('.')
  const all = known.get(document) ?? new Map<string, readonly JsonObject[]>()
  known.set(document, all)
  const found = all.get(key) ?? joinedNow(holdings.entities.get(entity)!, joining, holdings)
  all.set(key, found)
  return found
}

function joinedNow(
  entity: Entity,
  joining: Joining,
  { entities, documents }: Holdings,
): readonly JsonObject[] {
  const { document, reference, holder } = joining
  const candidates = documents.get(reference.entity)!
  const followed = new Set([[...reference.holder, reference.name].join('.')])
  const world = {
    root: unfolded(entity.name, { entities, followed, isCounted: false }),
    document: withMembers(document, holder, { [reference.name]: candidates }),
  }
  const { query } = reference
  const other = unfolded(reference.entity, { entities, followed: new Set(), isCounted: false })
  return candidates
    .filter((_, i) => query === undefined || matches(query, [...holder, reference.name, i], world))
    .sort(compareDocuments(reference.sort ?? [], other))
}

function withMembers(document: JsonObject, holder: Position, members: JsonObject): JsonObject {
  return changed(document, holder, (object) => ({ ...object, ...members })) as JsonObject
}

function changed(value: Json, [step, ...rest]: Position, change: (object: JsonObject) => JsonObject): Json {
  if (step === undefined) return change(value as JsonObject)
  if (isArray(value)) return value.with(step as number, changed(value[step as number]!, rest, change))
  const object = value as JsonObject
  return { ...object, [step]: changed(object[step]!, rest, change) }
}
