/**
 * One round: random entities that refer to each other, their documents, many requests. Every request is answered by the
 * evaluator of `src/lang`, by the reference beside this file, and by a service for each placing of the entities on
 * stores; all answers must be the same.
 */
import { sampleEvenly } from '../../support/chance.ts'
import { makeReferenceRequest } from './make-reference-requests.ts'
import { fanOutOf } from './reference-join.ts'
import { openArena } from './references-arena.ts'
import { type Tester, compared } from './references-difference.ts'
import { reported } from './references-report.ts'

export interface RoundResult {
  readonly answered: number
  readonly refused: number
  /** Answers with at least one document. */
  readonly filled: number
}

export interface ReferencesRound {
  readonly seed: number
  readonly requests: number
  readonly testers: readonly Tester[]
  /** Whether every placing is asked every request; else each is asked its share. */
  readonly isThorough: boolean
}

export async function runReferencesRound(round: ReferencesRound): Promise<RoundResult> {
  const { seed, requests, testers, isThorough } = round
  const arena = await openArena(
    seed,
    testers.map(({ tester }) => tester),
  )
  const { entities } = arena.holdings
  const subject = { entities, fanOut: fanOutOf(arena.holdings) }
  const result = { answered: 0, refused: 0, filled: 0 }
  for (let i = 0; i < requests; i++) {
    const request = sampleEvenly(seed + i + 1, (chance) => makeReferenceRequest(chance, subject))
    const asked = isThorough ? testers : [testers[i % testers.length]!]
    const { found, difference } = await compared(request, arena, asked)
    if (difference) throw new Error(await reported(request, { arena, testers: asked, seed }))
    if (found.code === undefined) result.answered++
    else result.refused++
    if (found.ids.length > 0) result.filled++
  }
  return result
}
