/** The rows of a statement, counted as they come: what would be too much is neither kept nor read to its end. */
import pg from 'pg'
import { isCancelled } from './failures.ts'

/** Columns as the server prints them. */
type Row = readonly (string | null)[]

/** More than this is not held at once for a find; larger pages are read piece by piece. */
export const MOST_AT_ONCE = 64 * 1024 * 1024

interface Gathering {
  readonly mostBytes: number
  /** Told once; whoever is told is to end the statement. */
  readonly onTooMuch: () => void
}

/** Undefined when it was too much, once the statement has ended. */
export function gather(
  client: pg.PoolClient,
  config: pg.QueryArrayConfig,
  { mostBytes, onTooMuch }: Gathering,
): Promise<readonly Row[] | undefined> {
  const query = new pg.Query<string[]>(config)
  let rows: Row[] | undefined = []
  let bytes = 0
  query.on('row', (row) => {
    if (!rows) return
    const arrived = row as unknown as Row
    bytes += sizeOf(arrived)
    if (bytes <= mostBytes) {
      rows.push(arrived)
      return
    }
    rows = undefined
    onTooMuch()
  })
  return new Promise((resolve, reject) => {
    query.on('end', () => resolve(rows))
    query.on('error', (error) => (!rows && isCancelled(error) ? resolve(undefined) : reject(error)))
    client.query(query)
  })
}

/** About as many bytes; what is exact costs more than it tells. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (column !== null) size += column.length
  return size
}
