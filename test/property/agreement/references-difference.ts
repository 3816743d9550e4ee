/** Who is asked about a request across references, and who answers otherwise than the others. */
import {
  PLACINGS,
  type Placing,
  type ReferencesService,
  openReferencesService,
} from '../../support/references-service.ts'
import type { ReferenceRequest } from './make-reference-requests.ts'
import { type Answer, type Arena, type FoundIds, canonicalText } from './references-arena.ts'

export interface Tester {
  readonly placing: Placing
  readonly tester: ReferencesService
}

export interface Testers extends AsyncDisposable {
  readonly list: readonly Tester[]
  /** What went wrong inside of them. */
  readonly faults: readonly unknown[]
}

/** A service for each placing; rounds share them. */
export async function openTesters(): Promise<Testers> {
  await using stack = new AsyncDisposableStack()
  const list: Tester[] = []
  const faults: unknown[] = []
  for (const placing of PLACINGS) {
    // Faults are answers that nobody else gives.
    const tester = await openReferencesService(placing, { onInternalError: (error) => faults.push(error) })
    list.push({ placing, tester: stack.use(tester) })
  }
  const owned = stack.move()
  return { list, faults, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

export interface Difference {
  readonly ways: readonly [string, string]
  readonly answers: readonly [Answer, Answer]
}

/** The first two that answer differently. */
export async function differenceOf(
  request: ReferenceRequest,
  arena: Arena,
  testers: readonly Tester[],
): Promise<Difference | undefined> {
  return (await compared(request, arena, testers)).difference
}

/** What the evaluator finds, and who answers otherwise. */
export async function compared(
  request: ReferenceRequest,
  arena: Arena,
  testers: readonly Tester[],
): Promise<{ readonly found: FoundIds; readonly difference?: Difference }> {
  const found = arena.byEvaluator(request)
  const served = await Promise.all(
    testers.map(async ({ placing, tester }) => ({
      way: placing.name,
      answer: await arena.byService(tester, request),
    })),
  )
  // The evaluator is not shown the projection, which may nest too deeply.
  if (served.every(({ answer }) => answer.code === TOO_DEEP)) return { found: { ...found, code: TOO_DEEP } }
  const odd = served.find(
    ({ answer }) => answer.code !== found.code || answer.matchCount !== found.matchCount,
  )
  if (odd) return { found, difference: { ways: ['evaluator', odd.way], answers: [found, odd.answer] } }
  if (found.code !== undefined) return { found }
  const referred = arena.byReference(request)
  if (referred.ids.join() !== found.ids.join() || referred.matchCount !== found.matchCount) {
    return { found, difference: { ways: ['evaluator', 'reference'], answers: [found, referred] } }
  }
  const difference = shownOtherwise(referred, served)
  return { found, ...(difference && { difference }) }
}

export const TOO_DEEP = 'crud:LimitExceeded'

interface Served {
  readonly way: string
  readonly answer: Answer
}

/** Whatever the order of members is, it is the same on all stores. */
function shownOtherwise(expected: Answer, served: readonly Served[]): Difference | undefined {
  for (const { way, answer } of served) {
    const documents = answer.documents.map(canonicalText)
    if (documents.join() === expected.documents.join()) continue
    return { ways: ['reference', way], answers: [expected, { ...answer, documents }] }
  }
  const [first] = served
  const other = served.find(({ answer }) => answer.documents.join() !== first!.answer.documents.join())
  return other && { ways: [first!.way, other.way], answers: [first!.answer, other.answer] }
}
