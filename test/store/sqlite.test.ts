/** The embedded store: the contract, references, watched changes, past versions, and what only a file can get wrong. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { Worker } from 'node:worker_threads'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import { toEarlierSqlite } from '../support/earlier-sqlite.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { SCHEMA, change, find, index, insert, openStage, storeContract } from './contract.ts'
import { eventContract } from './events.ts'
import { type OpenWithClock, pastContract } from './past.ts'
import { referenceContract } from './references.ts'
import { sharedStatesContract } from './shared-states.ts'

const open = (directory: string, now?: () => number) => openSqliteStore({ directory, ...(now && { now }) })
const sqlite: OpenWithClock = {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location, now) => open(directoryOf(location), now),
}
const { collection } = SCHEMA

storeContract('sqlite', sqlite)
referenceContract('sqlite', sqlite)
eventContract('sqlite', sqlite)
pastContract('sqlite', sqlite)
sharedStatesContract('sqlite', {
  ...sqlite,
  async downgrade({ location }) {
    toEarlierSqlite(directoryOf(location))
    using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'))
    database.exec('drop table smalt_answer; alter table smalt_event drop column holder')
    database.exec('pragma user_version = 5')
  },
  async bytesOfStates({ location }) {
    using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
    const bytes = 'sum(coalesce(length(before), 0) + coalesce(length(after), 0))'
    return Number(database.prepare(`select ${bytes} bytes from smalt_event`).get()!['bytes'])
  },
})

test('sqlite: a second process on the same directory is refused, and may come when the first is gone', async () => {
  await using stage = await openStage(sqlite)
  assert.throws(() => open(directoryOf(stage.location)), { code: 'SMALT_LOCKED' })
  await insert(stage.store, '[{"_id":"a"}]')
  assert.equal((await find(stage.store)).matchCount, 1, 'the first one goes on')
})

test('sqlite: data of a newer release is refused, and left as it is', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-store-'))
  try {
    await open(directory)[Symbol.asyncDispose]()
    const file = join(directory, 'smalt.db')
    const pragma = (text: string): unknown => {
      using database = new DatabaseSync(file)
      return database.prepare(`pragma ${text}`).get()
    }
    pragma('user_version = 999')
    assert.throws(() => open(directory), /newer release/)
    assert.deepEqual({ ...(pragma('user_version') as object) }, { user_version: 999 })
    assert.throws(() => open(directory), /newer release/, 'a failed start lets go of the directory')
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

test('sqlite: somebody who looks into the file for a moment does not keep it from being opened', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'smalt-store-'))
  try {
    const looking = new Worker(LOOKING, { eval: true, workerData: join(directory, 'smalt.db') })
    await once(looking, 'message')
    await open(directory)[Symbol.asyncDispose]()
    await looking.terminate()
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
})

/** Holds the lock of a reader for a while, on a file in which nothing is yet. */
const LOOKING = `
  const { parentPort, workerData } = require('node:worker_threads')
  const { DatabaseSync } = require('node:sqlite')
  const database = new DatabaseSync(workerData)
  database.exec('create table other(x); begin')
  database.prepare('select * from other').all()
  parentPort.postMessage('looking')
  setTimeout(() => database.close(), 500)
`

test('sqlite: changing indexes never rebuilds what did not change', async () => {
  await using stage = await openStage(sqlite, [index(['s']), index(['s', 'i'], true)])
  const { store, location } = stage
  await insert(store, '[{"_id":"a","s":"x","i":1}]')
  const built = (): Map<string, number> => {
    using database = new DatabaseSync(join(directoryOf(location), 'smalt.db'), { readOnly: true })
    const rows = database.prepare(
      `select name, rootpage from sqlite_schema where type = 'index' and name like 'idx%'`,
    )
    return new Map(rows.all().map(({ name, rootpage }) => [String(name), Number(rootpage)]))
  }
  const before = built()
  const indexes = [index(['s', 'i'], true), index(['s']), index(['i'])]
  await store.metadata.changeMetadata(await change(store, { prepare: { collection, indexes, paths: [] } }))
  const after = built()
  assert.equal(after.size, before.size + 1)
  for (const [name, page] of before) assert.equal(after.get(name), page, `${name} stayed where it was`)
  await store.metadata.changeMetadata(
    await change(store, { prepare: { collection, indexes: [index(['i'])], paths: [] } }),
  )
  assert.equal(built().size, 1)
})

test('sqlite: versions rise when the clock stands still or is set back', async () => {
  const times = [1000, 1000, 500, 2000]
  await using stage = await openStage({
    ...sqlite,
    openAt: async (location) =>
      openSqliteStore({ directory: directoryOf(location), now: () => times.shift() ?? 0 }),
  })
  const versions: number[] = []
  for (const id of ['a', 'b', 'c', 'd']) {
    const [outcome] = await insert(stage.store, `[{"_id":"${id}"}]`)
    if (outcome!.kind === 'inserted') versions.push(outcome!.document.version)
  }
  assert.deepEqual(versions, [1000, 1001, 1002, 2000])
})
