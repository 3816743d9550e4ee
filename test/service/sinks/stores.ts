/** Places where sinks are remembered, on both kinds of store. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { openConnections } from '../../../src/store/postgres/connection/connections.ts'
import { readLocation } from '../../../src/store/postgres/connection/location.ts'
import { migrate as migratePostgres } from '../../../src/store/postgres/schema/migrations.ts'
import { createRunner } from '../../../src/store/postgres/runner.ts'
import { createPostgresEngine } from '../../../src/store/postgres/engine.ts'
import type { SinkStore } from '../../../src/store/sinks.ts'
import { migrate as migrateSqlite } from '../../../src/store/sqlite/migrations.ts'
import { createStatements } from '../../../src/store/sqlite/read/reads.ts'
import { createSqliteEngine, queryIn } from '../../../src/store/sqlite/engine.ts'
import { createWriter } from '../../../src/store/sqlite/write/writer.ts'
import { createSinks, freeAllSinks } from '../../../src/store/tables/sinks.ts'
import type { StoreKind } from '../../../src/store/store.ts'
import { freshDatabase } from '../../support/postgres.ts'

export interface SinkDatasource extends AsyncDisposable {
  readonly location: string
  /** As one process sees it; SQLite has one only. */
  open(): Promise<OpenSinks>
}

export type OpenSinks = SinkStore & AsyncDisposable

export function sinkPlace(kind: StoreKind): Promise<SinkDatasource> {
  return kind === 'sqlite' ? sqlitePlace() : postgresPlace()
}

/** `sqlite:FILE`, or a URL. */
export function openSinks(location: string): OpenSinks {
  return location.startsWith('sqlite:')
    ? openSqlite(location.slice('sqlite:'.length))
    : openPostgres(location)
}

async function sqlitePlace(): Promise<SinkDatasource> {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-'))
  const location = `sqlite:${join(directory, 'smalt.db')}`
  // those of a test share its connection, as the parts of a process do
  const store = openSinks(location)
  return {
    location,
    open: async () => ({ ...store, [Symbol.asyncDispose]: async () => undefined }),
    async [Symbol.asyncDispose]() {
      await store[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function openSqlite(file: string): OpenSinks {
  const database = new DatabaseSync(file)
  database.exec('pragma journal_mode = wal; pragma synchronous = full')
  migrateSqlite(database)
  const statements = createStatements(database)
  queryIn(statements, freeAllSinks())
  const writer = createWriter(database, () => undefined)
  return {
    ...createSinks(createSqliteEngine({ statements, writer })),
    async [Symbol.asyncDispose]() {
      await writer.drain()
      database.close()
    },
  }
}

async function postgresPlace(): Promise<SinkDatasource> {
  const database = await freshDatabase()
  const location = readLocation(database.url)
  {
    await using connections = openConnections(location, () => undefined)
    await migratePostgres(connections, location)
  }
  return {
    location: database.url,
    open: async () => openSinks(database.url),
    [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
  }
}

function openPostgres(url: string): OpenSinks {
  const connections = openConnections(readLocation(url), () => undefined)
  const nothing = async (): Promise<void> => undefined
  const runner = createRunner({
    start: nothing,
    reload: nothing,
    onError: () => undefined,
    onTiming: undefined,
  })
  return {
    ...createSinks(
      createPostgresEngine({ connections, schema: '', run: runner.run, listen: () => undefined }),
    ),
    async [Symbol.asyncDispose]() {
      await runner[Symbol.asyncDispose]()
      await connections[Symbol.asyncDispose]()
    },
  }
}
