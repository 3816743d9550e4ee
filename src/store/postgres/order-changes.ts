/**
 * In which order documents changed, when all that is known is which version each change saw and which one it made. The
 * clocks of several machines made the versions, so that only within the life of one document they are sure to rise.
 */

import { compareText } from '../../base/text.ts'

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
  /** The version it has reached; undefined when the document is gone. */
  end: number | undefined
}

function orderOwn<R extends ChangeRow>(rows: readonly R[]): readonly R[] {
  if (rows.length === 1) return rows
  const earlier: Life<R> = { rows: [], end: -Infinity }
  const lives: Life<R>[] = []
  for (const row of rows.toSorted(byVersion)) {
    const life = isLater(row) ? lifeAt(row, earlier, lives) : lifeBegunBy(row, lives)
    life.rows.push(row)
    life.end = row.version
  }
  // An insert follows a delete: a life that goes on can only be the last.
  const isOver = ({ end }: Life<R>): boolean => end === undefined
  const ended = lives.filter(isOver)
  const goingOn = lives.filter((life) => !isOver(life))
  return [earlier, ...ended, ...goingOn].flatMap((life) => life.rows)
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

/** A second event of the same insert belongs to the first. */
function lifeBegunBy<R extends ChangeRow>(row: R, lives: Life<R>[]): Life<R> {
  const same = lives.find(({ rows }) => isSameChange(rows.at(-1), row))
  if (same) return same
  const life: Life<R> = { rows: [], end: row.version }
  lives.push(life)
  return life
}

/** The one that reached just this version, or else, since changes that nobody watches are not told, a lower one. */
function lifeAt<R extends ChangeRow>(
  row: R & { readonly seen: number },
  earlier: Life<R>,
  lives: readonly Life<R>[],
): Life<R> {
  const all = [earlier, ...lives]
  const again = all.find(({ rows }) => isSameChange(rows.at(-1), row))
  if (again) return again
  const possible = all.filter(({ end }) => end !== undefined && end <= row.seen)
  return possible.toSorted((a, b) => b.end! - a.end!)[0] ?? earlier
}

function isSameChange(a: ChangeRow | undefined, b: ChangeRow): boolean {
  return a !== undefined && a.seen === b.seen && a.version === b.version
}
