/** Requests that could stop the process, row by row: no long pause, an answer in time, others served, memory back. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { StoreKind } from '../../../src/store/store.ts'
import { defineNeighbour, judge, observe, print } from './observe.ts'
import type { Row } from './row.ts'
import { EVENT_ROWS } from './rows-events.ts'
import { INPUT_ROWS } from './rows-input.ts'
import { PRODUCT_ROWS } from './rows-products.ts'
import { SHARING_ROWS } from './rows-sharing.ts'
import { type WatchedOptions, type WatchedService, startWatched } from './service.ts'
import { STORES } from '../../support/store-kind.ts'
import { createShared } from './shared.ts'

const ROWS: readonly Row[] = [...INPUT_ROWS, ...PRODUCT_ROWS, ...SHARING_ROWS, ...EVENT_ROWS]

/** A file for each kind of store, so that both can run at once. */
export function testRows(kind: StoreKind): void {
  if (!STORES.includes(kind)) return
  const shared = createShared(start)
  after(() => shared[Symbol.asyncDispose]())
  for (const row of ROWS) {
    if (row.stores && !row.stores.includes(kind)) continue
    test(`row ${row.id} on ${kind}: ${row.what}`, { timeout: 90_000 }, async () => {
      if (!row.options) return await shared.use(kind, (on) => holds(on, row))
      await using on = await start(kind, row.options)
      await holds(on, row)
    })
  }
}

async function start(kind: StoreKind, options?: WatchedOptions): Promise<WatchedService> {
  const on = await startWatched(kind, options)
  await defineNeighbour(on)
  return on
}

async function holds(on: WatchedService, row: Row): Promise<void> {
  await row.prepare?.(on)
  const seen = await observe(on, () => row.send(on))
  const line = print(`row ${row.id}`, on, seen)
  judge(on, seen, row.expected, line)
  await row.check?.(on, seen)
  assert.deepEqual(on.faults(), [])
}
