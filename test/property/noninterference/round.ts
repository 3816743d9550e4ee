/** One round: a random world in two databases that are the same to its caller, and many requests to both. */
import type { JsonObject } from '../../../src/base/json/json.ts'
import { type Chance, sampleEvenly } from '../../support/chance.ts'
import { makePairs, makeUnknown } from './make-documents.ts'
import { makeSearches } from './make-reads.ts'
import { type Kind, makeRequestFor } from './make-requests.ts'
import { makeWorlds } from './make-world.ts'
import type { Request } from './request.ts'
import { type Failure, differenceOf, shrink } from './shrink.ts'
import type { Sides } from './sides.ts'
import { type Population, type Scene, openStage } from './stage.ts'
import { type World, printWorld } from './world.ts'

export interface RoundResult {
  /** How many requests of each route were answered alike. */
  readonly asked: ReadonlyMap<string, number>
  /** Those of them that were answered with 200. */
  readonly answered: number
  /** What told the sides apart, as small as it could be made. */
  readonly difference?: string
}

export interface Round {
  readonly seed: number
  readonly pairs: number
  readonly shrinkMs: number
  /** Of which kinds requests are; of all of them when absent. */
  readonly kinds?: readonly Kind[]
}

const DOCUMENTS = 9

export async function runRound(sides: Sides, { seed, pairs, shrinkMs, kinds }: Round): Promise<RoundResult> {
  const scene = sceneOf(seed)
  const stage = await openStage(sides, scene)
  const asked = new Map<string, number>()
  const requests: Request[] = []
  let answered = 0
  for (let i = 0; i < pairs; i++) {
    const request = requestOf(scene, seed + i + 1, kinds)
    requests.push(request)
    const { a, b, status } = await stage.ask(request)
    if (a !== b) {
      const seen = { scene, requests, a, b }
      const smallest = shrinkMs > 0 ? await shrunk(sides, seen, shrinkMs) : seen
      return { asked, answered, difference: report(smallest) }
    }
    asked.set(request.route, (asked.get(request.route) ?? 0) + 1)
    if (status === 200) answered++
  }
  return { asked, answered }
}

export function sceneOf(seed: number): Scene {
  return sampleEvenly(seed, (chance) => {
    const worlds = makeWorlds(chance)
    const [main, ...others] = worlds.map((world, i) => populated(chance, world, DOCUMENTS - i))
    const searches = makeSearches(chance, { ...main!, worlds, version: worlds[0]!.versions[0]! })
    return { ...main!, others, searches }
  })
}

function populated(chance: Chance, world: World, count: number): Population {
  const pairs = makePairs(chance, world, count)
  return { world, pairs, unknown: { a: makeUnknown(chance, world), b: makeUnknown(chance, world) } }
}

export function requestOf(scene: Scene, seed: number, kinds?: readonly Kind[]): Request {
  const asked = { turn: Math.abs(seed), ...(kinds && { kinds }) }
  return sampleEvenly(seed, (chance) => makeRequestFor(chance, scene, asked))
}

interface Difference extends Failure {
  readonly a: string
  readonly b: string
}

async function shrunk(sides: Sides, seen: Difference, limitMs: number): Promise<Difference> {
  const smallest = await shrink(sides, seen, limitMs)
  const { a, b } = (await differenceOf(sides, smallest)) ?? seen
  return { ...smallest, a, b }
}

function report({ scene, requests, a, b }: Difference): string {
  const lines = [
    `roles ${JSON.stringify(scene.world.roles)}`,
    ...[scene, ...scene.others].flatMap(printPopulation),
    ...requests.map(
      ({ method, path, body, roles, byTicket }) =>
        `${roles.join()} ${method} ${path} ${JSON.stringify(body ?? null)}${byTicket ? ' by ticket' : ''}`,
    ),
    `A answers ${a}`,
    `B answers ${b}`,
  ]
  return lines.join('\n')
}

function printPopulation({ world, pairs, unknown }: Population): readonly string[] {
  const print = (document: JsonObject): string => `${world.entity} ${JSON.stringify(document)}`
  return [
    ...world.versions.map((version) => `metadata ${JSON.stringify(printWorld(world, version))}`),
    ...pairs.flatMap(({ a, b }) => [`A holds ${print(a)}`, `B holds ${print(b)}`]),
    ...unknown.a.map((document) => `only A holds ${print(document)}`),
    ...unknown.b.map((document) => `only B holds ${print(document)}`),
  ]
}
