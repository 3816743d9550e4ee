/** Work in memory shares the process with others, and ends when its time does. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ServiceError } from '../../src/base/errors.ts'
import type { IsTurnOver, Turns } from '../../src/lang/evaluate/time-slice.ts'
import { patienceFor } from '../../src/service/read/time-slice.ts'

/** Never comes to an end by itself. */
function* endless(isTurnOver: IsTurnOver): Turns<never> {
  for (;;) if (isTurnOver()) yield
}

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ServiceError && error.code === code
}

test('patience: others have their turn whenever work pauses, and it ends at its time limit', async () => {
  const { isTurnOver, finish } = patienceFor({ timeLimitMs: 200 })
  let [turns, pauses, isDone] = [0, 0, false]
  const turn = (): void => {
    turns++
    if (!isDone) setImmediate(turn)
  }
  setImmediate(turn)
  const pausing = function* (): Turns<void> {
    for (const _ of endless(isTurnOver)) yield void pauses++
  }
  await assert.rejects(finish(pausing()), isCode('store-crud:Timeout'))
  isDone = true
  assert.ok(pauses > 0 && turns >= pauses - 1, `${turns} turns in ${pauses} pauses`)
})

test('patience: parts of one request share its time', async () => {
  const { isTurnOver, finish } = patienceFor({ timeLimitMs: 100 })
  await assert.rejects(finish(endless(isTurnOver)), isCode('store-crud:Timeout'))
  let pauses = 0
  const twice = function* (): Turns<void> {
    for (; pauses < 2; pauses++) yield
  }
  await assert.rejects(finish(twice()), isCode('store-crud:Timeout'))
  assert.equal(pauses, 0)
})

test('patience: work ends when nobody waits any more', async () => {
  const gone = new AbortController()
  const { isTurnOver, finish } = patienceFor({ timeLimitMs: 60_000, getSignal: () => gone.signal })
  setImmediate(() => gone.abort())
  await assert.rejects(finish(endless(isTurnOver)), isCode('crud:Unavailable'))
})

test('patience: a result is given, however often work paused for it', async () => {
  const { finish } = patienceFor({ timeLimitMs: 60_000 })
  const sum = function* (): Turns<number> {
    for (let i = 0; i < 3; i++) yield
    return 7
  }
  assert.equal(await finish(sum()), 7)
})
