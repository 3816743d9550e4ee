/** Many rounds from one seed, which is printed first so that a failure can be repeated. */
import { storeKind } from '../../support/store-kind.ts'
import type { Kind } from './make-requests.ts'
import { type Round, runRound } from './round.ts'
import { type Sides, type Wrap, openSides } from './sides.ts'

export interface Rounds {
  readonly pairs: number
  readonly seed: number
  /** Requests on one world. */
  readonly perRound?: number
  readonly wrap?: Wrap
  /** How long to look for the smallest request that still tells the sides apart. */
  readonly shrinkMs?: number
  /** Of which kinds requests are; of all of them when absent. */
  readonly kinds?: readonly Kind[]
  readonly isLoud?: boolean
}

export interface RoundsResult {
  readonly asked: ReadonlyMap<string, number>
  readonly answered: number
}

/** How many worlds two databases hold before new ones are made: every change of metadata reads those of all of them. */
const ROUNDS_PER_SIDES = 10

export async function runRounds(options: Rounds): Promise<RoundsResult> {
  const { pairs, seed, perRound = 200, wrap, shrinkMs = 60_000, kinds, isLoud = false } = options
  console.log(`noninterference: ${pairs} pairs, --seed ${seed} --store ${storeKind()}`)
  const asked = new Map<string, number>()
  let answered = 0
  const stretch = perRound * ROUNDS_PER_SIDES
  for (let done = 0; done < pairs; done += stretch) {
    await using sides = await openSides(wrap)
    const end = Math.min(done + stretch, pairs)
    for (let start = done; start < end; start += perRound) {
      const round = { seed: (seed + start) | 0, pairs: Math.min(perRound, end - start), shrinkMs }
      const result = await runOne(sides, { ...round, ...(kinds && { kinds }) })
      for (const [route, count] of result.asked) asked.set(route, (asked.get(route) ?? 0) + count)
      answered += result.answered
    }
    if (isLoud) console.log(`${end} pairs`)
  }
  return { asked, answered }
}

async function runOne(sides: Sides, round: Round): Promise<RoundsResult> {
  const { pairs, seed } = round
  const repeat = `--store ${storeKind()} --pairs ${pairs} --per-round ${pairs} --seed ${seed}`
  const result = await runRound(sides, round).catch((cause: unknown) => {
    throw new Error(`noninterference failed; repeat it with ${repeat}`, { cause })
  })
  if (result.difference === undefined) return result
  throw new DifferenceError(
    `a caller tells two databases apart; repeat it with ${repeat}\n${result.difference}`,
  )
}

/** The finding, as opposed to a fault of the harness. */
export class DifferenceError extends Error {}
