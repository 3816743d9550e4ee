/**
 * Reconstructs the order of committed changes from outbox rows. Each row contains the version that the change
 * replaced (`seen`) and the one that it wrote (`version`). That is enough for one document, because a write
 * succeeds only if the version is still the one it has read: changes form a chain. It is not enough across
 * documents, and not even across a delete and a new insert of the same `_id`, because versions come from the
 * clocks of several machines.
 */

import { compareText } from '../../../base/text.ts'

export interface ChangeRow {
  readonly entity: string
  /** The key of the document's row. */
  readonly doc: string
  /** Several events of one change have the same versions. */
  readonly seen: number | undefined
  readonly version: number | undefined
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The version that the last numbered change of a document wrote, by `documentKey`; deleted documents are absent. */
export type ReachedVersions = ReadonlyMap<string, number>

const NONE_REACHED: ReachedVersions = new Map()

export function documentKey({ entity, doc }: Pick<ChangeRow, 'entity' | 'doc'>): string {
  return JSON.stringify([entity, doc])
}

/**
 * Changes of one document in the order of their commits, changes of different documents by their timestamps. A timestamp
 * that lies before that of an earlier change of the document is raised to it: a clock that was set back must not move a
 * change in front of the one it is based on. `reached` must contain the `unclearDocuments`.
 */
export function orderChanges<R extends ChangeRow>(rows: readonly R[], reached = NONE_REACHED): readonly R[] {
  const timed = [...Map.groupBy(rows, documentKey)].flatMap(([key, own]) => {
    let time = -Infinity
    return orderOwn(own, reached.get(key)).map((row) => ({ row, time: (time = Math.max(time, row.at)) }))
  })
  // The sort is stable, so that changes with the same time keep the order of their document. Documents with the same
  // time are ordered by key, so that the result does not depend on the order of the input.
  return timed.sort((a, b) => a.time - b.time || compareText(a.row.doc, b.row.doc)).map(({ row }) => row)
}

/**
 * The keys of documents that were inserted, and changed from a version that none of these changes wrote: either an
 * unwatched change wrote it, or one that is numbered already. An insert that waited may have a version below one that was
 * numbered meanwhile, so that the versions of these changes do not tell. If the last numbered change is not known, or an
 * unwatched one followed it, the order remains a guess by version.
 */
export function unclearDocuments(rows: readonly ChangeRow[]): readonly string[] {
  return [...Map.groupBy(rows, documentKey).values()].flatMap((own) => {
    if (own.length === 1 || own.every(isLater)) return []
    const versions = new Set(own.map(({ version }) => version))
    const isUnclear = own.some(({ seen }) => seen !== undefined && !versions.has(seen))
    return isUnclear ? [own[0]!.doc] : []
  })
}

/**
 * The chain of changes from an insert to a delete. The beginning may be missing, because its events are numbered already,
 * and so may the end, because it is yet to come.
 */
interface Life<R> {
  readonly rows: R[]
  /** Its position among the lives of the document, ordered by first version. */
  readonly index: number
  /** The version it has reached; undefined after a delete. */
  end: number | undefined
}

/** Assigns each change of one document to the life that it continues, then orders the lives. */
function orderOwn<R extends ChangeRow>(rows: readonly R[], reached = -Infinity): readonly R[] {
  if (rows.length === 1) return rows
  // For changes whose predecessor was numbered in an earlier round.
  const earlier: Life<R> = { rows: [], index: 0, end: reached }
  const lives: Life<R>[] = [earlier]
  const goingOn: Life<R>[] = [earlier]
  /** Keyed by the last change of each life: further events of that change belong to the same life. */
  const byChange = new Map<string, Life<R>>()
  for (const row of rows.toSorted(byVersion)) {
    const change = `${row.seen}/${row.version}`
    const same = byChange.get(change)
    if (same) {
      same.rows.push(row)
      continue
    }
    const life = isLater(row)
      ? (takeReached(goingOn, row.seen) ?? earlier)
      : { rows: [], index: lives.length, end: 0 }
    const last = life.rows.at(-1)
    if (last) byChange.delete(`${last.seen}/${last.version}`)
    else if (life !== earlier) lives.push(life)
    life.rows.push(row)
    life.end = row.version
    byChange.set(change, life)
    if (life.end !== undefined) goingOn.splice(placeOf(goingOn, life), 0, life)
  }
  // An insert of the same `_id` succeeds only after the delete, so that a life without a delete is the last one, even if
  // its versions, made by a slower clock, are lower than those of the lives before it.
  const isOver = ({ end }: Life<R>): boolean => end === undefined
  const later = lives.slice(1)
  return [earlier, ...later.filter(isOver), ...later.filter((life) => !isOver(life))].flatMap(
    (life) => life.rows,
  )
}

function isLater<R extends ChangeRow>(row: R): row is R & { readonly seen: number } {
  return row.seen !== undefined
}

function byVersion(a: ChangeRow, b: ChangeRow): number {
  return keyOf(a) - keyOf(b) || (a.seen ?? -1) - (b.seen ?? -1)
}

function keyOf({ seen, version }: ChangeRow): number {
  return seen ?? version ?? 0
}

/**
 * Removes and returns the life that reached exactly this version. Changes that no hook watches write no outbox row and
 * leave gaps in the chain; then it is the life with the highest version below. `goingOn` is sorted by `end`, so that a
 * document with thousands of changes takes n log n steps instead of n².
 */
function takeReached<R>(goingOn: Life<R>[], seen: number): Life<R> | undefined {
  const place = firstWhere(goingOn, ({ end }) => end! > seen)
  return place === 0 ? undefined : goingOn.splice(place - 1, 1)[0]
}

/** Of lives with the same end, the one that began first is sorted last, because `takeReached` removes the last. */
function placeOf<R>(goingOn: readonly Life<R>[], { end, index }: Life<R>): number {
  return firstWhere(goingOn, (other) => other.end! > end! || (other.end === end && other.index < index))
}

/** Binary search for the first index where the predicate is true; it must be true for all items behind it. */
function firstWhere<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(list[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
