/** Where the documents are during a run: a place for Smalt and one, with the same in it, for the limit. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import type { Statements } from './bare.ts'
import { type Program, type Server, startLimit, startSubject } from './children.ts'

export interface Place extends AsyncDisposable {
  /** Which database, and its version. */
  readonly database: string
  startSubject(profile?: string): Promise<Server>
  startLimit(statements: Statements): Promise<Server>
  /** What the documents of the bench take, and how many updates needed no new index entries; PostgreSQL only. */
  storage?(statements: Statements): Promise<Storage>
  /** Serves the documents from a plain table; PostgreSQL only, and only after a copy with tables. */
  startTables?(): Promise<Server>
  /** What that table takes. */
  tablesStorage?(): Promise<Storage>
  /** Gives the limit what Smalt has stored, in the same layout, and on PostgreSQL the plain table if it is wanted. */
  copy(statements: Statements, options: { readonly hasTables: boolean }): Promise<void>
}

export interface Storage {
  readonly megabytes: number
  readonly updates: number
  readonly hotUpdates: number
}

export function sqlitePlace(program: Program): Place {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-bench-'))
  const remove = (): void => rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  process.on('exit', remove)
  const subject = join(directory, 'subject')
  const limit = join(directory, 'limit')
  return {
    database: `SQLite ${sqliteVersion()}`,
    startSubject: (profile) => startSubject(program, `sqlite:${subject}`, profile),
    startLimit: (statements) => startLimit('limit.ts', [limit, JSON.stringify(statements)]),
    async copy() {
      // the same file, so the same layout down to the page
      cpSync(subject, limit, { recursive: true })
    },
    async [Symbol.asyncDispose]() {
      remove()
    },
  }
}

function sqliteVersion(): string {
  using database = new DatabaseSync(':memory:')
  const { version } = database.prepare('select sqlite_version() as version').get() as { version: string }
  return version
}
