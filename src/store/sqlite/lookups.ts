/** Point lookups that arrive in one turn of the event loop become one statement. */
import type { StoredDocument } from '../../plan/plan.ts'
import type { Table } from './catalogue.ts'
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
    for (const [table, lookups] of Map.groupBy(batch, ({ table }) => table))
      answer(table, lookups, statements)
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

function answer(table: Table, lookups: readonly Waiting[], statements: Statements): void {
  try {
    const found = readAll(table, lookups, statements)
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
