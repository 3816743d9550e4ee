/**
 * Sorts documents where no store can: by values of other documents in another datasource, on a cluster, of the past, or
 * selected by a pattern that only the service evaluates; and on a cluster by relevance.
 */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { mergeSort } from '../../base/merge-sort.ts'
import { spend } from '../../base/work/work.ts'
import { compileJoinedKey } from '../../lang/evaluate/joined-sort.ts'
import { type Key, comparableKeys, compareComparable, sortValues } from '../../lang/evaluate/order.ts'
import type { ShouldYield, Yielding } from '../../lang/evaluate/time-slice.ts'
import { linksIn } from '../../lang/resolve/scope.ts'
import { withLiterals } from '../../plan/plan-properties.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { compareValues } from '../../schema/types.ts'
import { MAX_DOCUMENTS, tooLargeToHold, tooManyToSort } from '../memory-limits.ts'
import { documentsOfLinks, resolveRemoteJoins, sizeOf } from './embed/remote-joins.ts'
import { type VisitContext, unbounded, unsorted, visit } from './scan.ts'

interface SortedPage {
  readonly documents: readonly StoredDocument[]
  readonly matchCount: number
}

interface Match {
  readonly document: StoredDocument
  readonly id: Json
  readonly keys: readonly Key[]
  readonly sources: readonly (Json | undefined)[]
}

/** All matches are held, and as many documents as the references may join, so there are limits to both. */
export async function readSorted(read: ReadPlan, { schema, reading }: VisitContext): Promise<SortedPage> {
  const { timeSlice, held } = reading.shared
  const { sort, counted, withSources } = read
  const all = unsorted(unbounded(withLiterals(read)))
  const { read: candidates, isMatch } = await resolveRemoteJoins(all, schema, reading)
  const documents = await documentsOfLinks(linksIn(sort), reading)
  const sourcesOf = sort
    .filter(({ field }) => field.joined)
    .map((key) =>
      compileJoinedKey(key, {
        documentsOf: (link) => documents.get(link)!,
        shouldYield: timeSlice.shouldYield,
      }),
    )
  const matches: Match[] = []
  await visit(candidates, { schema, reading }, function* (document) {
    if (isMatch && !(yield* isMatch(document))) return true
    if (matches.length === MAX_DOCUMENTS) throw tooManyToSort(schema)
    held.hold(sizeOf(document), () => tooLargeToHold(schema, held))
    spend(document.text.length / CHARACTERS_PARSED_PER_STEP)
    const value = parseTrusted(document.text) as JsonObject
    const sources: (Json | undefined)[] = []
    for (const sourceOf of sourcesOf) sources.push(yield* sourceOf({ value }))
    const keys = comparableKeys(sortValues(value, sort, sources))
    matches.push({ document, id: value['_id'] ?? null, sources, keys })
    return true
  })
  const found = await timeSlice.finish(pageOf(matches, read, timeSlice.shouldYield))
  return {
    documents: found.map(({ document, sources }) => (withSources ? withThem(document, sources) : document)),
    matchCount: counted ? matches.length : 0,
  }
}

const CHARACTERS_PARSED_PER_STEP = 8

/** The matches come in the order of `_id`, which decides between equal ones. */
function* pageOf(
  matches: readonly Match[],
  { sort, after, from, to = Infinity }: ReadPlan,
  shouldYield: ShouldYield,
): Yielding<readonly Match[]> {
  const rest: Match[] = []
  const afterKeys = after && comparableKeys(after.slice(0, sort.length))
  for (const match of matches) {
    if (shouldYield()) yield
    if (!afterKeys || isAfter(match, { keys: afterKeys, id: after.at(-1)! }, sort)) rest.push(match)
  }
  const sorted = yield* mergeSort(rest, (a, b) => compareComparable(a.keys, b.keys, sort), shouldYield)
  return sorted.slice(from, Math.max(to + 1, from))
}

function isAfter(match: Match, after: Pick<Match, 'keys' | 'id'>, sort: ReadPlan['sort']): boolean {
  const order = compareComparable(match.keys, after.keys, sort)
  return order === 0 ? compareValues(match.id, after.id) > 0 : order > 0
}

/**
 * In the form in which a store returns them. They are printed when they are read, which the cursor does for the last
 * document only: each may be as large as a document can be.
 */
function withThem(document: StoredDocument, sources: Match['sources']): StoredDocument {
  const printed = sources.map((source) => ({
    get documents() {
      return source === undefined ? null : JSON.stringify(source)
    },
    facts: null,
  }))
  return { ...document, joined: [...(document.joined ?? []), ...printed] }
}
