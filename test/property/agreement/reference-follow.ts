/**
 * Which references a request follows, from the words of the reference: those that a query leads to or through, and those
 * that a pattern of the projection names, not by `*`. Nothing here is shared with `src/lang`.
 */
import { type Json, type JsonObject, isArray, isObject } from '../../../src/base/json/json.ts'
import type { Node } from './model.ts'
import { folded, sortKeys } from './reference-query.ts'
import type { Entities, Entity, Followed, Reference } from './references-model.ts'

export function followedBy(request: JsonObject, entity: string, entities: Entities): Followed {
  const followed = new Set<string>()
  const { query, projection } = request
  if (isObject(query))
    for (const path of queriedPaths(query, [])) addPrefixes(path, entity, { entities, followed })
  if (projection !== undefined) {
    const start = { entity: entities.get(entity)!, inside: [], path: [] }
    addProjected(projection, start, { entities, followed })
  }
  return followed
}

/** Those that a sort leads through, which are not shown for that. */
export function followedBySort(sort: Json, entity: string, entities: Entities): Followed {
  const followed = new Set<string>()
  for (const { path } of sortKeys(sort)) addPrefixes(absolute(path, []), entity, { entities, followed })
  return followed
}

interface Following {
  readonly entities: Entities
  readonly followed: Set<string>
}

type Steps = readonly string[]

/** Every path that a query names, from the root, with `*` for elements. */
function* queriedPaths(query: JsonObject, at: Steps): Generator<Steps> {
  for (const [key, value] of Object.entries(query)) {
    if (key === 'field' || key === 'rfield' || key === 'array') yield absolute(value as string, at)
    else if (key === 'elemMatch') {
      yield* queriedPaths(value as JsonObject, [...absolute(query['array'] as string, at), '*'])
    } else if (isArray(value)) for (const each of value) yield* isObject(each) ? queriedPaths(each, at) : []
    else if (key === '$not') yield* queriedPaths(value as JsonObject, at)
  }
}

function absolute(path: string, at: Steps): Steps {
  const { climbs, steps } = folded(path)
  let from = at
  for (let i = 0; i < climbs; i++) from = from.slice(0, from.at(-1) === '*' ? -2 : -1)
  return [...from, ...steps.map((step) => (typeof step === 'number' ? '*' : step))]
}

function addPrefixes(path: Steps, root: string, { entities, followed }: Following): void {
  let entity = entities.get(root)!
  let start = 0
  for (const end of path.keys()) {
    const name = path[end]!.replace(/#$/, '')
    const reference = end >= start && referenceAt(entity, [...path.slice(start, end), name])
    if (!reference) continue
    followed.add([...path.slice(0, end), reference.name].join('.'))
    entity = entities.get(reference.entity)!
    start = end + 2
  }
}

function referenceAt({ references }: Entity, path: Steps): Reference | undefined {
  return references.find(({ holder, name }) => [...holder, name].join('.') === path.join('.'))
}

/** A place in the documents of an entity: where in them, and where from the root. */
interface Place {
  readonly entity: Entity
  readonly inside: Steps
  readonly path: Steps
}

function addProjected(projection: Json, start: Place, following: Following): void {
  for (const item of isArray(projection) ? projection : [projection]) {
    const { field, include, match, range, project, projection: nested = project } = item as JsonObject
    const isArrayItem = (match ?? range ?? null) !== null
    if (include === false && !isArrayItem) continue
    for (const end of placesOf(stepsOf(field as string), start, following)) {
      if (isArrayItem && nested !== undefined) addProjected(nested, end, following)
    }
  }
}

function stepsOf(pattern: string): Steps {
  const steps: string[] = []
  for (const step of pattern.split('.')) {
    if (step === '$parent') steps.pop()
    else if (step !== '$this') steps.push(/^[+-]?\d+$/.test(step) ? '#' : step)
  }
  return steps
}

/** Where the elements are of the arrays in which the pattern ends; adds the references on the way. */
function placesOf(steps: Steps, start: Place, following: Following): readonly Place[] {
  let places: readonly Place[] = [start]
  for (const step of steps) places = places.flatMap((place) => next(step, place, following))
  return places.flatMap((place) => (isList(place) ? [element(place, following)] : []))
}

function next(step: string, place: Place, following: Following): readonly Place[] {
  if (isList(place)) return step === '*' || step === '#' ? [element(place, following)] : []
  const node = nodeOf(place)
  if (node?.kind !== 'object') return []
  const counted = [...place.inside, step.replace(/#$/, '')]
  if (step.endsWith('#') && referenceAt(place.entity, counted)) {
    following.followed.add([...place.path, step].join('.'))
    return []
  }
  const names = step === '*' ? [...node.fields.keys()] : [step]
  return names.flatMap((name) => {
    const inside = [...place.inside, name]
    const path = [...place.path, name]
    const isReference = step !== '*' && referenceAt(place.entity, inside) !== undefined
    if (isReference) following.followed.add(path.join('.'))
    return isReference || node.fields.has(name) ? [{ ...place, inside, path }] : []
  })
}

function isList({ entity, inside, path }: Place): boolean {
  return referenceAt(entity, inside) !== undefined || nodeOf({ entity, inside, path })?.kind === 'array'
}

function element({ entity, inside, path }: Place, { entities }: Following): Place {
  const reference = referenceAt(entity, inside)
  if (reference) return { entity: entities.get(reference.entity)!, inside: [], path: [...path, '*'] }
  return { entity, inside: [...inside, '*'], path: [...path, '*'] }
}

function nodeOf({ entity, inside }: Place): Node | undefined {
  let node: Node | undefined = entity.root
  for (const step of inside) {
    if (node?.kind === 'array') node = node.element
    else node = node?.kind === 'object' ? node.fields.get(step) : undefined
  }
  return node
}
