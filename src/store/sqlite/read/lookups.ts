/** Batches point lookups: those of one turn of the event loop become one statement. */
import type { StoredDocument } from '../../../plan/plan.ts'
import type { Table } from '../catalogue.ts'
import type { Statements, StoredRow } from './reads.ts'

export interface Lookups {
  find(table: Table, id: string): Promise<StoredDocument | undefined>
}

interface Waiting {
  readonly table: Table
  readonly id: string
  readonly resolve: (document: StoredDocument | undefined) => void
  readonly reject: (reason: unknown) => void
}

export function createLookups(statements: Statements): Lookups {
  let waiting: Waiting[] = []

  function answerAll(): void {
    const batch = waiting
    waiting = []
    const started = performance.now()
    const late: Waiting[] = []
    for (const [table, lookups] of Map.groupBy(batch, ({ table }) => table)) {
      for (let i = 0, size = pieceOf(table); i < lookups.length; i += size, size = pieceOf(table)) {
        const piece = lookups.slice(i, i + size)
        if (performance.now() - started > MAX_BLOCKED_MS) late.push(...piece)
        else answer(table, piece, statements)
      }
    }
    if (late.length > 0 && waiting.length === 0) setImmediate(answerAll)
    waiting = [...late, ...waiting]
  }

  return {
    find(table, id) {
      const { promise, resolve, reject } = Promise.withResolvers<StoredDocument | undefined>()
      if (waiting.length === 0) setImmediate(answerAll)
      waiting.push({ table, id, resolve, reject })
      return promise
    },
  }
}

/** Time slice: large documents take long to read and to send, so other requests run in between. */
const MAX_BLOCKED_MS = 2
const PIECE_CHARACTERS = 1024 * 1024

/** The average size of the documents read last. */
const sizes = new WeakMap<Table, number>()

function pieceOf(table: Table): number {
  return Math.max(1, Math.floor(PIECE_CHARACTERS / Math.max(1, sizes.get(table) ?? 1)))
}

function answer(table: Table, lookups: readonly Waiting[], statements: Statements): void {
  try {
    const found = readAll(table, lookups, statements)
    const characters = [...found.values()].reduce((sum, { text }) => sum + text.length, 0)
    if (found.size > 0) sizes.set(table, characters / found.size)
    for (const { id, resolve } of lookups) resolve(found.get(id))
  } catch (error) {
    for (const { reject } of lookups) reject(error)
  }
}

function readAll(
  table: Table,
  lookups: readonly Waiting[],
  statements: Statements,
): Map<string, StoredDocument> {
  const columns = `select id, version, doc from ${table.name}`
  const rows =
    lookups.length === 1
      ? statements.prepare(`${columns} where id = ?`).all(lookups[0]!.id)
      : statements
          .prepare(`${columns} where id in (select value from json_each(?))`)
          .all(JSON.stringify(lookups.map(({ id }) => id)))
  return new Map((rows as unknown as StoredRow[]).map(([id, version, text]) => [id, { id, version, text }]))
}
