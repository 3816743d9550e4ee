/** The rows of a statement, counted as they come: what would be too much is neither kept nor read to its end. */
import pg from 'pg'
import type { SqlValue } from '../sql/fragment.ts'
import { isCancelled } from './failures.ts'

/** Columns as the server prints them. */
export type Row = readonly (string | null)[]

/** More than this is not held at once for a find; larger pages are read piece by piece. */
export const MOST_AT_ONCE = 64 * 1024 * 1024

interface Most {
  readonly mostBytes: number
  /** Told once; whoever is told is to end the statement. */
  readonly onTooMuch: () => void
}

/** A statement for the driver. */
export interface Prepared {
  readonly text: string
  readonly values: readonly SqlValue[]
  /** Under which it stays prepared on the connection; as it is when absent. */
  readonly name: string | undefined
}

/** All rows, however many. */
export async function gatherAll(client: pg.PoolClient, prepared: Prepared): Promise<readonly Row[]> {
  return (await gather(client, prepared, ALL))!
}

const ALL: Most = { mostBytes: Infinity, onTooMuch: () => undefined }

/** Undefined when it was too much, once the statement has ended. */
export function gather(
  client: pg.PoolClient,
  prepared: Prepared,
  { mostBytes, onTooMuch }: Most,
): Promise<readonly Row[] | undefined> {
  let rows: Row[] | undefined = []
  let bytes = 0
  const onRow = (row: Row): void => {
    if (!rows) return
    bytes += sizeOf(row)
    if (bytes <= mostBytes) {
      rows.push(row)
      return
    }
    rows = undefined
    onTooMuch()
  }
  return new Promise((resolve, reject) => {
    const onEnd = (error: Error | null): void => {
      if (!error) resolve(rows)
      else if (!rows && isCancelled(error)) resolve(undefined)
      else reject(error)
    }
    client.query(new RowsAsSent(prepared, onRow, onEnd))
  })
}

/** What the driver's connection takes; its types do not tell. */
interface Wire {
  parse(statement: { readonly text: string; readonly name: string | undefined }): void
  bind(bound: {
    readonly statement: string | undefined
    readonly values: readonly SqlValue[]
    readonly valueMapper: (value: SqlValue) => string | null
  }): void
  execute(): void
  sync(): void
  readonly submittedNamedStatements: Record<string, string>
}

/** Columns are known by their places: nobody has to say what they are called, nor to convert them. */
class RowsAsSent extends pg.Query<string[]> {
  declare readonly text: string
  declare readonly values: readonly SqlValue[]
  declare name: string | undefined
  declare callback: (error: Error | null) => void
  declare readonly hasBeenParsed: (wire: Wire) => boolean
  readonly #onRow: (row: Row) => void

  constructor(
    { text, values, name }: Prepared,
    onRow: (row: Row) => void,
    onEnd: (error: Error | null) => void,
  ) {
    // A config would be copied property by property.
    super(text, values)
    this.name = name
    this.callback = onEnd
    this.#onRow = onRow
  }

  prepare(wire: Wire): void {
    const { text, name, values } = this
    if (!this.hasBeenParsed(wire)) {
      wire.parse({ text, name })
      if (name !== undefined) wire.submittedNamedStatements[name] = text
    }
    wire.bind({ statement: name, values, valueMapper: printed })
    wire.execute()
    wire.sync()
  }

  handleRowDescription(): void {
    // comes only where nothing was prepared
  }

  handleCommandComplete(): void {
    // says how many rows there were
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#onRow(fields)
  }
}

function printed(value: SqlValue): string | null {
  return value === null ? null : String(value)
}

/** About as many bytes; what is exact costs more than it tells. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const column of row) if (column !== null) size += column.length
  return size
}
