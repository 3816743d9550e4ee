/** The upkeep of the file runs in timers: an error there is skipped, because it would end the process. */
import assert from 'node:assert/strict'
import { symlinkSync, truncateSync, unlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { setTimeout as pause } from 'node:timers/promises'
import { USUAL_MEMORY } from '../../src/store/sqlite/file/memory.ts'
import { createReaders } from '../../src/store/sqlite/read/readers.ts'
import { returnFreePages } from '../../src/store/sqlite/write/free-pages.ts'
import { keepLogSmall } from '../../src/store/sqlite/write/wal-checkpoints.ts'
import { createWriter } from '../../src/store/sqlite/write/writer.ts'
import { directoryOf, freshPlace, useStore } from '../support/store-kind.ts'

useStore('sqlite')

test('log: one whose size cannot be read is skipped, and emptied when it can be read again', async () => {
  await using place = await freshPlace('sqlite')
  const file = join(directoryOf(place.location), 'other.db')
  const log = `${file}-wal`
  // a link to itself: ELOOP
  symlinkSync(log, log)
  const emptied = Promise.withResolvers<void>()
  const exec = (): void => {
    truncateSync(log)
    emptied.resolve()
  }
  await using readers = createReaders({ file, memory: USUAL_MEMORY, threads: 1 })
  await using _kept = keepLogSmall({ file, exec, readers })
  // longer than the time between two looks
  await pause(400)
  unlinkSync(log)
  writeFileSync(log, 'frames')
  utimesSync(log, 0, 0)
  await emptied.promise
})

test('free pages: a file that cannot be read is skipped', async () => {
  await using place = await freshPlace('sqlite')
  const file = join(directoryOf(place.location), 'smalt.db')
  using database = new DatabaseSync(file)
  database.exec('pragma auto_vacuum = incremental; create table t(x)')
  const writer = createWriter(database, () => undefined)
  await using _returned = returnFreePages({ database, writer })
  writeFileSync(file, 'destroyed'.repeat(2_000))
  assert.throws(() => database.prepare('pragma freelist_count').get(), /not a database/)
  // longer than the time between two looks
  await pause(1_200)
})
