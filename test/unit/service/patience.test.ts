/** Work in memory shares the process with others, and ends when its time does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../../src/base/errors.ts'
import type { ShouldYield, Yielding } from '../../../src/lang/evaluate/time-slice.ts'
import { timeSliceFor } from '../../../src/service/read/time-slice.ts'

/** Never comes to an end by itself. */
function* endless(shouldYield: ShouldYield): Yielding<never> {
  for (;;) if (shouldYield()) yield
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ServiceError && error.code === code
}

test('patience: others have their turn whenever work pauses, and it ends at its time limit', async () => {
  const { shouldYield, finish } = timeSliceFor({ timeLimitMs: 200 })
  let [turns, pauses, isDone] = [0, 0, false]
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const pausing = function* (): Yielding<void> {
    for (const _ of endless(shouldYield)) yield void pauses++
  }
  await assert.rejects(finish(pausing()), isCode('store-crud:Timeout'))
  isDone = true
  assert.ok(pauses > 0 && turns >= pauses - 1, `${turns} turns in ${pauses} pauses`)
})

test('patience: parts of one request share its time', async () => {
  const { shouldYield, finish } = timeSliceFor({ timeLimitMs: 100 })
  await assert.rejects(finish(endless(shouldYield)), isCode('store-crud:Timeout'))
  let pauses = 0
  const twice = function* (): Yielding<void> {
    for (; pauses < 2; pauses++) yield
  }
  await assert.rejects(finish(twice()), isCode('store-crud:Timeout'))
  assert.equal(pauses, 0)
})

test('patience: work ends when nobody waits any more', async () => {
  const gone = new AbortController()
  const { shouldYield, finish } = timeSliceFor({ timeLimitMs: 60_000, getSignal: () => gone.signal })
  setImmediate(() => gone.abort())
  await assert.rejects(finish(endless(shouldYield)), isCode('crud:Unavailable'))
})

test('patience: a result is given, however often work paused for it', async () => {
  const { finish } = timeSliceFor({ timeLimitMs: 60_000 })
  const sum = function* (): Yielding<number> {
    for (let i = 0; i < 3; i++) yield
    return 7
  }
  assert.equal(await finish(sum()), 7)
})
