/** An estimate of the clock of the database, which all processes share, so that not every statement has to read it. */
import { memoized } from '../../base/memo.ts'
import type { Engine } from '../engine.ts'

interface DatabaseClock {
  /** Reads it: milliseconds since 1970. */
  readonly read: () => Promise<number>
  /** By the last reading, however old; by the clock of this process before the first one. */
  readonly estimate: () => number
  /** By a reading of the last seconds; reads it only if there is none. */
  readonly current: () => Promise<number>
}

/** One for all tables of a store, also inside transactions, which have engines of their own. */
export function databaseClock({ readClock }: Engine): DatabaseClock {
  return clockOf(readClock)
}

const clockOf = memoized(createClock)

/** The time that a reading travels is not added, so that no process is ahead of the database: locks never end early. */
function createClock(readClock: Engine['readClock']): DatabaseClock {
  let offset = Date.now() - performance.now()
  let freshUntil = -Infinity
  let reading: Promise<number> | undefined
  const estimate = (): number => Math.round(performance.now() + offset)
  const read = async (): Promise<number> => {
    offset = (await readClock()) - performance.now()
    freshUntil = performance.now() + FRESH_MS
    return estimate()
  }
  const readOnce = (): Promise<number> => (reading ??= read().finally(() => (reading = undefined)))
  return {
    read,
    estimate,
    current: async () => (performance.now() < freshUntil ? estimate() : await readOnce()),
  }
}

/** Clocks of computers drift apart by less than a few milliseconds in this time. */
const FRESH_MS = 10_000
