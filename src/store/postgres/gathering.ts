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
  let rows: Row[] | undefined = []
  let bytes = 0
  const query = new RowsAsSent(config, (row) => {
    if (!rows) return
    bytes += sizeOf(row)
    if (bytes <= mostBytes) {
      rows.push(row)
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

/** The driver hears with every answer what its columns are called and how to convert them; nobody here asks for that. */
class RowsAsSent extends pg.Query<string[]> {
  readonly #onRow: (row: Row) => void

  constructor(config: pg.QueryArrayConfig, onRow: (row: Row) => void) {
    super(config)
    this.#onRow = onRow
  }

  handleRowDescription(): void {
    // columns are known by their places
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#onRow(fields)
  }
}

/** About as many bytes; what is exact costs more than it tells. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (column !== null) size += column.length
  return size
}
