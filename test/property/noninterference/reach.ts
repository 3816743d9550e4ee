/** What a request may name when it is led on by references: fields of several entities, in sight or out of it. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import { makeProjection, makeQuery } from '../agreement/make-requests.ts'
import type { ObjectNode } from '../agreement/model.ts'
import { type Entities, type Followed, unfolded } from '../agreement/references-model.ts'
import type { Subject } from './make-reads.ts'
import { type World, mayRead, pathOfReference, secretsOf, visibilityOf } from './world.ts'

export interface Reach {
  /** With the documents of references, and the numbers of them. */
  readonly asked: ObjectNode
  readonly shown: ObjectNode
  readonly followed: Followed
  readonly entities: Entities
}

/** Undefined where no reference leads on. */
export function makeReach(chance: Chance, subject: Subject, percentInSight = 75): Reach | undefined {
  const { world, worlds } = subject
  if (world.references.length === 0) return undefined
  const isInSight = chance.happens(percentInSight)
  const entities: Entities = new Map(
    worlds.map((each) => [each.entity, isInSight ? inSight(each, subject) : anywhere(chance, each)]),
  )
  const followed = makeFollowed(chance, world.entity, entities)
  if (followed.size === 0) return undefined
  const unfold = (isCounted: boolean): ObjectNode => unfolded(world.entity, { entities, followed, isCounted })
  return { asked: unfold(true), shown: unfold(false), followed, entities }
}

function inSight(world: World, subject: Subject) {
  const version = world === subject.world ? subject.version : world.versions.at(-1)!
  const references = world.references.filter((each) => mayRead(version, pathOfReference(each), world))
  return { name: world.entity, root: visibilityOf(world, version), references }
}

function anywhere(chance: Chance, world: World) {
  const { entity: name, root, references } = world
  return { name, root: chance.happens(50) ? root : secretsOf(world), references }
}

/** A few references one from the other. */
function makeFollowed(chance: Chance, entity: string, entities: Entities): Followed {
  const followed = new Set<string>()
  const { references } = entities.get(entity)!
  const first = references.length > 0 ? chance.pick(references) : undefined
  const add = (name: string, path: readonly string[], depth: number): void => {
    for (const reference of entities.get(name)!.references) {
      const isFirst = depth === 0 && reference === first
      if (!isFirst && (followed.size > 2 || !chance.happens(35))) continue
      const full = [...path, ...reference.holder, reference.name]
      followed.add(full.join('.'))
      if (depth < 2) add(reference.entity, [...full, '*'], depth + 1)
    }
  }
  add(entity, [], 0)
  return followed
}

/** Half of the time about nothing but what references join. */
export function makeAsked(chance: Chance, { asked, followed }: Reach, depth = 2): JsonObject {
  if (chance.happens(50)) return makeQuery(chance, [asked], depth)
  const first = new Set([...followed].map((path) => path.split('.')[0]!))
  const leading = [...asked.fields].filter(([name]) => first.has(name.replace(/#$/, '')))
  // what holds the reference may be out of this view
  if (leading.length === 0) return makeQuery(chance, [asked], depth)
  return makeQuery(chance, [{ kind: 'object', fields: new Map(leading) }], depth)
}

export function makeShown(chance: Chance, { shown, followed }: Reach): Json {
  const kind = chance.int(100)
  if (kind < 10) return { field: '*', recursive: true }
  const named = [...followed].map((path) => makeNamed(chance, path))
  if (kind < 50) return [{ field: '*', recursive: true }, ...named]
  if (kind < 65) return [{ field: '_id' }, ...named]
  return makeProjection(chance, [shown], 2)
}

function makeNamed(chance: Chance, path: string): JsonObject {
  const field = chance.pick([path, path, `${path}.*`, `${path}.*._id`, `${path}.*.key`, `${path}#`])
  return { field, recursive: chance.happens(80) }
}
