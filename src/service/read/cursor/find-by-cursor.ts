/** Finds a page by cursor: keyset pagination over the sort and `_id`. */
import { memberPicker } from '../../../base/json/cut-members.ts'
import { parseTrusted } from '../../../base/json/parse-trusted.ts'
import { memoized } from '../../../base/memo.ts'
import { type Work, during, spendParsing } from '../../../base/work/work.ts'
import { sortValues } from '../../../lang/evaluate/order.ts'
import { sortsByOthers } from '../../../lang/resolve/scope.ts'
import type { ReadPlan, StoredDocument } from '../../../plan/plan.ts'
import { printDate } from '../../../schema/date.ts'
import type { Deps } from '../../deps.ts'
import { tooLargeResult } from '../../memory-limits.ts'
import type { PageRequest } from '../../request/page-request.ts'
import { type DataResponse, complete } from '../../response.ts'
import { type Cursors, type Position, cursorsOf } from './cursor.ts'
import type { Page } from '../page.ts'
import type { PlannedFind } from '../plan-find.ts'
import { type PageReading, countMatches, readPage } from '../read-page.ts'

interface Rendered {
  readonly page: Page
  readonly reading: PageReading
  readonly work: Work
}

export async function findByCursor(
  planned: PlannedFind & { readonly page: PageRequest },
  { page, reading, work }: Rendered,
): Promise<DataResponse> {
  const { allowed, plan, page: requested } = planned
  const { schema } = allowed
  const cursors = cursorsFor(planned, reading.deps, work)
  const read = afterCursor(plan.read, requested, cursors)
  let taken = 0
  const last: { document?: StoredDocument } = {}
  let hasMore = false
  const { matchCount } = await readPage({ ...plan, read }, reading, (document, joinedSets) => {
    hasMore = taken === requested.size
    if (hasMore) return
    taken++
    last.document = document
    page.take(document, joinedSets)
  })
  const next = hasMore
    ? during(work, () => cursors.seal(positionOf(last.document!, plan.read.sort)))
    : undefined
  if (next !== undefined)
    work.reserveResponse(next.length, (maxBytes) => tooLargeResult(maxBytes, plan.joins))
  // A page after a cursor shows nothing of the matches before it.
  const isCounted = plan.read.counted && read.after !== undefined
  return complete(schema, {
    matchCount: isCounted ? await countMatches(plan, reading) : matchCount,
    ...(next !== undefined && { next }),
    ...page.shown,
  })
}

/** The read of a page, which begins after its cursor. */
export function afterCursor(read: ReadPlan, { after }: PageRequest, cursors: Cursors): ReadPlan {
  const paged: ReadPlan = sortsByOthers(read.sort) ? { ...read, withSources: true } : read
  if (after === undefined) return paged
  return { ...paged, counted: false, after: cursors.open(after) }
}

export function cursorsFor(
  { allowed, plan }: Pick<PlannedFind, 'allowed' | 'plan'>,
  { secret }: Pick<Deps, 'secret'>,
  work: Work,
): Cursors {
  return cursorsOf({
    schema: allowed.schema,
    read: plan.read,
    secret: secret(),
    requestTime: work.requestTime && printDate(work.requestTime),
    hidesId: hidesIdFrom(allowed),
  })
}

/** Whether the caller may not read `_id`, at least in some documents. */
export function hidesIdFrom({ visibility, shownAs }: PlannedFind['allowed']): boolean {
  return !visibility.showsId || shownAs !== undefined
}

function positionOf({ id, text, joined = [] }: StoredDocument, sort: ReadPlan['sort']): Position {
  if (sort.length === 0) return { id, sortValues: [] }
  const others = sort.filter(({ field }) => field.joined).length
  const sources = joined.slice(joined.length - others).map(({ documents }) => documents)
  spendParsing(sources.reduce((sum, each) => sum + (each?.length ?? 0), text.length))
  const parsed = sources.map((each) => (each === null ? undefined : parseTrusted(each)))
  const sorted = parseTrusted(membersOf(sort)?.(text) ?? text)
  return { id, sortValues: sortValues(sorted, sort, parsed) }
}

/** Picks the members of a document that a sort looks at; undefined if it has to look at all of them. */
const membersOf = memoized((sort: ReadPlan['sort']) => {
  const names: string[] = []
  for (const { field } of sort) {
    if (field.joined) continue
    const [name] = field.steps
    if (field.score || field.up > 0 || typeof name !== 'string' || name === '*') return undefined
    names.push(name)
  }
  return memberPicker(names)
})
