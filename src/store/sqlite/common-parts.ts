/** What the stores of all threads of a process have in common. */
import { type Operation, ping } from '../engine.ts'
import type { Database } from '../database.ts'
import type { Bookkeeping, TransactOptions } from '../store.ts'
import { bookkeepingIn, bookkeepingOperations } from '../tables/bookkeeping.ts'
import { createTransfer } from '../tables/export.ts'
import type { Catalogue } from './catalogue.ts'
import { collectionsOf } from './collections.ts'
import { createSqliteEngine } from './engine.ts'
import type { Connection } from './file/connection.ts'
import { isTooBig, tooBig } from './file/failures.ts'
import type { Readers } from './read/readers.ts'
import type { Statements } from './read/reads.ts'
import { forgetSizes } from './read/table-size.ts'
import type { DirectSession } from './session.ts'
import { collectionExport } from './transfer/export.ts'
import { collectionImport } from './transfer/import.ts'
import { readHistory } from './write/history.ts'
import { OUTBOX_TABLE, type OutboxWriter } from './write/outbox.ts'
import type { Writer } from './write/writer.ts'

export interface Parts {
  readonly connection: Connection
  readonly catalogue: Catalogue
  readonly statements: Statements
  readonly outbox: OutboxWriter
  readonly writer: Writer
  readonly readers: Readers
  /** Present on the thread that owns the file. */
  readonly maintenance?: AsyncDisposable
  /** The same. */
  readonly filler?: AsyncDisposable
  /** The same. Called when another thread may have changed metadata. */
  readonly onMetadata?: (() => void)[]
  readonly direct: DirectSession
  readonly timed: Timed
}

/** The parts that are the same on every thread. */
export function commonParts(parts: Parts) {
  const { connection, catalogue, statements, outbox, writer, readers, direct, timed } = parts
  const { database } = connection
  const engine = createSqliteEngine({
    statements,
    writer,
    // One process owns the file, so no other process can change metadata, but its threads can.
    listen: (topic, listener) =>
      topic === 'events' ? outbox.onEvents(listener) : void parts.onMetadata?.push(listener),
    run: (operation, work) => (TIMED.has(operation) ? timed(operation, work) : work()),
  })
  const collections = collectionsOf(engine, catalogue)
  return {
    kind: 'sqlite',
    isShared: false,
    answers: direct.answers,
    canJoin: direct.canJoin,
    canAggregate: direct.canAggregate,
    description: 'SQLite, every write on disk before it is answered (WAL, synchronous=FULL)',
    ...bookkeepingOperations(engine, { collections, outbox: OUTBOX_TABLE }),
    readHistory: (request, bounds) =>
      readHistory(request, { tableNow: () => catalogue.tableOf(request.collection), readers, bounds }),
    transfer: createTransfer({
      engine,
      collections,
      outbox: OUTBOX_TABLE,
      from: collectionExport(database, catalogue),
      openImport: () => collectionImport({ database, catalogue, writer }),
      // One process owns the file, so there is no concurrent move.
      claim: async () => ({ [Symbol.asyncDispose]: async () => undefined }),
    }),
    ping: () => ping(engine),
    async [Symbol.asyncDispose]() {
      await parts.filler?.[Symbol.asyncDispose]()
      await writer.drain()
      await readers[Symbol.asyncDispose]()
      await parts.maintenance?.[Symbol.asyncDispose]()
      connection[Symbol.dispose]()
    },
  } satisfies Partial<Database>
}

/** A dry run ends by an error, which rolls the transaction back; sequences are part of it. */
export async function transactOn<T>(
  { writer, catalogue }: Pick<Parts, 'writer' | 'catalogue'>,
  work: () => Promise<T>,
  { isReadOnly = false, isDryRun = false, bounds }: TransactOptions = {},
): Promise<T> {
  if (!isDryRun) return await writer.transact(work, { isReadOnly, bounds })
  let done: { readonly result: T } | undefined
  try {
    await writer.transact(
      async () => {
        done = { result: await work() }
        throw new NotCommitted()
      },
      { bounds },
    )
  } catch (error) {
    if (!(error instanceof NotCommitted)) throw error
  } finally {
    forgetSizes(catalogue.tables())
  }
  return done!.result
}

class NotCommitted extends Error {}

/** Statements of one connection run in its open transaction, so the bookkeeping of all transactions is the same. */
export function bookkeepingOn(statements: Statements, writer: Writer): Bookkeeping {
  const engine = createSqliteEngine({ statements, writer })
  return bookkeepingIn(engine, { query: engine.query })
}

/** Only bookkeeping that is part of requests is measured here. */
const TIMED: ReadonlySet<Operation> = new Set(['lock', 'sequence'])

/** Receives how long an operation took. */
export type OnTiming = (operation: string, seconds: number) => void

export type Timed = <T>(operation: string, work: () => Promise<T> | T) => Promise<T>

export function timing(onTiming: OnTiming | undefined): Timed {
  return async (operation, work) => {
    const start = performance.now()
    try {
      return await work()
    } catch (error) {
      throw isTooBig(error) ? tooBig() : error
    } finally {
      onTiming?.(operation, (performance.now() - start) / 1000)
    }
  }
}
