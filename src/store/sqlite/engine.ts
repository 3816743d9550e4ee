/** SQLite as an engine for bookkeeping: reads run synchronously, batches run in the writer. */
import type { BatchOptions, Engine, Row, Rows, EngineSession } from '../engine.ts'
import { type Fragment, raw, render, sql } from '../sql/fragment.ts'
import { SQLITE } from '../sql/sqlite-dialect.ts'
import type { Statements } from './read/reads.ts'
import type { Writer } from './write/writer.ts'

interface EngineOptions {
  readonly statements: Statements
  readonly writer: Pick<Writer, 'run' | 'transact'>
  readonly run?: Engine['run']
  readonly listen?: Engine['listen']
}

export function createSqliteEngine({ statements, writer, run, listen }: EngineOptions): Engine {
  const query = (fragment: Fragment): Rows => queryIn(statements, fragment)
  const session: EngineSession = { query: async (fragment) => query(fragment) }

  async function batch(fragments: readonly Fragment[], { undoUnless, bounds }: BatchOptions = {}) {
    const perform = (): readonly Rows[] =>
      fragments.map((fragment, i) => {
        const rows = query(fragment)
        if (i === undoUnless && rows.length === 0) throw new Undone()
        return rows
      })
    try {
      return await writer.run(perform, bounds)
    } catch (error) {
      if (error instanceof Undone) return undefined
      throw error
    }
  }

  return {
    dialect: SQLITE,
    isShared: false,
    now: raw(`cast(round(unixepoch('subsec') * 1000) as integer)`),
    run: run ?? ((_, work) => work()),
    query: session.query,
    batch: batch as Engine['batch'],
    // Read-only work completes in one turn of the event loop, so nothing can change in between.
    transaction: (work, { isReadOnly = false } = {}) =>
      isReadOnly ? work(session) : writer.transact(() => work(session)),
    // One process owns the file, and its transactions run one after the other.
    claim: async () => undefined,
    tryClaim: async () => true,
    // One process owns the file, and it calls its own listeners after each commit.
    notify: async () => undefined,
    findImportMarker: sql`select 1 from sqlite_master where name = 'smalt_moving'`,
    secretTable: raw('smalt_secret'),
    listen: listen ?? (() => undefined),
  }
}

/** Runs synchronously, in the open transaction if there is one. */
export function queryIn(statements: Statements, fragment: Fragment): Rows {
  const { text, values } = render(fragment, SQLITE.placeholder)
  return statements.prepare(text).all(...values) as unknown as readonly Row[]
}

/** Makes the writer roll back a batch. */
class Undone extends Error {}
