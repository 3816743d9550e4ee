/** The kinds of store, and the one that the running test uses: SQLite, unless it is inside `onEveryStore`. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite } from 'node:test'
import type { StoreKind } from '../../src/store/store.ts'
import { citusUrl } from './citus.ts'
import { freshDatabase, reusedDatabase } from './postgres.ts'
// eslint-disable-next-line import/no-unassigned-import -- before the first test is defined
import './untracked-promises.ts'

/** An empty place for one store, gone with everything in it when disposed. */
export interface Place extends AsyncDisposable {
  /** As the service is told it: `sqlite:DIRECTORY`, or a URL. */
  readonly location: string
}

/** On a cluster only what it keeps is tested. */
export const STORES: readonly StoreKind[] = citusUrl() === undefined ? ['sqlite', 'postgres'] : ['postgres']

let chosen: StoreKind = 'sqlite'
const opened = new Set<StoreKind>()

export function storeKind(): StoreKind {
  return chosen
}

export function chooseStore(kind: StoreKind): void {
  chosen = kind
}

/** To be called by a file whose tests all use this store, and that has no `onEveryStore`. */
export function useStore(kind: StoreKind): void {
  before(() => chooseStore(kind))
}

/** Registers the tests and hooks of `define` once for each kind of store: a suite each, one after the other. */
export function onEveryStore(define: (kind: StoreKind) => void): void {
  for (const kind of STORES) {
    void suite(`on ${kind}`, () => {
      // once for what `define` computes now, once for when the tests run
      chooseStore(kind)
      before(() => {
        chooseStore(kind)
        opened.delete(kind)
      })
      after(() => {
        // tests that follow outside of the suite, in this file or another one, are on SQLite
        chooseStore('sqlite')
        // a service that is shared beyond the suite would run these tests on another store, and they would pass
        assert.ok(opened.has(kind), `no store was opened on ${kind}`)
      })
      define(kind)
      chooseStore('sqlite')
    })
  }
}

/** To be called where a test uses a store that was opened before. */
export function markOpened(kind: StoreKind): void {
  opened.add(kind)
}

export async function freshPlace(kind: StoreKind = chosen): Promise<Place> {
  markOpened(kind)
  return kind === 'sqlite' ? freshDirectory() : placeIn(await freshDatabase())
}

/** As `freshPlace`, for a service in this process: on PostgreSQL, its tables may be there already. */
export async function reusedPlace(kind: StoreKind = chosen): Promise<Place> {
  markOpened(kind)
  return kind === 'sqlite' ? freshDirectory() : placeIn(await reusedDatabase())
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

function placeIn(database: { readonly url: string } & AsyncDisposable): Place {
  return { location: database.url, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() }
}

/** The directory of a place of SQLite. */
export function directoryOf(location: string): string {
  return location.slice('sqlite:'.length)
}
