/**
 * Documents of a find by position, read page by page with cursors. Pages far from those in use are dropped; the cursors stay,
 * so that scrolling back costs one request. A jump walks to its page in large steps that read nothing but `_id`.
 */
import { noteFailure } from '../../app/loading.ts'
import { client } from '../../app/session.ts'
import type { JsonObject } from '../../client/json.ts'
import type { Find, Found } from '../../client/types.ts'

export interface Row {
  readonly document: JsonObject
  readonly documentVersion: string
}

export interface CursorPages {
  readonly total: () => number | undefined
  readonly at: (index: number) => Row | undefined
  readonly isLoading: () => boolean
  /** Why the last request failed, until one succeeds. */
  readonly failure: () => unknown
  /** Says which rows are needed now. Earlier wishes that are not fulfilled yet are forgotten. */
  readonly show: (first: number, last: number) => void
  readonly close: () => void
}

const PAGE = 100
/** Pages kept in memory: enough to scroll back a little without reading again. */
const MAX_PAGES = 12
/** What the service reads for one page of a find at most. */
const MAX_STEP = 10_000

export function openCursorPages(find: Find, onChange: () => void): CursorPages {
  const aborting = new AbortController()
  const pages = new Map<number, readonly Row[]>()
  /** The cursor that each page begins after, as far as it is known. The first page needs none. */
  const cursors = new Map<number, string | undefined>([[0, undefined]])
  let total: number | undefined
  let wanted: readonly [from: number, to: number] = [0, 0]
  let isLoading = false
  let failure: unknown

  const missingPage = (): number | undefined => {
    // the first page brings the number of all
    if (total === undefined) return 0
    const last = Math.max(0, Math.ceil(total / PAGE) - 1)
    for (let page = wanted[0]; page <= Math.min(wanted[1], last); page++) if (!pages.has(page)) return page
    return undefined
  }
  const read = (page: number): Promise<Found> => {
    const after = cursors.get(page)
    const count = total === undefined
    const asked = { size: PAGE, ...(after !== undefined && { after }), ...(count && { count }) }
    return client.find({ ...find, page: asked }, aborting.signal)
  }
  const keepPage = (page: number, { documents, versions, matchCount, next }: Found): void => {
    total ??= matchCount
    pages.delete(page)
    pages.set(
      page,
      documents.map((document, i) => ({ document, documentVersion: versions[i] ?? '' })),
    )
    for (const oldest of pages.keys()) if (pages.size > MAX_PAGES) pages.delete(oldest)
    // documents that were inserted or deleted since they were counted
    if (next === undefined) total = page * PAGE + documents.length
    else {
      cursors.set(page + 1, next)
      total = Math.max(total, (page + 1) * PAGE + 1)
    }
  }
  /** One step toward a page whose cursor is not known. */
  const walk = async (page: number): Promise<void> => {
    let known = page
    while (!cursors.has(known)) known--
    const size = Math.min(MAX_STEP, (page - known) * PAGE)
    const after = cursors.get(known)
    const asked = { size, ...(after !== undefined && { after }) }
    const { documents, next } = await client.find(
      { ...find, projection: ONLY_ID, page: asked },
      aborting.signal,
    )
    if (next === undefined) total = known * PAGE + documents.length
    else cursors.set(known + size / PAGE, next)
  }
  const load = async (): Promise<void> => {
    if (isLoading) return
    isLoading = true
    onChange()
    try {
      for (let page = missingPage(); page !== undefined; page = missingPage()) {
        if (cursors.has(page)) keepPage(page, await read(page))
        else await walk(page)
        failure = undefined
        onChange()
      }
    } catch (error) {
      if (aborting.signal.aborted) return
      noteFailure(error)
      failure = error
    }
    isLoading = false
    onChange()
  }
  return {
    total: () => total,
    at: (index) => pages.get(Math.floor(index / PAGE))?.[index % PAGE],
    isLoading: () => isLoading,
    failure: () => failure,
    show(first, last) {
      wanted = [Math.floor(first / PAGE), Math.floor(last / PAGE)]
      if (missingPage() !== undefined) void load()
    },
    close: () => aborting.abort(),
  }
}

const ONLY_ID = { field: '_id' }
