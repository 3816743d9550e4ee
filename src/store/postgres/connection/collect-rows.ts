/**
 * Collects the rows of a statement and counts their size as they arrive, so that a result that is too large
 * neither fills the memory nor has to be read to its end.
 */
import type pg from 'pg'
import { isCancelled } from './failures.ts'
import { type NamedStatement, type Row, RawQuery } from './driver.ts'

/** A find collects at most this many bytes; larger pages are read in pieces through a cursor. */
export const MAX_AT_ONCE = 64 * 1024 * 1024

interface Most {
  readonly maxBytes: number
  /**
   * Called once, at the first row above the limit. It may cancel the statement; otherwise the remaining rows
   * are read and dropped.
   */
  readonly onTooLarge: () => void
}

/** All rows, without a limit. */
export async function collectAllRows(
  client: pg.PoolClient,
  statement: NamedStatement,
): Promise<readonly Row[]> {
  return (await collectRows(client, statement, ALL))!
}

const ALL: Most = { maxBytes: Infinity, onTooLarge: () => undefined }

/** Resolves when the statement has ended; with undefined if the result was too large. */
export function collectRows(
  client: pg.PoolClient,
  statement: NamedStatement,
  { maxBytes, onTooLarge }: Most,
): Promise<readonly Row[] | undefined> {
  let rows: Row[] | undefined = []
  let bytes = 0
  const onRow = (row: Row): void => {
    if (!rows) return
    bytes += sizeOf(row)
    if (bytes <= maxBytes) {
      rows.push(row)
      return
    }
    rows = undefined
    onTooLarge()
  }
  return new Promise((resolve, reject) => {
    const onEnd = (error: Error | null): void => {
      if (!error) resolve(rows)
      else if (!rows && isCancelled(error)) resolve(undefined)
      else reject(error)
    }
    client.query(new RawQuery(statement, { onRow, onEnd }))
  })
}

/** Approximate: counts characters, because an exact number of bytes costs more than it is worth. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (column !== null) size += column.length
  return size
}
