/**
 * Reads the documents of references to another datasource: one read per reference, however many documents
 * contain it.
 */
import type { Json, JsonObject } from '../../../base/json/json.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { isAmong, keyText, keysOf, partsOf } from '../../../lang/evaluate/join-key.ts'
import { looksOnlyOut } from '../../../lang/resolve/query-walk.ts'
import { compileQuery } from '../../../lang/evaluate/match.ts'
import { holdersAt } from '../../../lang/evaluate/match-yielding.ts'
import { allOf } from '../../../lang/query.ts'
import type { Yielding } from '../../../lang/evaluate/time-slice.ts'
import { type PlannedJoin, planInStatement } from '../../../plan/joins.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import { type Holder, joinTo, measure } from './join-in-memory.ts'
import { type JoinedDocument, depthOf, documentsIn, hasSeparate, joinedSetsOf } from './joined-tree.ts'
import { type ReadContext, type Shared, type SharedReadContext, sharing } from '../read-context.ts'
import { documentsMatching, sizeOf } from './remote-joins.ts'
import { tooLargeTogether } from '../../memory-limits.ts'

export function* holdersOf(
  documents: readonly StoredDocument[],
  joins: readonly PlannedJoin[],
  { timeSlice }: Shared,
): Yielding<readonly Holder[]> {
  const holders: Holder[] = []
  for (const { text, joined } of documents) {
    if (timeSlice.shouldYield()) yield
    holders.push({ value: parseTrusted(text) as JsonObject, joinedSets: joinedSetsOf(joins, joined) })
  }
  return holders
}

/**
 * Reads level by level, for all holders of a level at once, so that the number of reads does not depend on
 * the holders.
 */
export async function readSeparately(
  joins: readonly PlannedJoin[],
  holders: readonly Holder[],
  reading: ReadContext,
): Promise<void> {
  if (holders.length === 0) return
  const together = sharing(reading)
  for (const [i, join] of joins.entries()) {
    if (join.inStatement) {
      if (!hasSeparate(join.joins)) continue
      const depth = depthOf(join)
      const inside = holders.flatMap(({ joinedSets }) => [...documentsIn(joinedSets[i], depth)])
      await readSeparately(join.joins, inside, together)
      await together.shared.timeSlice.finish(measure(holders, { join, at: i, shared: together.shared }))
    } else {
      const documents = await documentsOf(join, holders, together)
      await readSeparately(join.joins, documents, together)
      const { shared } = together
      await shared.timeSlice.finish(joinTo(holders, documents, { join, at: i, shared }))
    }
  }
}

/** All documents that a holder may join: selected by the holders' keys, or all documents if the join has no key. */
async function documentsOf(
  join: PlannedJoin,
  holders: readonly Holder[],
  reading: SharedReadContext,
): Promise<readonly JoinedDocument[]> {
  const { plan, joins, allowed } = join
  const { timeSlice, held } = reading.shared
  const { local, key } = partsOf(plan.query)
  const keys = await timeSlice.finish(keysOfHolders(join, holders, reading.shared))
  const terms = [...local, ...(key ? [isAmong(key.own, keys)] : [])]
  const found = await documentsMatching(
    allowed.schema,
    {
      ...(terms.length > 0 && { query: allOf(terms) }),
      sort: plan.sort,
      joins: planInStatement(joins),
      tooLarge: () => tooLargeTogether(join, held),
    },
    reading,
  )
  const values = await timeSlice.finish(holdersOf(found, joins, reading.shared))
  return found.map((document, i) => {
    const { version, paths } = document
    return { ...values[i]!, version, ...(paths !== undefined && { paths }), size: sizeOf(document) }
  })
}

/**
 * Holders that cannot join any document contribute no keys: documents found by these would be read, and
 * counted, in vain.
 */
function* keysOfHolders(
  { plan }: PlannedJoin,
  holders: readonly Holder[],
  { timeSlice }: Shared,
): Yielding<readonly Json[]> {
  const { key, correlated } = partsOf(plan.query)
  if (!key) return []
  const mayJoin = compileQuery(allOf(correlated.filter(looksOnlyOut)))
  const found = new Map<string, Json>()
  for (const { value } of holders) {
    for (const outer of holdersAt(value, plan.steps, { value })) {
      if (timeSlice.shouldYield()) yield
      // The joined document is the innermost scope, and the key is resolved from there.
      const seen = { value: undefined, outer }
      if (!mayJoin(seen)) continue
      for (const each of keysOf(key.other, seen)) found.set(keyText(each), each)
    }
  }
  return [...found.values()]
}
