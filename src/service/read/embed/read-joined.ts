/** Documents that references join and another datasource keeps: one read for each reference, however many hold it. */
import { type Json, type JsonObject, parseTrusted } from '../../../base/json/json.ts'
import { isAmong, keyText, keysOf, partsOf } from '../../../lang/evaluate/join-key.ts'
import { looksOnlyOut } from '../../../lang/resolve/looks-out.ts'
import { compileQuery } from '../../../lang/evaluate/match.ts'
import { holdersAt } from '../../../lang/evaluate/match-yielding.ts'
import { allOf } from '../../../lang/query.ts'
import type { Turns } from '../../../lang/evaluate/time-slice.ts'
import { type PlannedJoin, plansAlong } from '../../../plan/joins.ts'
import type { StoredDocument } from '../../../plan/plan.ts'
import { type Holder, joinTo, measure } from './join-in-memory.ts'
import { type JoinedDocument, depthOf, documentsIn, hasApart, slotsOf } from './joined-tree.ts'
import { type Reading, type Shared, type SharedReading, sharing } from '../read-context.ts'
import { documentsMatching, sizeOf } from './remote-joins.ts'
import { tooLargeTogether } from '../../memory-limits.ts'

export function* holdersOf(
  documents: readonly StoredDocument[],
  joins: readonly PlannedJoin[],
  { patience }: Shared,
): Turns<readonly Holder[]> {
  const holders: Holder[] = []
  for (const { text, joined } of documents) {
    if (patience.isTurnOver()) yield
    holders.push({ value: parseTrusted(text) as JsonObject, slots: slotsOf(joins, joined) })
  }
  return holders
}

/** Level by level, all holders of a level at once. */
export async function readApart(
  joins: readonly PlannedJoin[],
  holders: readonly Holder[],
  reading: Reading,
): Promise<void> {
  if (holders.length === 0) return
  const together = sharing(reading)
  for (const [i, join] of joins.entries()) {
    if (join.isAlong) {
      if (!hasApart(join.joins)) continue
      const depth = depthOf(join)
      const inside = holders.flatMap(({ slots }) => [...documentsIn(slots[i], depth)])
      await readApart(join.joins, inside, together)
      await together.shared.patience.finish(measure(holders, { join, at: i, shared: together.shared }))
    } else {
      const documents = await documentsOf(join, holders, together)
      await readApart(join.joins, documents, together)
      const { shared } = together
      await shared.patience.finish(joinTo(holders, documents, { join, at: i, shared }))
    }
  }
}

/** All documents that some holder may join: found by the holders' keys, or all there are where it has none. */
async function documentsOf(
  join: PlannedJoin,
  holders: readonly Holder[],
  reading: SharedReading,
): Promise<readonly JoinedDocument[]> {
  const { plan, joins, allowed } = join
  const { patience, held } = reading.shared
  const { local, key } = partsOf(plan.query)
  const keys = await patience.finish(keysOfHolders(join, holders, reading.shared))
  const terms = [...local, ...(key ? [isAmong(key.own, keys)] : [])]
  const found = await documentsMatching(
    allowed.schema,
    {
      ...(terms.length > 0 && { query: allOf(terms) }),
      sort: plan.sort,
      joins: plansAlong(joins),
      tooLarge: () => tooLargeTogether(join, held),
    },
    reading,
  )
  const values = await patience.finish(holdersOf(found, joins, reading.shared))
  return found.map((document, i) => {
    const { version, paths } = document
    return { ...values[i]!, version, ...(paths !== undefined && { paths }), size: sizeOf(document) }
  })
}

/** Holders that join nothing whatever there is bring no keys: what is found by those would be read, and counted, in vain. */
function* keysOfHolders(
  { plan }: PlannedJoin,
  holders: readonly Holder[],
  { patience }: Shared,
): Turns<readonly Json[]> {
  const { key, correlated } = partsOf(plan.query)
  if (!key) return []
  const mayJoin = compileQuery(allOf(correlated.filter(looksOnlyOut)))
  const found = new Map<string, Json>()
  for (const { value } of holders) {
    for (const outer of holdersAt(value, plan.steps, { value })) {
      if (patience.isTurnOver()) yield
      // A joined document stands innermost; from there the key is looked up.
      const seen = { value: undefined, outer }
      if (!mayJoin(seen)) continue
      for (const each of keysOf(key.other, seen)) found.set(keyText(each), each)
    }
  }
  return [...found.values()]
}
