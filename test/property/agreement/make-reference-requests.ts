/** Random find requests that lead through references, in all that a query and a projection can say. */
import { type Json, type JsonObject, isArray } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeProjection, makeQuery, makeRange, makeSort, pickBelow } from './make-requests.ts'
import { type ObjectNode, familyOf } from './model.ts'
import { type Entities, type Followed, type Reference, unfolded } from './references-model.ts'

export interface ReferenceRequest {
  readonly entity: string
  readonly body: JsonObject
}

export interface Subject {
  readonly entities: Entities
  /** How many documents a reference joins to one document of its entity. */
  readonly fanOut: (entity: string, reference: Reference) => number
}

export function makeReferenceRequest(chance: Chance, subject: Subject): ReferenceRequest {
  const { entities } = subject
  const names = [...entities.keys()]
  const entity = chance.happens(60) ? names[0]! : chance.pick(names)
  const followed = makeFollowed(chance, entity, subject)
  const asked = unfolded(entity, { entities, followed, isCounted: true })
  const own = unfolded(entity, { entities, followed: new Set(), isCounted: false })
  const body = {
    ...(chance.happens(85) && { query: makeQuery(chance, [asked], 3) }),
    projection: makeShown(chance, entity, { entities, followed }),
    ...(chance.happens(50) && { sort: makeSortBy(chance, { entity, entities, own }) }),
    ...makeRange(chance),
  }
  return { entity, body }
}

/** Documents that come with one document at most: they multiply from level to level. */
const MANY = 25

/** A few references one from the other. */
function makeFollowed(chance: Chance, entity: string, { entities, fanOut }: Subject): Followed {
  const followed = new Set<string>()
  const add = (name: string, path: readonly string[], documents: number): void => {
    for (const reference of entities.get(name)!.references) {
      const more = documents * fanOut(name, reference)
      if (followed.size > 4 || more > MANY || !chance.happens(path.length === 0 ? 70 : 40)) continue
      const full = [...path, ...reference.holder, reference.name]
      followed.add(full.join('.'))
      add(reference.entity, [...full, '*'], more)
    }
  }
  add(entity, [], 1)
  return followed
}

interface Unfolding {
  readonly entities: Entities
  readonly followed: Followed
}

function makeShown(chance: Chance, entity: string, { entities, followed }: Unfolding): Json {
  const kind = chance.int(100)
  if (kind < 15) return { field: '*', recursive: true }
  const named = [...followed].filter(() => chance.happens(70)).map((path) => makeNamed(chance, path))
  if (kind < 45) return [{ field: '*', recursive: true }, ...named]
  if (kind < 55) return [{ field: '_id' }, ...named]
  const shown = unfolded(entity, { entities, followed, isCounted: chance.happens(50) })
  return makeProjection(chance, [shown], 2)
}

function makeNamed(chance: Chance, path: string): JsonObject {
  const field = chance.pick([path, `${path}.*`, `${path}.*._id`, `${path}.*.a`, `${path}#`])
  return { field, ...(chance.happens(60) && { recursive: true }) }
}

interface Sorting {
  readonly entity: string
  readonly entities: Entities
  readonly own: ObjectNode
}

/** Keys of the document, and half of the time one that leads through references, before them or behind. */
function makeSortBy(chance: Chance, { entity, entities, own }: Sorting): Json {
  const keys = [makeSort(chance, [own])].flat() as Json[]
  const path = chance.happens(50) ? makeJoinedPath(chance, entity, entities) : undefined
  if (path === undefined) return keys
  const key = { [path]: chance.pick(['$asc', '$desc']) }
  return chance.happens(70) ? [key, ...keys] : [...keys, key]
}

/** A field behind references that join one document each, or the number of documents of the last one. */
export function makeJoinedPath(chance: Chance, entity: string, entities: Entities): string | undefined {
  const references = entities.get(entity)!.references.filter(({ holder }) => !holder.includes('*'))
  if (references.length === 0) return undefined
  const unique = references.filter(joinsOne)
  const reference = chance.pick(unique.length > 0 && chance.happens(75) ? unique : references)
  const path = [...reference.holder, reference.name].join('.')
  // A reference that may join several is refused now and then.
  if (!(joinsOne(reference) || chance.happens(3)) || chance.happens(25)) return `${path}#`
  const further = chance.happens(35) ? makeJoinedPath(chance, reference.entity, entities) : undefined
  const other = unfolded(reference.entity, { entities, followed: new Set(), isCounted: false })
  const rest = further ?? pickBelow(chance, [other], 0, (node) => familyOf(node) !== undefined)?.path
  return rest === undefined ? undefined : `${path}.*.${rest}`
}

/** Whether the words of a reference compare `_id` with one value of the document that has it. */
function joinsOne({ query = {} }: Reference): boolean {
  const terms = isArray(query['$and']) ? (query['$and'] as readonly JsonObject[]) : [query]
  return terms.some(({ field, op, rfield }) => {
    const sides = [field, rfield].map(String)
    return op === '=' && sides.includes('_id') && sides.some((side) => /^(\$parent\.)+[^*\d]+$/.test(side))
  })
}
