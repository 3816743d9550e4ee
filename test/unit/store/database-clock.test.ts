/** The clock of the database: what is estimated between two readings. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Engine } from '../../../src/store/engine.ts'
import { databaseClock } from '../../../src/store/tables/database-clock.ts'

const AHEAD_MS = 3_600_000

/** A database whose clock is ahead of ours. */
function openDatabase() {
  const state = { readings: 0 }
  const readClock = async (): Promise<number> => {
    state.readings++
    return Date.now() + AHEAD_MS
  }
  return { state, engine: { readClock } as Engine }
}

function assertAhead(time: number): void {
  const difference = time - Date.now() - AHEAD_MS
  assert.ok(Math.abs(difference) < 5_000, `off by ${difference} ms`)
}

test('database clock: many who ask at a time, and soon after, share one reading', async () => {
  const { state, engine } = openDatabase()
  const clock = databaseClock(engine)
  for (const time of await Promise.all([clock.current(), clock.current()])) assertAhead(time)
  assertAhead(await clock.current())
  assertAhead(clock.estimate())
  assert.equal(state.readings, 1)
})

test('database clock: after a while it is read again', async (t) => {
  const { state, engine } = openDatabase()
  const clock = databaseClock(engine)
  await clock.current()
  const start = performance.now()
  t.mock.method(performance, 'now', () => start + 11_000)
  await clock.current()
  await clock.current()
  assert.equal(state.readings, 2)
})

test('database clock: an engine inside a transaction shares that of its store', async () => {
  const { state, engine } = openDatabase()
  await databaseClock(engine).current()
  await databaseClock({ ...engine }).current()
  assert.equal(state.readings, 1)
})

test('database clock: a reading that fails is not kept', async () => {
  let isDown = true
  const clock = databaseClock({
    readClock: async () => {
      if (isDown) throw new Error('down')
      return Date.now() + AHEAD_MS
    },
  } as Engine)
  await assert.rejects(clock.current(), /down/)
  isDown = false
  assertAhead(await clock.current())
})
