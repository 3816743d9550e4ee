/** On which kind of store the tests of this process run: SQLite, unless `on-postgres.ts` was imported first. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { StoreKind } from '../../src/store/store.ts'
import { freshDatabase } from './postgres.ts'

/** An empty place for one store, gone with everything in it when disposed. */
export interface Place extends AsyncDisposable {
  /** As the service is told it: `sqlite:DIRECTORY`, or a URL. */
  readonly location: string
}

let chosen: StoreKind = 'sqlite'

export function storeKind(): StoreKind {
  return chosen
}

export function chooseStore(kind: StoreKind): void {
  chosen = kind
}

export async function freshPlace(kind: StoreKind = chosen): Promise<Place> {
  return kind === 'sqlite' ? freshDirectory() : freshSchema()
}

function freshDirectory(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-'))
  return {
    location: `sqlite:${directory}`,
    async [Symbol.asyncDispose]() {
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function freshSchema(): Promise<Place> {
  const database = await freshDatabase()
  return { location: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

/** The directory of a place of SQLite. */
export function directoryOf(location: string): string {
  return location.slice('sqlite:'.length)
}
