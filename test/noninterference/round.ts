/** One round: a random world in two databases that are the same to its caller, and many requests to both. */
import { sample } from '../agreement/chance.ts'
import { makePairs } from './make-documents.ts'
import { makeSearches } from './make-reads.ts'
import { makeRequestFor } from './make-requests.ts'
import { makeWorld } from './make-world.ts'
import type { Request } from './request.ts'
import { type Failure, differenceOf, shrink } from './shrink.ts'
import type { Sides } from './sides.ts'
import { type Scene, openStage } from './stage.ts'
import { printWorld } from './world.ts'

export interface RoundResult {
  /** How many requests of each route were answered alike. */
  readonly asked: ReadonlyMap<string, number>
  /** Those of them that were answered with 200. */
  readonly answered: number
  /** What told the sides apart, as small as it could be made. */
  readonly difference?: string
}

const DOCUMENTS = 9

export async function runRound(sides: Sides, seed: number, pairs: number): Promise<RoundResult> {
  const scene = sceneOf(seed)
  const stage = await openStage(sides, scene)
  const asked = new Map<string, number>()
  const requests: Request[] = []
  let answered = 0
  for (let i = 0; i < pairs; i++) {
    const request = requestOf(scene, seed + i + 1)
    requests.push(request)
    const { a, b, status } = await stage.ask(request)
    if (a !== b) return { asked, answered, difference: await report(sides, { scene, requests }, { a, b }) }
    asked.set(request.route, (asked.get(request.route) ?? 0) + 1)
    if (status === 200) answered++
  }
  return { asked, answered }
}

export function sceneOf(seed: number): Scene {
  return sample(seed, (chance) => {
    const world = makeWorld(chance)
    const pairs = makePairs(chance, world, DOCUMENTS)
    return { world, pairs, searches: makeSearches(chance, { world, pairs, version: world.versions[0]! }) }
  })
}

export function requestOf({ world, pairs }: Scene, seed: number): Request {
  return sample(seed, (chance) => makeRequestFor(chance, world, pairs))
}

async function report(
  sides: Sides,
  failure: Failure,
  seen: { readonly a: string; readonly b: string },
): Promise<string> {
  const { scene, requests } = await shrink(sides, failure)
  const { a, b } = (await differenceOf(sides, { scene, requests })) ?? seen
  const { world, pairs } = scene
  const lines = [
    `roles ${JSON.stringify(world.roles)}`,
    ...world.versions.map((version) => `metadata ${JSON.stringify(printWorld(world, version))}`),
    ...pairs.flatMap((pair) => [`A holds ${JSON.stringify(pair.a)}`, `B holds ${JSON.stringify(pair.b)}`]),
    ...requests.map(
      ({ method, path, body, roles }) => `${roles.join()} ${method} ${path} ${JSON.stringify(body ?? null)}`,
    ),
    `A answers ${a}`,
    `B answers ${b}`,
  ]
  return lines.join('\n')
}
