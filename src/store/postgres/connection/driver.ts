/**
 * Everything that depends on private parts of the `pg` driver: its wire methods, its stream, and members that its types
 * leave out. package.json therefore names one exact version, and test/store/postgres-driver.test.ts fails on another.
 */
import type { Writable } from 'node:stream'
import pg from 'pg'
import { memoized } from '../../../base/memo.ts'
import type { SqlValue, Statement } from '../../sql/fragment.ts'
import { createPreparedRoom } from './statement-names.ts'

/** Columns in the server's text format. */
export type Row = readonly (string | null)[]

export interface NamedStatement extends Statement {
  /** The name under which it stays prepared on the connection; undefined for a statement that is not prepared. */
  readonly name: string | undefined
}

/** The driver's `Connection`, which its types omit. Each method writes one message of the protocol. */
interface Wire {
  parse(statement: { readonly text: string; readonly name: string | undefined }): void
  bind(bound: {
    readonly statement: string | undefined
    readonly values: readonly SqlValue[]
    readonly valueMapper: (value: SqlValue) => string | null
  }): void
  execute(): void
  close(closed: { readonly type: 'S'; readonly name: string }): void
  sync(): void
  /** Texts by name, from the answer of the server on. */
  readonly parsedStatements: Record<string, string>
}

interface Listener {
  readonly onRow: (row: Row) => void
  readonly onEnd: (error: Error | null) => void
}

/**
 * A query without column descriptions and conversions: readers access columns by position, and for small
 * results the descriptions cost more than the rows.
 */
export class RawQuery extends pg.Query<string[]> {
  declare readonly text: string
  declare readonly values: readonly SqlValue[]
  declare name: string | undefined
  declare callback: (error: Error | null) => void
  readonly #onRow: (row: Row) => void

  constructor({ text, values, name }: NamedStatement, { onRow, onEnd }: Listener) {
    // Separate arguments, because the driver copies an object property by property.
    super(text, values)
    this.name = name
    this.callback = onEnd
    this.#onRow = onRow
  }

  /**
   * The driver's own `prepare` without the Describe message. Statements sent behind this one may use its name before the
   * server has answered; if parsing fails, they fail too.
   */
  prepare(wire: Wire): void {
    const { text, name, values } = this
    if (name === undefined) wire.parse({ text, name })
    else if (!rooms(wire).use(name)) this.#prepareAs(name, wire)
    wire.bind({ statement: name, values, valueMapper: textOf })
    wire.execute()
    wire.sync()
  }

  /** Closes old statements in front of a new one. Those in flight still find them, because the server keeps the order. */
  #prepareAs(name: string, wire: Wire): void {
    const { text } = this
    const room = rooms(wire)
    room.take(name, text.length, (old) => {
      wire.close({ type: 'S', name: old })
      delete wire.parsedStatements[old]
    })
    wire.parse({ text, name })
    // Only here, because wrapping the callback of every query made garbage collection twice as expensive.
    const onEnd = this.callback
    this.callback = (error) => {
      room.answered(name, wire.parsedStatements[name] !== undefined)
      onEnd(error)
    }
  }

  handleRowDescription(): void {
    // Received only for statements that are not prepared: those without name and values.
  }

  handleCommandComplete(): void {
    // The driver would store the number of rows, which is not needed.
  }

  handleDataRow({ fields }: { readonly fields: Row }): void {
    this.#onRow(fields)
  }
}

const rooms = memoized((_wire: Wire) => createPreparedRoom())

function textOf(value: SqlValue): string | null {
  return value === null ? null : String(value)
}

/** The status that the server reported last: `I` outside of a transaction. */
export function transactionStatus(client: pg.PoolClient): string | null {
  return insideOf(client).getTransactionStatus()
}

/** The process id of the server's backend, with which another connection can cancel its statement. */
export function backendOf(client: pg.PoolClient): number {
  return insideOf(client).processID
}

/** Destroys the socket: statements on the connection fail at once, and the server is not notified. */
export function breakOff(client: pg.PoolClient): void {
  insideOf(client).connection.stream.destroy()
}

/**
 * The returned function must be called before each statement. Statements of one turn of the event loop then
 * go to the server in one packet, which wakes it once instead of once for each.
 */
export function sendingTogether(client: pg.PoolClient): () => void {
  const { stream } = insideOf(client).connection
  let isCorked = false
  return () => {
    if (isCorked) return
    isCorked = true
    stream.cork()
    setImmediate(() => {
      isCorked = false
      stream.uncork()
    })
  }
}

/** Members of a client that the driver's types omit. */
interface Inside {
  readonly processID: number
  readonly connection: { readonly stream: Writable }
  getTransactionStatus(): string | null
}

function insideOf(client: pg.PoolClient): Inside {
  return client as unknown as Inside
}
