/** From a sequence of requests that tells the sides apart to the smallest one that still does. */
import { type Json, isArray, isObject } from '../../../src/base/json/json.ts'
import type { Request } from './request.ts'
import type { Sides } from './sides.ts'
import { type Population, type Scene, openStage } from './stage.ts'

export interface Failure {
  readonly scene: Scene
  readonly requests: readonly Request[]
}

/** What the sides answer to the first request that they answer differently; undefined where there is none. */
export async function differenceOf(
  sides: Sides,
  { scene, requests }: Failure,
): Promise<{ readonly a: string; readonly b: string } | undefined> {
  const stage = await openStage(sides, scene)
  for (const request of requests) {
    const answers = await stage.ask(request)
    if (answers.a !== answers.b) return answers
  }
  return undefined
}

/** Takes away requests, then documents and what is around them, then parts of requests, as long as something differs. */
export async function shrink(sides: Sides, failure: Failure, limitMs: number): Promise<Failure> {
  const deadline = performance.now() + limitMs
  const differs = async (smaller: Failure): Promise<boolean> =>
    // what makes no sense to set up is no smaller case
    (await differenceOf(sides, smaller).catch(() => undefined)) !== undefined
  let best = failure
  for (const way of [fewerRequests, fewerDocuments, smallerRequests, fewerRequests]) {
    for (let isSmaller = true; isSmaller && performance.now() < deadline;) {
      isSmaller = false
      for (const smaller of way(best)) {
        if (performance.now() > deadline) break
        if (!(await differs(smaller))) continue
        best = smaller
        isSmaller = true
        break
      }
    }
  }
  return best
}

function* fewerRequests({ scene, requests }: Failure): Generator<Failure> {
  const last = requests.at(-1)!
  if (requests.length > 1) yield { scene, requests: [last] }
  for (let size = requests.length >> 1; size >= 1; size >>= 1) {
    for (let start = 0; start + size < requests.length; start += size) {
      yield { scene, requests: requests.toSpliced(start, size) }
    }
  }
}

function* fewerDocuments({ scene, requests }: Failure): Generator<Failure> {
  const { world } = scene
  if (scene.others.length > 0) {
    // what is left alone is put on a stage in a third of the time
    const alone = { ...scene, world: { ...world, references: [] }, others: [] }
    yield { scene: { ...alone, searches: [] }, requests }
    yield { scene: alone, requests }
  }
  if (scene.searches.length > 0) yield { scene: { ...scene, searches: [] }, requests }
  for (const version of world.versions.length > 1 ? world.versions : [])
    yield { scene: { ...scene, world: { ...world, versions: [version] } }, requests }
  for (const smaller of fewerOf(scene)) yield { scene: { ...scene, ...smaller }, requests }
  for (const [i, each] of scene.others.entries()) {
    for (const smaller of fewerOf(each))
      yield { scene: { ...scene, others: scene.others.with(i, smaller) }, requests }
  }
}

function* fewerOf(population: Population): Generator<Population> {
  const { pairs, unknown } = population
  if (unknown.a.length + unknown.b.length > 0) yield { ...population, unknown: { a: [], b: [] } }
  if (unknown.a.length > 0) yield { ...population, unknown: { ...unknown, a: unknown.a.slice(1) } }
  if (unknown.b.length > 0) yield { ...population, unknown: { ...unknown, b: unknown.b.slice(1) } }
  for (let size = pairs.length; size >= 1; size >>= 1) {
    for (let start = 0; start < pairs.length; start += size) {
      yield { ...population, pairs: pairs.toSpliced(start, size) }
    }
  }
}

function* smallerRequests({ scene, requests }: Failure): Generator<Failure> {
  for (const [i, request] of requests.entries()) {
    if (request.body === undefined) continue
    for (const body of reductions(request.body)) {
      yield { scene, requests: requests.with(i, { ...request, body }) }
    }
  }
}

function* reductions(value: Json): Generator<Json> {
  if (isArray(value)) {
    for (const i of value.keys()) yield value.toSpliced(i, 1)
    for (const [i, each] of value.entries())
      for (const smaller of reductions(each)) yield value.with(i, smaller)
  } else if (isObject(value)) {
    for (const key of Object.keys(value)) {
      const { [key]: _, ...rest } = value
      yield rest
    }
    for (const [key, each] of Object.entries(value)) {
      if (isArray(each)) yield* each.filter(isObject).map((inner) => ({ ...value, ...inner }))
      for (const smaller of reductions(each)) yield { ...value, [key]: smaller }
    }
  }
}
