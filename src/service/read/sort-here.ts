/**
 * Sorts documents where no store can: by values of other documents in another datasource, on a cluster, of the past, or
 * selected by a pattern that only the service evaluates; and on a cluster by relevance.
 */
import type { Json, JsonObject } from '../../base/json/json.ts'
import { parseTrusted } from '../../base/json/parse-trusted.ts'
import { during, spend } from '../../base/work/work.ts'
import { compileJoinedKey } from '../../lang/evaluate/joined-sort.ts'
import { compareSortValues, sortValues } from '../../lang/evaluate/order.ts'
import { linksIn } from '../../lang/resolve/scope.ts'
import { withLiterals } from '../../plan/about.ts'
import type { ReadPlan, StoredDocument } from '../../plan/plan.ts'
import { compareValues } from '../../schema/types.ts'
import { MAX_DOCUMENTS, tooLargeToHold, tooManyToSort } from '../memory-limits.ts'
import { documentsOfLinks, resolveRemoteJoins, sizeOf } from './embed/remote-joins.ts'
import { type VisitContext, unbounded, unsorted, visit } from './scan.ts'

export interface SortedPage {
  readonly documents: readonly StoredDocument[]
  readonly matchCount: number
}

interface Match {
  readonly document: StoredDocument
  readonly id: Json
  readonly values: readonly Json[]
  readonly sources: readonly (Json | undefined)[]
}

/** All matches are held, and as many documents as the references may join, so there are limits to both. */
export async function readSorted(read: ReadPlan, { schema, reading }: VisitContext): Promise<SortedPage> {
  const { bounds, shared } = reading
  const { timeSlice, held } = shared
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
    matches.push({ document, id: value['_id'] ?? null, sources, values: sortValues(value, sort, sources) })
    return true
  })
  const page = (): readonly Match[] => pageOf(matches, read)
  const found = bounds.work ? during(bounds.work, page) : page()
  return {
    documents: found.map(({ document, sources }) => (withSources ? withThem(document, sources) : document)),
    matchCount: counted ? matches.length : 0,
  }
}

const CHARACTERS_PARSED_PER_STEP = 8

/** The matches come in the order of `_id`, which decides between equal ones. */
function pageOf(matches: readonly Match[], { sort, after, from, to = Infinity }: ReadPlan): readonly Match[] {
  const rest = after ? matches.filter((match) => isAfter(match, after, sort)) : matches
  const sorted = rest.toSorted((a, b) => compareSortValues(a.values, b.values, sort))
  return sorted.slice(from, Math.max(to + 1, from))
}

function isAfter({ values, id }: Match, after: readonly Json[], sort: ReadPlan['sort']): boolean {
  const order = compareSortValues(values, after, sort)
  return order === 0 ? compareValues(id, after.at(-1)!) > 0 : order > 0
}

/** In the form in which a store returns them. */
function withThem(document: StoredDocument, sources: Match['sources']): StoredDocument {
  const printed = sources.map((source) => ({
    documents: source === undefined ? null : JSON.stringify(source),
    facts: null,
  }))
  return { ...document, joined: [...(document.joined ?? []), ...printed] }
}
