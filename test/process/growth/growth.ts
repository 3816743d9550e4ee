/**
 * How processor time grows with one dimension of the input. The input is doubled three times: what grows as n log n
 * takes a little more than twice as long each time, what grows as n² four times as long.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'

/** Makes the input of that size, and gives what is to be measured. */
type Make = (size: number) => () => unknown
export type Case = readonly [what: string, smallest: number, make: Make]

export function testGrowth(operation: string, cases: readonly Case[]): void {
  for (const [what, smallest, make] of cases) {
    test(`growth: ${operation}: ${what}`, async () => assertGrowth(smallest, make))
  }
}

const MOST = 2.6
/** Times below this say nothing: the collector and the compiler take their share when they like. */
const FLOOR_MS = 5
const DOUBLINGS = 3
const ATTEMPTS = 6
/** No other process is so much in the way. */
const HOPELESS_MS = 500

/**
 * Where time grew too much, other processes or the collector may have been in the way: another attempt takes the best
 * of more runs.
 */
export async function assertGrowth(smallest: number, make: Make): Promise<void> {
  const found: string[] = []
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const times = await timesOf(smallest, make, attempt)
    if (isBounded(times)) return
    found.push(times.map((time) => time.toFixed(1)).join(' → '))
    if (times.at(-1)! > HOPELESS_MS) break
  }
  const sizes = `${smallest} to ${smallest * 2 ** DOUBLINGS}`
  assert.fail(`from size ${sizes}, doubled each time, it takes (ms): ${found.join('; again: ')}`)
}

function isBounded(times: readonly number[]): boolean {
  return times.every((time, i) => i === 0 || time <= MOST * Math.max(times[i - 1]!, FLOOR_MS))
}

async function timesOf(smallest: number, make: Make, attempt: number): Promise<readonly number[]> {
  const times: number[] = []
  for (let doubling = 0; doubling <= DOUBLINGS; doubling++) {
    times.push(await bestOf(make(smallest * 2 ** doubling), attempt))
    if (!isBounded(times)) break
  }
  return times
}

const RUNS = { least: 2, most: 5, forMs: 12 }

async function bestOf(run: () => unknown, attempt: number): Promise<number> {
  let best = Infinity
  let total = 0
  const [least, most, forMs] = [RUNS.least * attempt, RUNS.most * attempt, RUNS.forMs * attempt]
  for (let runs = 0; runs < least || (runs < most && total < forMs); runs++) {
    const start = process.cpuUsage()
    await run()
    const { user, system } = process.cpuUsage(start)
    const time = (user + system) / 1_000
    best = Math.min(best, time)
    total += time
  }
  return best
}

/** As the text of a request comes: flat, not put together of parts. */
export function flat(text: string): string {
  return Buffer.from(text).toString()
}

export function many<T>(count: number, make: (i: number) => T): T[] {
  return Array.from({ length: count }, (_, i) => make(i))
}

export function refused(run: () => unknown): () => void {
  return () => assert.throws(run)
}
