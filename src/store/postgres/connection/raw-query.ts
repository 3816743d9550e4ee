/**
 * Statements as the driver sends them, with less of what nobody here asks for. It leans on what the driver does inside,
 * which is why the driver's version is an exact one.
 */
import type { Writable } from 'node:stream'
import pg from 'pg'
import type { SqlValue, Statement } from '../../sql/fragment.ts'

/** Columns as the server prints them. */
export type Row = readonly (string | null)[]

export interface NamedStatement extends Statement {
  /** Under which it stays prepared on the connection; sent as it is when undefined. */
  readonly name: string | undefined
}

/** What the driver writes to the server with; its types do not tell. */
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

interface Listener {
  readonly onRow: (row: Row) => void
  readonly onEnd: (error: Error | null) => void
}

/** Columns are known by their places: the server need not say what they are called, nor the driver convert them. */
export class RowsAsSent extends pg.Query<string[]> {
  declare readonly text: string
  declare readonly values: readonly SqlValue[]
  declare name: string | undefined
  declare callback: (error: Error | null) => void
  declare readonly hasBeenParsed: (wire: Wire) => boolean
  readonly #onRow: (row: Row) => void

  constructor({ text, values, name }: NamedStatement, { onRow, onEnd }: Listener) {
    // An object would be copied property by property.
    super(text, values)
    this.name = name
    this.callback = onEnd
    this.#onRow = onRow
  }

  /** As the driver does, without asking for a description. Values like these can always be sent. */
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

/** Where the driver writes to. */
export function streamOf(client: pg.PoolClient): Writable {
  return (client as unknown as { readonly connection: { readonly stream: Writable } }).connection.stream
}
