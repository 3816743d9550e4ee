/** References between the worlds of one scene: by keys that often meet, some of them out of the caller's sight. */
import type { Json, JsonObject } from '../../../src/base/json/json.ts'
import { isArray, isObject } from '../../../src/base/json/json.ts'
import type { Chance } from '../../support/chance.ts'
import {
  type Scope,
  comparedFamily,
  makeCompare,
  makeProjection,
  makeQuery,
  makeSort,
  pickBelow,
} from '../agreement/make-requests.ts'
import { type Node, type ObjectNode, withPredefined } from '../agreement/model.ts'
import type { Reference } from '../agreement/references-model.ts'
import { type World, pathOfReference, visibilityOf } from './world.ts'

/** Each world leads to others, or to itself; what is named is mostly what the caller may read. */
export function makeReferences(
  chance: Chance,
  world: World,
  targets: readonly World[],
): readonly Reference[] {
  const around = holdersIn(drawnFrom(chance, world))
  return targets.map((target, i) => {
    const { path, objects } = chance.happens(80) ? around[0]! : chance.pick(around)
    const other = drawnFrom(chance, target)
    return {
      holder: path,
      name: `r${i}`,
      entity: target.entity,
      ...(chance.happens(96) && { query: makeJoin(chance, [other, ...objects]) }),
      ...(chance.happens(50) && { sort: makeSort(chance, [drawnFrom(chance, target, 50)]) }),
      ...(chance.happens(20) && { projection: makeProjection(chance, [other], 1) }),
    }
  })
}

export function isReferenceName(name: string): boolean {
  return /^r\d$/.test(name)
}

function drawnFrom(chance: Chance, world: World, percentInSight = 75): ObjectNode {
  const isInSight = chance.happens(percentInSight)
  return withPredefined(isInSight ? visibilityOf(world, world.versions.at(-1)!) : world.root)
}

interface Holder {
  readonly path: readonly string[]
  /** The object, then the objects around it. */
  readonly objects: readonly ObjectNode[]
}

/** The root first. */
function holdersIn(node: Node, path: readonly string[] = [], around: readonly ObjectNode[] = []): Holder[] {
  if (node.kind === 'array') return holdersIn(node.element, [...path, '*'], around)
  if (node.kind !== 'object') return []
  const objects = [node, ...around]
  return [
    { path, objects },
    ...[...node.fields].flatMap(([name, field]) => holdersIn(field, [...path, name], objects)),
  ]
}

/** The scope: the documents to join, then the objects around the reference. */
function makeJoin(chance: Chance, scope: Scope): JsonObject {
  const keyed = (): JsonObject => makeKeyed(chance, scope) ?? makeQuery(chance, scope, 1)
  const alone = (): JsonObject => makeCompare(chance, [scope[0]])
  const kind = chance.int(100)
  // documents of all worlds have the same names, so that this joins one
  const climb = '$parent.'.repeat(scope.length - 1)
  if (kind < 20) return { field: '_id', op: '=', rfield: `${climb}_id` }
  if (kind < 60) return keyed()
  if (kind < 75) return { $and: [keyed(), alone()] }
  if (kind < 82) return { $or: [keyed(), alone()] }
  if (kind < 88) return { $not: keyed() }
  return kind < 95 ? makeQuery(chance, scope, 1) : alone()
}

/** Values of few are compared with values of few, so that they meet. */
function makeKeyed(chance: Chance, scope: Scope): JsonObject | undefined {
  const isKey = (node: Node): boolean => node.kind === 'simple' && node.pool !== undefined
  const isList = (node: Node): boolean => node.kind === 'array' && isKey(node.element)
  const isMembership = chance.happens(25)
  const own = pickBelow(chance, scope, 1, isMembership ? isList : isKey)
  if (!own) return undefined
  const family = comparedFamily(own.node)
  const other = pickBelow(chance, scope, 0, (node) => isKey(node) && comparedFamily(node) === family)
  if (!other) return undefined
  if (isMembership) return { field: other.path, op: '$in', rfield: own.path }
  const op = chance.happens(85) ? '=' : chance.pick(['!=', '<', '>='])
  return chance.happens(75)
    ? { field: other.path, op, rfield: own.path }
    : { field: own.path, op, rfield: other.path }
}

/** Names of fields of the root that a reference is in, or that some reference may name; every version keeps them. */
export function namesUsed(references: readonly Reference[]): ReadonlySet<string> {
  const paths = references.flatMap((reference) => [
    pathOfReference(reference),
    ...[reference.query, reference.sort, reference.projection].flatMap((each) => [...wordsIn(each)]),
  ])
  return new Set(paths.flatMap((path) => path.split('.').map((step) => step.replace(/#$/, ''))))
}

/** All texts and all names of members: paths are among them. */
function* wordsIn(value: Json | undefined): Generator<string> {
  if (typeof value === 'string') yield value
  if (isArray(value)) for (const each of value) yield* wordsIn(each)
  if (!isObject(value)) return
  for (const [name, each] of Object.entries(value)) {
    yield name
    yield* wordsIn(each)
  }
}
