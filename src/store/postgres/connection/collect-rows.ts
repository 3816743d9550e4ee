/** The rows of a statement, counted as they come: what would be too much is neither kept nor read to its end. */
import type pg from 'pg'
import { isCancelled } from './failures.ts'
import { type NamedStatement, type Row, RawQuery } from './driver.ts'

/** More than this is not held at once for a find; larger pages are read piece by piece. */
export const MAX_AT_ONCE = 64 * 1024 * 1024

interface Most {
  readonly maxBytes: number
  /** Told once; whoever is told is to end the statement. */
  readonly onTooLarge: () => void
}

/** All rows, however many. */
export async function collectAllRows(
  client: pg.PoolClient,
  statement: NamedStatement,
): Promise<readonly Row[]> {
  return (await collectRows(client, statement, ALL))!
}

const ALL: Most = { maxBytes: Infinity, onTooLarge: () => undefined }

/** Undefined when it was too much, once the statement has ended. */
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

/** About as many bytes; what is exact costs more than it tells. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (column !== null) size += column.length
  return size
}
