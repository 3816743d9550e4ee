/** Requests that could stop the process, row by row: no long pause, an answer in time, others served, memory back. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { StoreKind } from '../../src/store/store.ts'
import { defineNeighbour, judge, observe, print } from './observe.ts'
import type { Row } from './row.ts'
import { EVENT_ROWS } from './rows-events.ts'
import { INPUT_ROWS } from './rows-input.ts'
import { PRODUCT_ROWS } from './rows-products.ts'
import { SHARING_ROWS } from './rows-sharing.ts'
import { STORES, type WatchedOptions, type WatchedService, startWatched } from './service.ts'

const ROWS: readonly Row[] = [...INPUT_ROWS, ...PRODUCT_ROWS, ...SHARING_ROWS, ...EVENT_ROWS]

/** One service for all rows of a store, until one of them harms it. */
const running = new Map<StoreKind, WatchedService>()

for (const kind of STORES) {
  for (const row of ROWS) {
    if (row.stores && !row.stores.includes(kind)) continue
    test(`row ${row.id} on ${kind}: ${row.what}`, { timeout: 90_000 }, async () => {
      const on = row.options ? await start(kind, row.options) : await shared(kind)
      let isSound = false
      try {
        await row.prepare?.(on)
        const seen = await observe(on, () => row.send(on))
        const line = print(`row ${row.id}`, on, seen)
        judge(on, seen, row.expected, line)
        await row.check?.(on, seen)
        assert.deepEqual(on.faults(), [])
        isSound = true
      } finally {
        if (!isSound || row.options) await on[Symbol.asyncDispose]()
        if (!isSound && !row.options) running.delete(kind)
      }
    })
  }
}

after(async () => {
  for (const on of running.values()) await on[Symbol.asyncDispose]()
})

async function shared(kind: StoreKind): Promise<WatchedService> {
  const known = running.get(kind)
  if (known) return known
  const on = await start(kind)
  running.set(kind, on)
  return on
}

async function start(kind: StoreKind, options?: WatchedOptions): Promise<WatchedService> {
  const on = await startWatched(kind, options)
  await defineNeighbour(on)
  return on
}
