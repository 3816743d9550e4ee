/** The write-ahead log stays small, whoever reads, or does not read on. */
import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { LOG_BYTES } from '../../src/store/sqlite/file/connection.ts'
import { openSqliteStore } from '../../src/store/sqlite/store.ts'
import type { Store } from '../../src/store/store.ts'
import { directoryOf, freshPlace } from '../support/store-kind.ts'
import { type Stage, insert, openStage } from './contract.ts'
import { SLOW, fill, longTexts, planOf } from './streams.ts'

const open = {
  freshPlace: () => freshPlace('sqlite'),
  openAt: async (location: string) => openSqliteStore({ directory: directoryOf(location) }),
}
const BOUNDS = { timeLimitMs: 30_000 }
const MEGABYTE = 1024 * 1024

function logBytes({ location }: Stage): number {
  return statSync(join(directoryOf(location), 'smalt.db-wal')).size
}

async function writeMegabytes(store: Store, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const documents = Array.from({ length: 64 }, () => ({
      _id: crypto.randomUUID(),
      s: 'x'.repeat(16 * 1024),
    }))
    await insert(store, JSON.stringify(documents))
  }
}

test('log: with streams that nobody reads it does not grow with what is written', async () => {
  await using stage = await openStage(open)
  await fill(stage.store)
  const unread = Array.from({ length: 12 }, () =>
    stage.store.stream(planOf({}), BOUNDS)[Symbol.asyncIterator](),
  )
  for (const reader of unread) await reader.next()
  await writeMegabytes(stage.store, 40)
  assert.ok(logBytes(stage) < 2 * LOG_BYTES, `${logBytes(stage) / MEGABYTE} MiB`)
  for (const reader of unread) await reader.return?.()
})

test('log: it is short again soon after a long read has ended', async () => {
  await using stage = await openStage(open)
  // starts the thread, which takes long on a busy machine; the next read begins at once
  await stage.store.find(planOf({ query: SLOW }), () => undefined, BOUNDS)
  await insert(stage.store, longTexts(300))
  const controller = new AbortController()
  const reading = stage.store.find(planOf({ query: SLOW }), () => undefined, {
    ...BOUNDS,
    getSignal: () => controller.signal,
  })
  const ended = assert.rejects(reading, { code: 'crud:Unavailable' })
  await writeMegabytes(stage.store, 40)
  assert.ok(logBytes(stage) > 2 * LOG_BYTES, 'the read has kept what was written')
  controller.abort()
  await ended
  while (logBytes(stage) > LOG_BYTES) await new Promise((resolve) => setTimeout(resolve, 20))
})
