/**
 * In which order documents changed, when all that is known is which version each change saw and which one it made. The
 * clocks of several machines made the versions, so that only within the life of one document they are sure to rise.
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

/** Changes of one document follow each other as they happened; those of different ones, by the time they tell. */
export function orderChanges<R extends ChangeRow>(rows: readonly R[]): readonly R[] {
  const documents = Map.groupBy(rows, ({ entity, doc }) => JSON.stringify([entity, doc]))
  const timed = [...documents.values()].flatMap((own) => {
    let time = -Infinity
    return orderOwn(own).map((row) => ({ row, time: (time = Math.max(time, row.at)) }))
  })
  // Sorting is stable, so that what has the same time stays in the order of its document; which of two documents comes
  // first then must not depend on how their rows happen to lie.
  return timed.sort((a, b) => a.time - b.time || compareText(a.row.doc, b.row.doc)).map(({ row }) => row)
}

/** From an insert to a delete; either may be missing. */
interface Life<R> {
  readonly rows: R[]
  /** Which one it is, in the order in which they begin. */
  readonly index: number
  /** The version it has reached; undefined when the document is gone. */
  end: number | undefined
}

function orderOwn<R extends ChangeRow>(rows: readonly R[]): readonly R[] {
  if (rows.length === 1) return rows
  const earlier: Life<R> = { rows: [], index: 0, end: -Infinity }
  const lives: Life<R>[] = [earlier]
  const goingOn: Life<R>[] = [earlier]
  /** By the last change of each: several events of one change belong together. */
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
  // An insert follows a delete: a life that goes on can only be the last.
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
 * Takes out the life that reached just this version, or else, since changes that nobody watches are not told, the highest
 * one below. They lie in the order of their ends, so that this takes no look at all of them.
 */
function takeReached<R>(goingOn: Life<R>[], seen: number): Life<R> | undefined {
  const place = firstWhere(goingOn, ({ end }) => end! > seen)
  return place === 0 ? undefined : goingOn.splice(place - 1, 1)[0]
}

/** Of those with the same end the one that began first lies last, and is taken first. */
function placeOf<R>(goingOn: readonly Life<R>[], { end, index }: Life<R>): number {
  return firstWhere(goingOn, (other) => other.end! > end! || (other.end === end && other.index < index))
}

/** The place from which on it holds, in a list in which it holds from some place on. */
function firstWhere<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let [low, high] = [0, list.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (holds(list[middle]!)) high = middle
    else low = middle + 1
  }
  return low
}
